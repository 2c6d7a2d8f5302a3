package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bot/queue"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// usualPaths is where feeds are when a page does not say, the most common first.
var usualPaths = [...]string{"feed", "feed.xml", "rss.xml", "atom.xml", "index.xml", "rss", "feed.json", "index.rdf"}

// feedTypes are the media types by which a page names a feed. application/json is
// not among them: it mostly names an API.
var feedTypes = [...]string{"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}

// maxLinked bounds how many of the feeds that a page names are tried.
const maxLinked = 5

// errNoFeed tells of a site that offers none.
var errNoFeed = errors.New("no feed was found there; give its address with feed: in place of the site")

// readSite reads the feed of a site, which is looked for when it is not known yet
// or is gone.
func (c *Collector) readSite(ctx context.Context, s Source, prev Progress) (reading, error) {
	if prev.Feed != "" && prev.Site == s.Location {
		r, err := c.readFeed(ctx, s, prev.Feed, prev)
		if err == nil || !isGone(err) {
			return r, err
		}
	}
	found, err := c.discover(ctx, s.Location)
	if err != nil {
		return reading{}, err
	}
	r := c.reading(s, found.doc, found.feed, prev)
	r.next.Feed, r.next.Site = found.doc.location, s.Location
	return r, nil
}

// isGone reports whether there is no feed any more where there was one.
func isGone(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		return status.code == http.StatusNotFound || status.code == http.StatusGone
	}
	return isNotFeed(err)
}

func isNotFeed(err error) bool {
	var other *notFeedError
	return errors.As(err, &other)
}

// Discover returns the address and the title of a site's main feed: the first that
// its page names, comments aside, or the first found where feeds usually are. A
// site without a scheme is asked by https. Title is empty if the feed has none.
func (c *Collector) Discover(ctx context.Context, site string) (feed, title string, err error) {
	if !strings.Contains(site, "://") {
		site = "https://" + site
	}
	if !isWeb(site) {
		return "", "", fmt.Errorf("%s is not an http or https address", shown(site))
	}
	limit := c.Limits.withDefaults().Total
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooSlow("in all", limit))
	defer cancel()
	found, err := c.discover(queue.Trust(ctx, hostOf(site)...), site)
	if err != nil {
		return "", "", err
	}
	return shown(found.doc.location), plainText(found.feed.Title, maxLabel), nil
}

// discovery is a feed that was found, and read in finding it.
type discovery struct {
	doc  *document
	feed *feed
}

func (c *Collector) discover(ctx context.Context, site string) (discovery, error) {
	page, err := c.fetch(ctx, site, validators{})
	if err != nil {
		return discovery{}, err
	}
	// The site's address may be its feed's.
	if f, err := c.parse(ctx, page); err == nil {
		return discovery{page, f}, nil
	} else if !isNotFeed(err) {
		return discovery{}, err
	}
	for _, candidate := range candidates(page) {
		doc, err := c.fetch(ctx, candidate, validators{})
		if err != nil {
			if ctx.Err() != nil || !waitUntil(err).IsZero() {
				return discovery{}, err
			}
			continue
		}
		if f, err := c.parse(ctx, doc); err == nil {
			return discovery{doc, f}, nil
		} else if ctx.Err() != nil {
			return discovery{}, err
		}
	}
	return discovery{}, fmt.Errorf("read %s: %w", shown(site), errNoFeed)
}

// candidates are the addresses where a page's feed may be, the likeliest first.
func candidates(page *document) []string {
	all := linkedFeeds(page)
	all = all[:min(len(all), maxLinked)]
	if page.base == nil {
		return all
	}
	for _, directory := range [...]string{"./", "/"} {
		for _, path := range usualPaths {
			if address := absolute(directory+path, page.base); !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}

// linkedFeeds are the feeds that a page names, but for those of comments. Those of a
// part of the site come last.
func linkedFeeds(page *document) []string {
	base := page.base
	var all, parts []string
	for token := range tags(page) {
		switch token.Data {
		case "base":
			if href, err := url.Parse(absolute(attribute(token, "href"), page.base)); err == nil && href.IsAbs() {
				base = href
			}
		case "link":
			href := absolute(attribute(token, "href"), base)
			switch {
			case !isFeedLink(token), !isWeb(href), isComments(href, attribute(token, "title")):
			case slices.Contains(all, href), slices.Contains(parts, href):
			case partAddress().MatchString(href) && !partAddress().MatchString(page.location):
				parts = append(parts, href)
			default:
				all = append(all, href)
			}
		}
	}
	return append(all, parts...)
}

// partAddress finds what names a tag, a category, an author or a search in an address.
var partAddress = pattern(`(?i)[/?&](tags?|categor(y|ies)|authors?|search)[/=]`)

func isFeedLink(token html.Token) bool {
	kind, _, _ := strings.Cut(strings.ToLower(attribute(token, "type")), ";")
	rel := strings.Fields(strings.ToLower(attribute(token, "rel")))
	return slices.Contains(rel, "alternate") && slices.Contains(feedTypes[:], strings.TrimSpace(kind))
}

var (
	// What WordPress, in its translations, and others call such feeds.
	commentsTitle = pattern(`(?i)\bcomments?\W*(feed|rss|atom|$)|コメント(の)?(フィード|RSS|$)|kommentar-feed|kommentars?(flöde|strøm)|` +
		`\bcommentaires\b|\bcomentarios\b|comentários|\bcomentarii\b|feed dei commenti|\breacties\b|лента комментариев|коментарів|` +
		`komentarzami|komentářů|yorum akışı|umpan komentar|kommenttien|hozzászólás|σχολίων|评论\s*feed|留言的\s*rss|迴響|댓글\s*피드|خلاصة التعليقات|פיד תגובות`)
	commentsAddress = pattern(`(?i)[/=]comments?([-_.](rss2?|atom|xml|feed))*(/|$|[?&#])`)
)

// isComments reports whether a feed is of comments, not of articles.
func isComments(href, title string) bool {
	return commentsTitle().MatchString(title) || commentsAddress().MatchString(href)
}

// Title returns the title of a web page: what it calls itself where it is shared
// (og:title), or its title element. Empty if it has neither.
func (c *Collector) Title(ctx context.Context, address string) (string, error) {
	limit := c.Limits.withDefaults().Total
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooSlow("in all", limit))
	defer cancel()
	page, err := c.fetch(queue.Trust(ctx, hostOf(address)...), address, validators{})
	if err != nil {
		return "", err
	}
	for token := range tags(page) {
		if token.Data == "meta" && strings.EqualFold(attribute(token, "property"), "og:title") {
			// Its entities are resolved already.
			if title := plainText(html.EscapeString(attribute(token, "content")), maxTitle); title != "" {
				return title, nil
			}
		}
	}
	return plainText(pageTitle(decoded(page)), maxTitle), nil
}

// pageTitle returns the content of a page's first title element, as it stands.
func pageTitle(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if name, _ := z.TagName(); kind == html.StartTagToken && string(name) == "title" {
			if z.Next() == html.TextToken {
				return string(z.Raw())
			}
			return ""
		}
	}
	return ""
}

// tags yields the opening tags of a page.
func tags(page *document) func(yield func(html.Token) bool) {
	return func(yield func(html.Token) bool) {
		z := html.NewTokenizer(bytes.NewReader(decoded(page)))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			if (kind == html.StartTagToken || kind == html.SelfClosingTagToken) && !yield(z.Token()) {
				return
			}
		}
	}
}

// decoded returns a page in UTF-8.
func decoded(page *document) []byte {
	r, err := charset.NewReader(bytes.NewReader(page.body), page.contentType)
	if err != nil {
		return page.body
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return page.body
	}
	return body
}
