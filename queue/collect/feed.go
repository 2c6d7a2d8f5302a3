package collect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"bot/dedupe"
	"bot/queue"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"
)

// notFeedError is a document that is something else.
type notFeedError struct{ what, advice, wanted string }

func (e *notFeedError) Error() string {
	return "it is " + e.what + ", not " + cmp.Or(e.wanted, "a feed") + e.advice
}

// readFeed reads the feed at an address.
func (c *Collector) readFeed(ctx context.Context, s Source, address string, prev Progress) (reading, error) {
	doc, err := c.fetchAgain(ctx, address, prev)
	if err != nil {
		return reading{}, err
	}
	if doc.notModified {
		return unchanged(doc, prev), nil
	}
	parsed, err := c.parse(ctx, doc)
	if err != nil {
		return reading{}, err
	}
	return c.reading(s, doc, parsed, prev), nil
}

// known returns the validators to send to an address: those that came from there.
func (c *Collector) known(address string, prev Progress) validators {
	if c.Fresh || prev.FetchedURL != address {
		return validators{}
	}
	return validators{prev.ETag, prev.LastModified}
}

// unchanged is the reading of a document that has not changed.
func unchanged(doc *document, prev Progress) reading {
	r := reading{notModified: true, unasked: doc.unasked, next: prev}
	r.next.Moved, r.next.FreshUntil = doc.moved, doc.freshUntil
	return r
}

// advance returns the progress after a whole document was read.
func advance(doc *document, prev Progress) Progress {
	next := prev
	next.FetchedURL, next.Moved = doc.location, doc.moved
	next.ETag, next.LastModified, next.FreshUntil = doc.fresh.etag, doc.fresh.lastModified, doc.freshUntil
	return next
}

// reading makes articles of a feed.
func (c *Collector) reading(s Source, doc *document, f *feed, prev Progress) reading {
	r := reading{next: advance(doc, prev), dropped: f.passedOver}
	for i, item := range f.Items {
		a := f.article(item, f.link(i, doc.base), s, doc)
		if a.URL == "" {
			r.dropped++
			continue
		}
		r.articles = append(r.articles, a)
	}
	return r
}

// feed is a parsed feed.
type feed struct {
	*gofeed.Feed
	// linked is what the document says of each item's address. Empty: the parser has all
	// of it.
	linked []linked
	// passedOver counts the items in the document that could not be read.
	passedOver int
	// texts were taken out of the document before the parser saw it.
	texts texts
}

// parse reads a document as a feed. The parser cannot be interrupted: if ctx ends,
// it is left to itself and its answer is not waited for.
func (c *Collector) parse(ctx context.Context, doc *document) (*feed, error) {
	type answer struct {
		feed *feed
		err  error
	}
	limits := c.Limits.withDefaults()
	done := make(chan answer, 1)
	go func() {
		f, err := parseFeed(ctx, doc.body, doc.contentType, limits)
		done <- answer{f, err}
	}()
	var got answer
	select {
	case got = <-done:
	case <-ctx.Done():
		got.err = context.Cause(ctx)
	}
	if got.err != nil {
		return nil, fmt.Errorf("read %s: %w", shown(doc.location), got.err)
	}
	return got.feed, nil
}

// parseFeed parses a feed of any format, after checking what would be dangerous to
// the parser. A panic of the parser is returned as an error.
func parseFeed(ctx context.Context, body []byte, contentType string, limits Limits) (f *feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("the feed parser gave up: %v", p)
		}
	}()
	body = prepared(body, contentType)
	switch {
	case len(body) == 0:
		return nil, &notFeedError{what: "empty"}
	case body[0] == '{' || body[0] == '[':
		return parseJSON(body, limits)
	}
	f, err = parseXML(ctx, body, limits)
	if isNotFeed(err) {
		if rest := withoutPreamble(body); rest != nil {
			body = prepared(rest, "text/xml; charset=utf-8")
			f, err = parseXML(ctx, body, limits)
		}
	}
	if err != nil && body[0] == '<' && isBroken(err) {
		again := mended(body)
		if f, broken := parseXML(ctx, again, limits); broken == nil {
			return withAllItems(ctx, f, again, limits)
		}
	}
	if err != nil {
		return nil, err
	}
	return withAllItems(ctx, f, body, limits)
}

func parseXML(ctx context.Context, body []byte, limits Limits) (*feed, error) {
	if c, sure := cutXML(body, limits.Depth); sure {
		if f, err := parseRoot(c.root, c.document, c.abouts, limits); err == nil {
			f.texts = c.texts
			return f, nil
		}
	}
	return parseWhole(ctx, body, limits)
}

// parseWhole has the parser read a document as it is.
func parseWhole(ctx context.Context, body []byte, limits Limits) (*feed, error) {
	root, abouts, err := scanXML(ctx, body, limits.Depth)
	if err != nil {
		return nil, err
	}
	return parseRoot(root, body, abouts, limits)
}

func parseRoot(root string, body []byte, abouts []string, limits Limits) (*feed, error) {
	switch root {
	case "rss", "rdf":
		f, err := parseRSS(body, limits)
		if err == nil && root == "rdf" {
			f.useAbouts(abouts)
		}
		return f, err
	case "feed":
		return parseAtom(body, limits)
	}
	return nil, whatIsIt(root, body)
}

func parseRSS(body []byte, limits Limits) (*feed, error) {
	parsed, err := new(rss.Parser).Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if err := checkCount(len(parsed.Items), limits); err != nil {
		return nil, err
	}
	// Looking for pictures means building a tree of every article's HTML.
	translator := gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	translated, err := translator.Translate(parsed)
	if err != nil {
		return nil, err
	}
	f := &feed{Feed: translated, linked: make([]linked, len(parsed.Items))}
	for i, item := range parsed.Items {
		if item.GUID != nil {
			says := strings.TrimSpace(item.GUID.IsPermalink)
			f.linked[i].opaque, f.linked[i].permanent = strings.EqualFold(says, "false"), strings.EqualFold(says, "true")
		}
		if item.PubDate != "" {
			// And not that of another element.
			translated.Items[i].PublishedParsed = item.PubDateParsed
		}
	}
	return f, nil
}

func parseAtom(body []byte, limits Limits) (*feed, error) {
	parsed, err := new(atom.Parser).Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if err := checkCount(len(parsed.Entries), limits); err != nil {
		return nil, err
	}
	translated, err := new(gofeed.DefaultAtomTranslator).Translate(parsed)
	f := &feed{Feed: translated, linked: make([]linked, len(parsed.Entries))}
	for i, entry := range parsed.Entries {
		f.linked[i].page = pageOf(entry.Links)
		f.linked[i].last = lastResorts(entry)
		// And not when it was updated, which may be said in a better place.
		translated.Items[i].Published, translated.Items[i].PublishedParsed = entry.Published, entry.PublishedParsed
	}
	return f, err
}

func checkCount(n int, limits Limits) error {
	if n > limits.Articles {
		return fmt.Errorf("it lists %d articles; the limit is %d", n, limits.Articles)
	}
	return nil
}

// whatIsIt says what a document is that is not a feed.
func whatIsIt(root string, body []byte) *notFeedError {
	switch {
	case root == "urlset" || root == "sitemapindex":
		return &notFeedError{what: "a sitemap", advice: "; give its address with sitemap:"}
	case root == "html" || strings.HasPrefix(http.DetectContentType(body), "text/html"):
		page := &notFeedError{what: "a web page", advice: "; give its feed's address, or have the feed looked for with site:"}
		if title := plainText(pageTitle(body), maxShown); title != "" {
			page.what = fmt.Sprintf("the web page %q", title)
		}
		return page
	case root != "":
		return &notFeedError{what: fmt.Sprintf("XML that begins with <%s>", plainText(root, maxShown))}
	}
	return &notFeedError{what: noMarkup}
}

// The greatest lengths of an article's texts, in bytes.
const (
	maxTitle    = 4 << 10
	maxSummary  = 1 << 10
	maxLabel    = 256
	maxGUID     = 4 << 10
	maxCategory = 64 // how many
	maxShown    = 80 // in an error
)

// article makes an article of one item of a feed, of what wanted says that the parser
// gets to see. Its URL is empty if the item has no address.
func (f *feed) article(item *gofeed.Item, link string, s Source, doc *document) queue.Article {
	description, content := f.texts.of(item.Description), f.texts.of(item.Content)
	summary := description
	if description.blank() {
		summary = content
	}
	a := queue.Article{
		URL:        dedupe.StripTracking(absolute(link, doc.base), nil),
		Title:      title(item),
		Summary:    summary.plain(maxSummary),
		Author:     f.author(item),
		Image:      image(item, doc.base, content, description),
		Categories: categories(item.Categories),
		Source:     s.Name,
		Published:  publishedAt(item, s.Zone),
		Updated:    updatedAt(item, s.Zone),
	}
	if guid := strings.TrimSpace(item.GUID); len(guid) <= maxGUID {
		a.GUID = guid
	}
	return a
}

// title returns an item's title, or what another vocabulary gives as such.
func title(item *gofeed.Item) string {
	text := plainText(unsectioned(item.Title), maxTitle)
	if text == "" {
		for other := range textsOf(item, titleNames) {
			return plainText(other, maxTitle)
		}
	}
	return text
}

// titleNames are as publishedNames.
var titleNames = [][2]string{{"dc", "title"}, {"itunes", "title"}, {"media", "title"}}

// extension returns the text of an item's element of another vocabulary, by the
// prefix under which that is known everywhere.
func extension(item *gofeed.Item, prefix string, names ...string) string {
	for _, name := range names {
		for _, e := range item.Extensions[prefix][name] {
			if text := strings.TrimSpace(e.Value); text != "" {
				return text
			}
		}
	}
	return ""
}

// author returns the name of an item's first author, or of the feed's where the
// format says that it is the items' too (RFC 4287 §4.1.1, JSON Feed 1.1). Mail
// addresses are not passed on.
func (f *feed) author(item *gofeed.Item) string {
	people := item.Authors
	if len(people) == 0 && f.FeedType != "rss" {
		people = f.Authors
	}
	for _, p := range people {
		if p == nil {
			continue
		}
		if name := plainText(p.Name, maxLabel); name != "" && !strings.Contains(name, "@") {
			return name
		}
	}
	return ""
}

func categories(labels []string) []string {
	var all []string
	for _, label := range labels {
		if label = plainText(label, maxLabel); label != "" && len(all) < maxCategory {
			all = append(all, label)
		}
	}
	return all
}
