// Package teams announces in Microsoft Teams through a Workflows webhook
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook).
package teams

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"bot/poster"
)

// maxText leaves room for the rest of the card in the 28 KB that Teams takes, in
// bytes, since a text is written in the card as JSON.
const maxText = 12_000

// Driver makes posters for Teams.
func Driver() poster.Driver { return poster.Driver{Name: "teams", New: open} }

// teams is one workflow.
type teams struct{ hook poster.Hook }

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	hook, err := poster.OpenWebhook(s, o)
	if err != nil {
		return nil, err
	}
	return &teams{hook}, nil
}

func (w *teams) Traits() poster.Traits {
	return poster.Traits{
		Identity: w.hook.Webhook,
		Limit:    poster.Limit{Max: maxText, Unit: poster.Bytes},
		Escape:   escape,
	}
}

// escape makes a line show as it is in the Markdown of a card. A mention needs
// <at> and an entity in the card, of which there are none.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\*_[]()<`~", r) || i == 0 && strings.ContainsRune("#>-+", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// message and what it holds are an Adaptive Card (https://adaptivecards.io).
type message struct {
	Type        string       `json:"type"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	ContentType string  `json:"contentType"`
	ContentURL  *string `json:"contentUrl"`
	Content     card    `json:"content"`
}

type card struct {
	Schema  string   `json:"$schema"`
	Type    string   `json:"type"`
	Version string   `json:"version"`
	Body    []any    `json:"body"`
	Actions []action `json:"actions,omitempty"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Wrap bool   `json:"wrap"`
}

// picture is an Image, as wide as the card.
type picture struct {
	Type string `json:"type"`
	URL  string `json:"url"`
	Size string `json:"size"`
}

type action struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Render makes a card of the text, a block for each line, with a button that opens
// the article.
func (w *teams) Render(p poster.Post) (poster.Message, error) {
	c := card{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4"}
	for line := range strings.SplitSeq(p.Text, "\n") {
		if line != "" {
			c.Body = append(c.Body, block{"TextBlock", line, true})
		}
	}
	if address := poster.WebAddress(p.Article.Image); w.hook.Image && address != "" {
		c.Body = append(c.Body, picture{"Image", address, "Stretch"})
	}
	if p.Article.URL != "" {
		c.Actions = []action{{"Action.OpenUrl", "Open", p.Article.URL}}
	}
	body, err := poster.JSON(message{"message", []attachment{{"application/vnd.microsoft.card.adaptive", nil, c}}})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// Post hands the card to the flow. Its answer means that the flow took it, not
// that the card is in the channel: that a flow fails later is seen only in Teams.
func (w *teams) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := w.hook.Client.Do(ctx, poster.Request{URL: w.hook.Webhook, Header: poster.JSONHeader(poster.Secret{}), Body: m.Body})
	if err != nil {
		return poster.Receipt{}, err
	}
	if r.Status == http.StatusBadRequest && bytes.Contains(r.Body, []byte("WorkflowTriggerIsNotEnabled")) {
		return poster.Receipt{}, w.hook.Client.Fail(poster.RejectedDestination, r, "the workflow is switched off", "switch it on in Teams")
	}
	return poster.Receipt{}, w.hook.Client.Classify(r)
}
