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
type chat struct{ hook poster.Hook }

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	hook, err := poster.OpenWebhook(s, o)
	if err != nil {
		return nil, err
	}
	return &chat{hook}, nil
}

func (c *chat) Traits() poster.Traits {
	return poster.Traits{
		Identity:   c.hook.Webhook,
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

// message is a text, with a card below it for a picture
// (https://developers.google.com/workspace/chat/api/reference/rest/v1/cards).
type message struct {
	Text  string `json:"text"`
	Cards []any  `json:"cardsV2,omitempty"`
}

// cards hold the article's picture, which leads to the article. Nil: there is none.
func (c *chat) cards(p poster.Post) []any {
	address := poster.WebAddress(p.Article.Image)
	if !c.hook.Image || address == "" {
		return nil
	}
	type object = map[string]any
	picture := object{"imageUrl": address}
	if p.Article.URL != "" {
		picture["onClick"] = object{"openLink": object{"url": p.Article.URL}}
	}
	return []any{object{
		"cardId": "picture",
		"card":   object{"sections": []any{object{"widgets": []any{object{"image": picture}}}}},
	}}
}

func (c *chat) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(message{p.Text, c.cards(p)})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (c *chat) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := c.send(ctx, m.ID, m.Body)
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "cardsV2"); had && r.Status == http.StatusBadRequest && bytes.Contains(r.Body, []byte("cards")) {
		// It does not take the card, and nothing was published.
		if r, err = c.send(ctx, m.ID, bare); err != nil {
			return poster.Receipt{}, err
		}
	}
	if r.Status == http.StatusBadRequest && bytes.Contains(r.Body, []byte("API_KEY_INVALID")) {
		return poster.Receipt{}, c.hook.Client.Fail(poster.RejectedDestination, r, "Google does not know the webhook's key", "copy the webhook anew from the space")
	}
	if err := c.hook.Client.Classify(r); err != nil {
		return poster.Receipt{}, err
	}
	var said struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(r.Body, &said) == nil && said.Name != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
		return c.hook.Client.Receipt(said.Name, ""), nil
	}
	return poster.Receipt{}, c.hook.Client.NoReceipt(r)
}

func (c *chat) send(ctx context.Context, id string, body []byte) (poster.Response, error) {
	return c.hook.Client.Do(ctx, poster.Request{URL: c.address(id), Header: poster.JSONHeader(poster.Secret{}), Body: body})
}

// address is the webhook's own, with the requestId that makes a repeated request
// give back the first one's message.
func (c *chat) address(id string) poster.Secret {
	u, err := url.Parse(strings.TrimSpace(c.hook.Webhook.Reveal()))
	if err != nil {
		return c.hook.Webhook
	}
	q := u.Query()
	q.Set("requestId", id)
	u.RawQuery = q.Encode()
	return poster.NewSecret(u.String())
}
