// Package slack announces through a Slack incoming webhook
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
package slack

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"bot/poster"
)

// maxText is where Slack cuts a text off
// (https://api.slack.com/changelog/2018-04-truncating-really-long-messages).
const maxText = 40_000

// Driver makes posters for Slack's incoming webhooks.
func Driver() poster.Driver { return poster.Driver{Name: "slack", New: open} }

// slack is one incoming webhook.
type slack struct{ hook poster.Hook }

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	hook, err := poster.OpenWebhook(s, o)
	if err != nil {
		return nil, err
	}
	return &slack{hook}, nil
}

func (s *slack) Traits() poster.Traits {
	return poster.Traits{
		Identity: s.hook.Webhook,
		Limit:    poster.Limit{Max: maxText, Unit: poster.UTF16},
		Escape:   escape,
	}
}

// escape writes Slack's three control characters as entities; with them go links,
// mentions and <!channel>.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// payload is a message.
type payload struct {
	Text        string  `json:"text"`
	UnfurlLinks bool    `json:"unfurl_links"`
	Blocks      []block `json:"blocks,omitempty"`
}

// block is a part of a message: its text, or a picture
// (https://docs.slack.dev/reference/block-kit/blocks).
type block struct {
	Type    string `json:"type"`
	Text    *words `json:"text,omitempty"`
	Address string `json:"image_url,omitempty"`
	Alt     string `json:"alt_text,omitempty"`
}

type words struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// maxBlock is how long the text of a block may be, and maxAlt that of a picture.
const maxBlock, maxAlt = 3000, 2000

// blocks are the text and the article's picture below it. Nil: there is none, or no
// room for the text.
func (s *slack) blocks(p poster.Post) []block {
	picture := poster.WebAddress(p.Article.Image)
	if !s.hook.Image || picture == "" || (poster.Limit{Unit: poster.UTF16}).Count(p.Text) > maxBlock {
		return nil
	}
	alt := poster.FitLine(p.Article.Title, poster.Limit{Max: maxAlt, Unit: poster.UTF16}, nil)
	if alt == "" {
		alt = "picture"
	}
	return []block{{Type: "section", Text: &words{"mrkdwn", p.Text}}, {Type: "image", Address: picture, Alt: alt}}
}

func (s *slack) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(payload{p.Text, true, s.blocks(p)})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// Post sends the message. One whose picture Slack does not take goes out once more
// without it: then it was certainly not published.
func (s *slack) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := s.send(ctx, m.Body)
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "blocks"); had && r.Status == http.StatusBadRequest && bytes.HasPrefix(r.Body, []byte("invalid_blocks")) {
		if r, err = s.send(ctx, bare); err != nil {
			return poster.Receipt{}, err
		}
	}
	return poster.Receipt{}, s.outcome(r)
}

func (s *slack) send(ctx context.Context, body []byte) (poster.Response, error) {
	return s.hook.Client.Do(ctx, poster.Request{URL: s.hook.Webhook, Header: http.Header{"Content-Type": {"application/json"}}, Body: body})
}

// outcome tells how a request ended. Slack answers ok, or an error as one word
// (https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks).
func (s *slack) outcome(r poster.Response) error {
	said := string(r.Body)
	switch {
	case r.Status == http.StatusOK && (said == "ok" || r.Torn && strings.HasPrefix("ok", said)):
		return nil
	case r.Status >= 200 && r.Status < 300:
		return s.hook.Client.NoReceipt(r)
	case r.Status < 400 || r.Status >= 500 || r.Status == http.StatusTooManyRequests:
		return s.hook.Client.Classify(r)
	}
	switch strings.TrimSpace(said) {
	case "invalid_payload", "no_text", "invalid_blocks", "too_many_attachments":
		return s.hook.Client.Fail(poster.RejectedContent, r, "Slack does not take this message", "")
	case "user_not_found", "channel_not_found", "channel_is_archived", "posting_to_general_channel_denied", "action_prohibited":
		return s.hook.Client.Fail(poster.RejectedDestination, r, "the webhook may not post in its channel",
			"choose its channel anew in Slack")
	case "invalid_token", "no_service", "no_service_id", "no_active_hooks", "no_team", "team_disabled":
		return s.hook.Client.Fail(poster.RejectedDestination, r, "Slack does not know this webhook",
			"make a new one and put it into the config")
	}
	return s.hook.Client.Classify(r)
}
