package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"bot/dedupe"
	"bot/queue"
)

// generations counts a ledger's entries by the shape of their records. Each entry
// is counted once, as the first of queued, odd, URL-only, raw webhook and keyed that
// it is, and in the total.
type generations struct {
	Total int `json:"total"`
	// Keyed have a webhook's fingerprint.
	Keyed int `json:"keyed"`
	// RawWebhook have the webhook itself, which is not copied: its fingerprint is.
	RawWebhook int `json:"raw_webhook"`
	// URLOnly have an address alone, and stand for it everywhere.
	URLOnly int `json:"url_only"`
	// Queued are not at rest yet.
	Queued int `json:"queued"`
	// Odd are kept as they are, and cannot be sent: no web address, or a record that
	// does not say enough.
	Odd int `json:"odd"`
}

// countGenerations counts what the ledger in a directory holds.
func countGenerations(ctx context.Context, dir string, store queue.Store) (generations, error) {
	var g generations
	raw, err := rawWebhooks(filepath.Join(dir, "posted.json"))
	if err != nil {
		return g, err
	}
	for e, err := range store.All(ctx) {
		if err != nil {
			return g, err
		}
		g.Total++
		switch {
		case odd(e):
			g.Odd++
		case !e.Status.Final():
			g.Queued++
		case e.URLOnly():
			g.URLOnly++
		case raw[e.ID]:
			g.RawWebhook++
		default:
			g.Keyed++
		}
	}
	return g, nil
}

// odd reports whether an entry's record did not make a whole entry.
func odd(e queue.Entry) bool {
	if _, err := dedupe.Canonical(e.Article.URL); err != nil {
		return true
	}
	return e.Status == queue.Held && (e.URLOnly() || e.DueAt.IsZero())
}

// rawWebhooks returns the IDs of the records in a file that hold the webhook itself.
// The ledger has been read before, so what cannot be read here is not there.
func rawWebhooks(path string) (map[string]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	ids := make(map[string]bool)
	if _, err := lines.Token(); err != nil {
		return nil, err
	}
	for lines.More() {
		var record json.RawMessage
		if err := lines.Decode(&record); err != nil {
			return nil, err
		}
		var r struct {
			Webhook any `json:"webhook"`
		}
		if json.Unmarshal(record, &r) != nil {
			continue
		}
		webhook, _ := r.Webhook.(string)
		if webhook == "" || dedupe.IsFingerprint(webhook) {
			continue
		}
		if e, err := queue.ParseRecord([]byte(record), queue.InPosted); err == nil {
			ids[e.ID] = true
		}
	}
	return ids, nil
}
