package discord

import (
	"strings"
	"time"

	"bot/poster"
)

// How long the parts of a card may be, in code points; a summary may be longer, but is
// no article (https://discord.com/developers/docs/resources/message#embed-object).
var (
	titleLimit   = poster.Limit{Max: 256, Unit: poster.UTF16}
	summaryLimit = poster.Limit{Max: 350, Unit: poster.UTF16}
)

// embed is a card.
type embed struct {
	Title       string `json:"title,omitempty"`
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
	Timestamp   string `json:"timestamp,omitempty"`
	Image       *image `json:"image,omitempty"`
}

type image struct {
	URL string `json:"url"`
}

// card makes the article's card. Nil: there is nothing to show but the link, of which
// Discord makes a card itself.
func card(a poster.Article, withImage bool) *embed {
	e := &embed{
		Title: poster.FitLine(a.Title, titleLimit, escape), URL: poster.WebAddress(a.URL),
		Description: poster.FitLine(a.Summary, summaryLimit, escape),
	}
	if address := poster.WebAddress(a.Image); withImage && address != "" {
		e.Image = &image{address}
	}
	if e.URL == "" || e.Title == "" || e.Description == "" && e.Image == nil {
		return nil
	}
	if !a.Published.IsZero() {
		e.Timestamp = a.Published.UTC().Format(time.RFC3339)
	}
	return e
}

// bracketed sets the link in angle brackets, so that Discord makes no second card of
// it (https://discord.com/developers/docs/reference#message-formatting).
func bracketed(text, link string) string {
	at := strings.LastIndex(text, link)
	if link == "" || at < 0 {
		return text
	}
	end := at + len(link)
	return text[:at] + "<" + link + ">" + text[end:]
}
