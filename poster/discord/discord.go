// Package discord announces through a Discord webhook
// (https://discord.com/developers/docs/resources/webhook#execute-webhook).
package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"bot/poster"
)

// contentLimit is how long a message may be. Discord counts code points; UTF-16
// units are never fewer, so a text within them is taken either way.
var contentLimit = poster.Limit{Max: 2000, Unit: poster.UTF16}

// Driver makes posters for Discord webhooks.
func Driver() poster.Driver { return poster.Driver{Name: "discord", New: open} }

type settings struct {
	Webhook  poster.Secret `yaml:"webhook"`
	Username string        `yaml:"username"`
	Embed    bool          `yaml:"embed"`
	Image    bool          `yaml:"image"`
}

// discord is one webhook.
type discord struct {
	client  *poster.Client
	webhook poster.Secret
	set     settings
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Embed: true, Image: true}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	errs := []error{poster.CheckAddress(s, "webhook", set.Webhook)}
	if n := (poster.Limit{Unit: poster.UTF16}).Count(set.Username); n > 80 {
		errs = append(errs, s.Errorf("username", "username has %d characters; Discord takes 80", n))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &discord{poster.NewClient(o, set.Webhook), set.Webhook, set}, nil
}

func (d *discord) Traits() poster.Traits {
	return poster.Traits{
		Identity: d.webhook,
		Limit:    contentLimit,
		Escape:   escape,
	}
}

// payload is a message. Nobody is mentioned, whatever the text says.
type payload struct {
	Content         string          `json:"content"`
	Username        string          `json:"username,omitempty"`
	Embeds          []embed         `json:"embeds,omitempty"`
	AllowedMentions allowedMentions `json:"allowed_mentions"`
}

type allowedMentions struct {
	Parse []string `json:"parse"`
}

func (d *discord) Render(p poster.Post) (poster.Message, error) {
	message := payload{Content: p.Text, Username: d.set.Username, AllowedMentions: allowedMentions{[]string{}}}
	if e := card(p.Article, d.set.Image); d.set.Embed && e != nil {
		// Where there is no room for the brackets, the link's own card will do.
		if text := bracketed(p.Text, e.URL); contentLimit.Count(text) <= contentLimit.Max {
			message.Content, message.Embeds = text, []embed{*e}
		}
	}
	body, err := poster.JSON(message)
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// Post sends the message. One that Discord does not take as it is, certainly, goes out
// once more without its card, of whose picture Discord may not like the address.
func (d *discord) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := d.send(ctx, m.Body)
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "embeds"); had && r.Status == http.StatusBadRequest && codeOf(r) == invalidForm {
		if r, err = d.send(ctx, bare); err != nil {
			return poster.Receipt{}, err
		}
	}
	return d.outcome(r)
}

func (d *discord) send(ctx context.Context, body []byte) (poster.Response, error) {
	return d.client.Do(ctx, poster.Request{
		URL: d.address("true"), Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	})
}

// address is the webhook's own, query and all, with wait: without it a message
// that was not saved answers 204 as well. With an empty wait it is without.
func (d *discord) address(wait string) poster.Secret {
	u, err := url.Parse(strings.TrimSpace(d.webhook.Reveal()))
	if err != nil {
		return d.webhook
	}
	q := u.Query()
	q.Del("wait")
	if wait != "" {
		q.Set("wait", wait)
	}
	u.RawQuery = q.Encode()
	return poster.NewSecret(u.String())
}

// Check asks for the webhook itself, which publishes nothing.
func (d *discord) Check(ctx context.Context) error {
	r, err := d.client.Do(ctx, poster.Request{Method: http.MethodGet, URL: d.address("")})
	if err != nil {
		return err
	}
	_, err = d.outcome(r)
	return err
}

// answer is a message, a webhook, or an error.
type answer struct {
	ID   string `json:"id"`
	Code int    `json:"code"`
}

// invalidForm is Discord's code for a message with something wrong in it.
const invalidForm = 50035

func codeOf(r poster.Response) int {
	var a answer
	_ = json.Unmarshal(r.Body, &a)
	return a.Code
}

// outcome tells how a request ended, by Discord's codes
// (https://discord.com/developers/docs/topics/opcodes-and-status-codes), else by
// the status.
func (d *discord) outcome(r poster.Response) (poster.Receipt, error) {
	var a answer
	known := json.Unmarshal(r.Body, &a) == nil
	switch {
	case r.Status == http.StatusNoContent:
		return poster.Receipt{}, nil
	case r.Status >= 200 && r.Status < 300:
		if known && a.ID != "" || r.Torn && tornMessage(r.Body) {
			return d.client.Receipt(a.ID, ""), nil
		}
		return poster.Receipt{}, d.client.NoReceipt(r)
	case r.Status == http.StatusServiceUnavailable:
		// Messages have appeared in spite of it, with a Retry-After or without.
		return poster.Receipt{}, d.client.Fail(poster.Unknown, r, "Discord had an error and may have published the message", "")
	}
	if known && r.Status >= 400 && r.Status < 500 && r.Status != http.StatusTooManyRequests {
		if err := d.coded(a.Code, r); err != nil {
			return poster.Receipt{}, err
		}
	}
	return poster.Receipt{}, d.client.Classify(r)
}

// tornMessage reports whether the beginning of an answer looks like a message.
func tornMessage(body []byte) bool {
	return len(body) == 0 || body[0] == '{'
}

// coded returns the error for one of Discord's own codes, or nil.
func (d *discord) coded(code int, r poster.Response) error {
	switch code {
	case 50006, invalidForm, 200000, 200001, 240000:
		return d.client.Fail(poster.RejectedContent, r, "Discord does not take this message", "")
	case 220001, 220002, 220003, 220004:
		return d.client.Fail(poster.RejectedDestination, r, "the webhook's channel wants a thread",
			"add ?thread_id=… to the webhook")
	case 10015, 50027:
		return d.client.Fail(poster.RejectedDestination, r, "Discord does not know this webhook",
			"make a new one in the channel's settings and put it into the config")
	case 10003, 50001, 50013:
		return d.client.Fail(poster.RejectedDestination, r, "the webhook may not post in its channel",
			"check the channel and its permissions")
	}
	return nil
}
