package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"bot/dedupe"
	"bot/queue"
)

// maxLine is the greatest length of a line in a list, in bytes.
const maxLine = 64 << 10

// line is one article of a list.
type line struct{ url, title string }

// ReadList reads addresses, one per line. Blanks around them, empty lines, lines
// that begin with #, and what follows a blank and a # are left out, as is anything
// behind a tab. Addresses are not checked; an address that is listed again is left
// out. A list is at most 32 MiB and 10,000 addresses of UTF-8 text.
func ReadList(r io.Reader) ([]string, error) {
	limits := Limits{}.withDefaults()
	body, err := readUpTo(r, limits.Bytes, 0)
	if err != nil {
		return nil, err
	}
	lines, err := parseList(body, limits.Articles)
	if err != nil {
		return nil, err
	}
	urls := make([]string, 0, len(lines))
	for _, l := range lines {
		urls = append(urls, l.url)
	}
	return urls, nil
}

// parseList reads the lines of a list: an address, and behind a tab its title.
func parseList(body []byte, limit int) ([]line, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(body) {
		return nil, errors.New("the list is not UTF-8 text")
	}
	var all []line
	seen := make(map[string]bool)
	number := 0
	for text := range strings.Lines(string(body)) {
		number++
		if len(text) > maxLine {
			return nil, fmt.Errorf("line %d of the list is longer than %s", number, size(maxLine))
		}
		l := parseLine(text)
		if l.url == "" || seen[l.url] {
			continue
		}
		if len(all) == limit {
			return nil, fmt.Errorf("the list has more than %d addresses, which is the limit", limit)
		}
		seen[l.url] = true
		all = append(all, l)
	}
	return all, nil
}

func parseLine(text string) line {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		return line{}
	}
	address, title, _ := strings.Cut(text, "\t")
	address, _, _ = strings.Cut(address, " #")
	return line{url: strings.TrimSpace(address), title: title}
}

// readList reads a list.
func (c *Collector) readList(ctx context.Context, s Source, prev Progress) (reading, error) {
	doc, err := c.fetchAgain(ctx, s.Location, prev)
	if err != nil {
		return reading{}, err
	}
	if doc.notModified {
		return unchanged(doc, prev), nil
	}
	if start := bytes.TrimLeft(doc.body, "\ufeff \t\r\n"); bytes.HasPrefix(start, []byte("<")) && !bytes.HasPrefix(start, []byte("<http")) {
		return reading{}, fmt.Errorf("read %s: it is a document of markup, not a list of addresses", shown(doc.location))
	}
	lines, err := parseList(doc.body, c.Limits.withDefaults().Articles)
	if err != nil {
		return reading{}, fmt.Errorf("read %s: %w", shown(doc.location), err)
	}
	r := reading{next: advance(doc, prev)}
	// A list grows at its end, where a feed grows at its beginning.
	slices.Reverse(lines)
	for _, l := range lines {
		r.articles = append(r.articles, queue.Article{
			URL: dedupe.StripTracking(l.url, nil), Title: plainText(l.title, maxTitle), Source: s.Name,
		})
	}
	return r, nil
}
