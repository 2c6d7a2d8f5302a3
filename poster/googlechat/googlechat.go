// Package googlechat announces in a Google Chat space through an incoming webhook
// (https://developers.google.com/workspace/chat/quickstart/webhooks).
package googlechat

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bot/poster"
)

const (
	// maxText leaves room in the 32,000 bytes of a message
	// (https://developers.google.com/workspace/chat/limits).
	maxText = 30_000
	// honoured is for how long a repeated requestId is trusted to give back the
	// first message. Google promises it and names no time.
	honoured = time.Hour
)

// Driver makes posters for Google Chat.
func Driver() poster.Driver { return poster.Driver{Name: "googlechat", New: open} }

// chat is one incoming webhook.
type chat struct {
	client  *poster.Client
	webhook poster.Secret
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	client, webhook, err := poster.OpenWebhook(s, o)
	if err != nil {
		return nil, err
	}
	return &chat{client, webhook}, nil
}

func (c *chat) Traits() poster.Traits {
	return poster.Traits{
		Identity:   c.webhook,
		Idempotent: honoured,
		Limit:      poster.Limit{Max: maxText, Unit: poster.Bytes},
		Escape:     escape,
	}
}

// escape puts a zero-width space behind what begins markup, a link or a mention.
// Google Chat knows no other way to write these signs
// (https://developers.google.com/workspace/chat/format-messages).
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
		if strings.ContainsRune("*_~`<", r) {
			b.WriteRune('\u200b')
		}
	}
	return b.String()
}

func (c *chat) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(struct {
		Text string `json:"text"`
	}{p.Text})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (c *chat) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := c.client.Do(ctx, poster.Request{URL: c.address(m.ID), Header: poster.JSONHeader(poster.Secret{}), Body: m.Body})
	if err != nil {
		return poster.Receipt{}, err
	}
	if r.Status == http.StatusBadRequest && bytes.Contains(r.Body, []byte("API_KEY_INVALID")) {
		return poster.Receipt{}, c.client.Fail(poster.RejectedDestination, r, "Google does not know the webhook's key", "copy the webhook anew from the space")
	}
	if err := c.client.Classify(r); err != nil {
		return poster.Receipt{}, err
	}
	var said struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(r.Body, &said) == nil && said.Name != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
		return c.client.Receipt(said.Name, ""), nil
	}
	return poster.Receipt{}, c.client.NoReceipt(r)
}

// address is the webhook's own, with the requestId that makes a repeated request
// give back the first one's message.
func (c *chat) address(id string) poster.Secret {
	u, err := url.Parse(strings.TrimSpace(c.webhook.Reveal()))
	if err != nil {
		return c.webhook
	}
	q := u.Query()
	q.Set("requestId", id)
	u.RawQuery = q.Encode()
	return poster.NewSecret(u.String())
}
