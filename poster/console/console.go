// Package console announces by printing: for trying things out.
package console

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"bot/poster"
)

// Driver makes posters that print.
func Driver() poster.Driver { return poster.Driver{Name: "console", New: open} }

type settings struct {
	Format string `yaml:"format"`
}

// console prints on one stream.
type console struct {
	identity poster.Secret
	json     bool
	mu       sync.Mutex
	out      io.Writer
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	if f := set.Format; f != "" && f != "text" && f != "json" {
		return nil, s.Errorf("format", "format is text or json, not %q", f)
	}
	return &console{
		identity: poster.NewSecret("console:" + o.Destination),
		json:     set.Format == "json",
		out:      o.Stdout,
	}, nil
}

func (c *console) Traits() poster.Traits { return poster.Traits{Identity: c.identity} }

// line is an announcement as JSON.
type line struct {
	ID          string `json:"id"`
	Destination string `json:"destination"`
	Text        string `json:"text"`
	URL         string `json:"url"`
	Title       string `json:"title"`
}

func (c *console) Render(p poster.Post) (poster.Message, error) {
	if c.json {
		body, err := poster.JSON(line{
			ID: p.ID, Destination: p.Destination, Text: poster.CleanText(p.Text),
			URL: poster.CleanLine(p.Article.URL), Title: poster.CleanLine(p.Article.Title),
		})
		return poster.Message{ID: p.ID, Text: p.Text, Body: append(body, '\n')}, err
	}
	text := strings.ReplaceAll(poster.CleanText(p.Text), "\n", "\n  ")
	body := fmt.Sprintf("%s:\n  %s\n", p.Destination, text)
	return poster.Message{ID: p.ID, Text: p.Text, Body: []byte(body)}, nil
}

// Post prints the message. Each one is one write, so that they stay apart.
func (c *console) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	if ctx.Err() != nil {
		return poster.Receipt{}, &poster.Error{Outcome: poster.Later, Reason: "not printed: " + context.Cause(ctx).Error()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.out.Write(m.Body)
	switch {
	case err == nil:
		return poster.Receipt{}, nil
	case n == 0:
		return poster.Receipt{}, &poster.Error{Outcome: poster.Later, Reason: "nothing was printed: " + poster.CleanLine(err.Error())}
	default:
		return poster.Receipt{}, &poster.Error{Outcome: poster.Unknown, Reason: "only a part was printed: " + poster.CleanLine(err.Error())}
	}
}
