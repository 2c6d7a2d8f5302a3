package queue

import (
	"context"
	"strings"

	"bot/dedupe"
)

// What waits may be announced already under another key: the config has learnt since
// of another host, an earlier webhook or a parameter that only tracks, or an earlier
// bot queued it, which knew of none. So these keys are looked at once more before
// anything is sent.

const (
	// twinOf begins the reason of an entry that was announced under another key.
	twinOf = "announced already as "
	// letGo is the reason of such an entry that a person lets go all the same.
	letGo = "let go by hand"
)

// twinKeys returns the other keys of a queued entry's announcement.
func (q *Queue) twinKeys(e Entry, d *Destination) []dedupe.Key {
	if e.Status != Queued || e.Message.ID != "" || e.Reason == letGo {
		return nil
	}
	urls := []string{e.Key.URL}
	if !strings.HasPrefix(e.Key.URL, "rule/") {
		site := q.siteOf(e.Article.URL)
		if s := q.sourceNamed(e.Article.Source); s.Name != "" {
			site = s.Site
		}
		if now, err := site.Canonical(e.Article.URL); err == nil {
			urls = append(append(urls, now), q.elsewhere(now)...)
		}
		urls = append(urls, q.elsewhere(e.Key.URL)...)
	}
	webhooks := append([]string{d.Webhook}, d.FormerWebhooks...)
	if e.Key.Bucket == "" {
		webhooks = append(webhooks, "") // older records without one
	}
	var keys []dedupe.Key
	for n, url := range others("", urls) {
		for _, w := range webhooks {
			k := dedupe.Key{Webhook: w, URL: url, Bucket: e.Key.Bucket}
			// The store sees to it that an address alone is not sent by guess.
			if k != e.Key && (n > 0 || w != "") {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// twins looks up the other keys of all that is due, in one step.
func (p *pass) twins(ctx context.Context, lanes []*lane) error {
	var list []Candidate
	asked := make(map[dedupe.Key]bool)
	for _, l := range lanes {
		for _, due := range l.due {
			for _, k := range p.Queue.twinKeys(due.entry, l.d) {
				if !asked[k] {
					asked[k] = true
					list = append(list, Candidate{Entry: &Entry{ID: k.ID(), Key: k}})
				}
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	known, err := p.Queue.Store.Lookup(ctx, list)
	if err != nil {
		return err
	}
	for i, k := range known {
		p.out.Store(list[i].Entry.Key, k)
	}
	return nil
}

// sentAs notes how an entry of this run ended, for those that are the same.
func (p *pass) sentAs(e Entry) { p.out.Store(e.Key, Known{ID: e.ID, Status: e.Status}) }

// twin finds the entry under another key that is announced already, or may be.
func (l *lane) twin(e Entry) (Known, bool) {
	for _, key := range l.Queue.twinKeys(e, l.d) {
		if v, ok := l.out.Load(key); ok {
			if k := v.(Known); k.ID != e.ID && (k.Status == Posted || k.Status == Sending || k.Status == Uncertain) {
				return k, true
			}
		}
	}
	return Known{}, false
}

// settleTwin decides of an entry that is announced already under another key: it is
// skipped. Where that may be, or where an older record knows only the address, a
// person decides.
func (l *lane) settleTwin(ctx context.Context, e Entry, k Known) error {
	other, err := l.Queue.Store.Get(ctx, k.ID)
	if err != nil {
		return err
	}
	if k.Status != Posted {
		l.notice(false, "%s waits: %s may be the same as %s, which is %s; see `bot queue show %s`",
			l.d.Name, e.Article.URL, other.Article.URL, k.Status, k.ID)
		return nil
	}
	reason := twinOf + other.Article.URL + ", entry " + k.ID
	if !l.o.DryRun {
		_, err = l.Queue.Store.Update(ctx, e.ID, func(e Entry) (Entry, error) {
			switch {
			case e.Status != Queued:
				return e, ErrNotDue
			case k.URLOnly:
				e.Status, e.Reason = Held, reason
				return e, nil
			default:
				return skipped(e, reason), nil
			}
		})
		if err != nil {
			return err
		}
	}
	if k.URLOnly {
		l.notice(!l.o.DryRun, "%s is held for %s: %s, in an older record without a webhook; `bot queue release %s` or `bot queue cancel %s`",
			e.Article.URL, l.d.Name, reason, e.ID, e.ID)
	} else {
		l.notice(false, "%s is not sent to %s: %s", e.Article.URL, l.d.Name, reason)
	}
	return nil
}

// again is the reason of an entry that a person queues again.
func again(e Entry) string {
	if strings.HasPrefix(e.Reason, twinOf) {
		return letGo
	}
	return ""
}
