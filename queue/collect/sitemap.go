package collect

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bot/dedupe"
	"bot/queue"
)

// Limits of a sitemap that is an index of others.
const (
	maxSitemaps     = 200 // how many are read in one run
	maxSitemapDepth = 3   // how deep indexes may point to indexes
)

// unchangedFor is how long before the last reading a sitemap of an index must have
// been changed last to be left out: clocks differ, and dates have no time of day.
const unchangedFor = 48 * time.Hour

// readSitemap reads a sitemap (https://www.sitemaps.org/protocol.html), or all that
// an index of sitemaps names. A page's lastmod dates it, and is never a part of
// what it is known by: every edit changes it.
func (c *Collector) readSitemap(ctx context.Context, s Source, prev Progress) (reading, error) {
	doc, err := c.fetchAgain(ctx, s.Location, prev)
	if err != nil {
		return reading{}, err
	}
	if doc.notModified {
		return unchanged(doc, prev), nil
	}
	walk := sitemapWalk{c: c, s: s, since: prev.LastSuccess, seen: map[string]bool{s.Location: true, doc.location: true}}
	if c.Fresh {
		walk.since = time.Time{}
	}
	if err := walk.read(ctx, doc, 1); err != nil {
		return reading{}, err
	}
	r := reading{articles: walk.articles, dropped: walk.dropped, next: advance(doc, prev)}
	if len(walk.seen) > 2 {
		// An index that has not changed says nothing of the sitemaps it names.
		r.next.Forget()
	}
	return r, walk.err
}

// sitemapWalk reads a sitemap and those it leads to.
type sitemapWalk struct {
	c *Collector
	s Source
	// since is when the source was last read: what has not changed since is left out.
	since    time.Time
	seen     map[string]bool
	articles []queue.Article
	dropped  int
	// err is why a sitemap that an index names could not be read, the first if there are
	// several. The others are read all the same.
	err error
}

// read reads a sitemap. Its error is of a limit, or of the document itself.
func (w *sitemapWalk) read(ctx context.Context, doc *document, depth int) error {
	limits := w.c.Limits.withDefaults()
	parsed, err := parseSitemap(ctx, doc, limits)
	if err != nil {
		return fmt.Errorf("read %s: %w", shown(doc.location), err)
	}
	for _, page := range parsed.pages {
		if page.location == "" {
			w.dropped++
			continue
		}
		w.articles = append(w.articles, page.article(w.s, doc))
	}
	for _, child := range parsed.children {
		address := absolute(child.location, doc.base)
		changed := dateIn(child.modified, nil, w.s.Zone)
		if !isWeb(address) || w.seen[address] || !changed.IsZero() && changed.Before(w.since.Add(-unchangedFor)) {
			continue
		}
		w.seen[address] = true
		if depth >= maxSitemapDepth || len(w.seen) > maxSitemaps {
			return &sitemapLimitError{fmt.Errorf("read %s: its index leads to more than %d sitemaps or deeper than %d; name one of them instead",
				shown(w.s.Location), maxSitemaps, maxSitemapDepth)}
		}
		next, err := w.c.fetch(ctx, address, validators{})
		if err == nil {
			err = w.read(ctx, next, depth+1)
		}
		switch {
		case ctx.Err() != nil, errors.As(err, new(*sitemapLimitError)), !waitUntil(err).IsZero():
			return err
		case w.err == nil:
			w.err = err
		}
	}
	if len(w.articles) > limits.Articles {
		return &sitemapLimitError{fmt.Errorf("read %s: %w", shown(w.s.Location), checkCount(len(w.articles), limits))}
	}
	return nil
}

// sitemapLimitError is an error that is of all sitemaps of a source together.
type sitemapLimitError struct{ error }

// sitemap is one document: pages, or the sitemaps of an index.
type sitemap struct{ pages, children []sitemapEntry }

// sitemapEntry is one page or sitemap, as it is written.
type sitemapEntry struct{ location, modified, title, published, image string }

// article makes an article of a page.
func (e sitemapEntry) article(s Source, doc *document) queue.Article {
	a := queue.Article{
		URL:       dedupe.StripTracking(absolute(e.location, doc.base), nil),
		Title:     plainText(e.title, maxTitle),
		Source:    s.Name,
		Published: dateIn(e.published, nil, s.Zone),
		Updated:   dateIn(e.modified, nil, s.Zone),
	}
	if image := absolute(e.image, doc.base); isWeb(image) {
		a.Image = image
	}
	if a.Published.IsZero() {
		a.Published = a.Updated
	}
	return a
}

// parseSitemap reads a document by its tokens, without recursion. Elements are
// known by their local names, in whatever vocabulary: loc, lastmod, and of a news
// sitemap title and publication_date.
func parseSitemap(ctx context.Context, doc *document, limits Limits) (*sitemap, error) {
	body := withoutControls(toUTF8(doc.body, doc.contentType))
	if len(body) == 0 {
		return nil, &notFeedError{what: "empty", wanted: "a sitemap"}
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return parseTextSitemap(body, limits)
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var found sitemap
	var open []string
	var entry *sitemapEntry
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		token, err := d.Token()
		if err != nil {
			if len(open) > 0 || n == 0 {
				return nil, fmt.Errorf("byte %d of its XML: it ends in the middle, or is not well-formed", d.InputOffset())
			}
			return &found, nil
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(token.Name.Local)
			if len(open) == 0 && name != "urlset" && name != "sitemapindex" {
				other := whatIsIt(name, body)
				other.wanted = "a sitemap"
				return nil, other
			}
			if open = append(open, name); len(open) > limits.Depth {
				return nil, fmt.Errorf("its elements are nested deeper than %d, which is the limit", limits.Depth)
			}
			if len(open) == 2 {
				entry = new(sitemapEntry)
			}
		case xml.EndElement:
			if len(open) == 2 {
				found.add(open[1], entry)
				if err := checkCount(len(found.pages), limits); err != nil {
					return nil, err
				}
			}
			open = open[:max(len(open)-1, 0)]
		case xml.CharData:
			if len(open) > 2 {
				entry.set(open[1:], string(token))
			}
		}
	}
}

// parseTextSitemap reads a sitemap of one address a line
// (https://www.sitemaps.org/protocol.html#otherformats).
func parseTextSitemap(body []byte, limits Limits) (*sitemap, error) {
	lines, err := parseList(body, limits.Articles)
	if err != nil {
		return nil, err
	}
	found := new(sitemap)
	for _, l := range lines {
		if isRobots().MatchString(l.url) {
			return nil, &notFeedError{what: "a robots.txt", wanted: "a sitemap", advice: "; give the address that stands behind its Sitemap:"}
		}
		if !isWeb(l.url) {
			return nil, &notFeedError{what: "text that is no list of addresses", wanted: "a sitemap"}
		}
		found.pages = append(found.pages, sitemapEntry{location: l.url, title: l.title})
	}
	return found, nil
}

var isRobots = pattern(`(?i)^(user-agent|disallow|allow|sitemap):`)

func (s *sitemap) add(name string, e *sitemapEntry) {
	switch name {
	case "url":
		s.pages = append(s.pages, *e)
	case "sitemap":
		s.children = append(s.children, *e)
	}
}

// set adds text to the field that the path of open elements leads to.
func (e *sitemapEntry) set(path []string, text string) {
	text = strings.TrimSpace(text)
	name := path[len(path)-1]
	switch {
	case text == "":
	case len(path) == 2 && name == "loc":
		e.location += text
	case len(path) == 2 && name == "lastmod":
		e.modified += text
	case slices.Contains(path, "news") && name == "title":
		e.title += text
	case slices.Contains(path, "news") && name == "publication_date":
		e.published += text
	case slices.Contains(path, "image") && name == "loc" && e.image == "":
		e.image = text
	}
}
