// Package webhook announces by a POST of JSON to any address: the platform for
// everything that takes a webhook.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"bot/poster"
)

// honoured is for how long an idempotent receiver is trusted to know an ID again.
// Standard Webhooks names no time; receivers keep IDs for a day as a rule.
const honoured = 24 * time.Hour

// Driver makes posters for webhooks.
func Driver() poster.Driver { return poster.Driver{Name: "webhook", New: open} }

type settings struct {
	Webhook    poster.Secret            `yaml:"webhook"`
	Secret     poster.Secret            `yaml:"secret"`
	Secrets    []poster.Secret          `yaml:"secrets"`
	Headers    map[string]poster.Secret `yaml:"headers"`
	Body       string                   `yaml:"body"`
	Idempotent bool                     `yaml:"idempotent"`

	SuccessStatus   []int  `yaml:"success_status"`
	SuccessContains string `yaml:"success_contains"`
	DuplicateStatus []int  `yaml:"duplicate_status"`
}

// webhook is one destination.
type webhook struct {
	client  *poster.Client
	address poster.Secret
	headers map[string]poster.Secret
	keys    []poster.Secret
	body    *poster.BodyTemplate
	traits  poster.Traits
	success success
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	w := &webhook{address: set.Webhook, headers: set.Headers}
	errs := []error{poster.CheckAddress(s, "webhook", set.Webhook), checkHeaders(s, set.Headers)}
	var err error
	if w.keys, err = signingKeys(s, set); err != nil {
		errs = append(errs, err)
	}
	if w.success, err = successOf(s, set); err != nil {
		errs = append(errs, err)
	}
	if set.Body != "" {
		if w.body, err = poster.ParseBodyTemplate(set.Body); err != nil {
			errs = append(errs, s.Errorf("body", "body: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	w.traits.Identity = set.Webhook
	if set.Idempotent {
		w.traits.Idempotent = honoured
	}
	w.client = poster.NewClient(o, set.all()...)
	return w, nil
}

// all returns everything that must not be seen.
func (s settings) all() []poster.Secret {
	all := append([]poster.Secret{s.Webhook, s.Secret}, s.Secrets...)
	for _, v := range s.Headers {
		all = append(all, v)
	}
	return all
}

func (w *webhook) Traits() poster.Traits { return w.traits }

// payload is the body where the config has none of its own.
type payload struct {
	poster.Payload
	PublishedAt *string `json:"published_at"`
}

func (w *webhook) Render(p poster.Post) (poster.Message, error) {
	body, err := w.render(p)
	if err != nil {
		return poster.Message{}, err
	}
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, nil
}

func (w *webhook) render(p poster.Post) ([]byte, error) {
	if w.body != nil {
		return w.body.Render(p)
	}
	body := payload{Payload: poster.NewPayload(p)}
	if at := p.Article.Published; !at.IsZero() {
		text := at.UTC().Format(time.RFC3339Nano)
		body.PublishedAt = &text
	}
	return poster.JSON(body)
}

func (w *webhook) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	header := http.Header{}
	for name, v := range w.headers {
		header.Set(name, strings.TrimSpace(v.Reveal()))
	}
	header.Set("Content-Type", "application/json")
	header.Set("Idempotency-Key", m.ID)
	w.sign(header, m)
	r, err := w.client.Do(ctx, poster.Request{URL: w.address, Header: header, Body: m.Body})
	if err != nil {
		return poster.Receipt{}, err
	}
	if err := w.judge(r); err != nil {
		return poster.Receipt{}, err
	}
	return w.receipt(r), nil
}

// receipt takes the receiver's own id and url from its answer, if it gives them.
func (w *webhook) receipt(r poster.Response) poster.Receipt {
	if len(r.Body) == 0 {
		return poster.Receipt{}
	}
	var said struct {
		ID  any `json:"id"`
		URL any `json:"url"`
	}
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.UseNumber()
	if d.Decode(&said) != nil {
		return poster.Receipt{}
	}
	var id, address string
	switch v := said.ID.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	}
	address, _ = said.URL.(string)
	return w.client.Receipt(id, address)
}
