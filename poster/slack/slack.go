// Package slack announces through a Slack incoming webhook
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
package slack

import (
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
type slack struct {
	client  *poster.Client
	webhook poster.Secret
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	client, webhook, err := poster.OpenWebhook(s, o)
	if err != nil {
		return nil, err
	}
	return &slack{client, webhook}, nil
}

func (s *slack) Traits() poster.Traits {
	return poster.Traits{
		Identity: s.webhook,
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
	Text        string `json:"text"`
	UnfurlLinks bool   `json:"unfurl_links"`
}

func (s *slack) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(payload{p.Text, true})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (s *slack) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := s.client.Do(ctx, poster.Request{
		URL:    s.webhook,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   m.Body,
	})
	if err != nil {
		return poster.Receipt{}, err
	}
	return poster.Receipt{}, s.outcome(r)
}

// outcome tells how a request ended. Slack answers ok, or an error as one word
// (https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks).
func (s *slack) outcome(r poster.Response) error {
	said := string(r.Body)
	switch {
	case r.Status == http.StatusOK && (said == "ok" || r.Torn && strings.HasPrefix("ok", said)):
		return nil
	case r.Status >= 200 && r.Status < 300:
		return s.client.NoReceipt(r)
	case r.Status < 400 || r.Status >= 500 || r.Status == http.StatusTooManyRequests:
		return s.client.Classify(r)
	}
	switch strings.TrimSpace(said) {
	case "invalid_payload", "no_text", "invalid_blocks", "too_many_attachments":
		return s.client.Fail(poster.RejectedContent, r, "Slack does not take this message", "")
	case "user_not_found", "channel_not_found", "channel_is_archived", "posting_to_general_channel_denied", "action_prohibited":
		return s.client.Fail(poster.RejectedDestination, r, "the webhook may not post in its channel",
			"choose its channel anew in Slack")
	case "invalid_token", "no_service", "no_service_id", "no_active_hooks", "no_team", "team_disabled":
		return s.client.Fail(poster.RejectedDestination, r, "Slack does not know this webhook",
			"make a new one and put it into the config")
	}
	return s.client.Classify(r)
}
