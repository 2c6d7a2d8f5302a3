package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"bot/queue"

	"golang.org/x/net/html"
)

const (
	// maxHead is how much of a page is read, in bytes: what it says of itself stands
	// at its beginning.
	maxHead = 512 << 10
	// pageLimit is for one page in all.
	pageLimit = 20 * time.Second
)

// acceptPage asks for web pages, and takes whatever comes.
const acceptPage = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5"

// Pages looks at the pages of articles, and answers index by index: at most
// Concurrency hosts at once and one page at a time at each, for no longer than
// Limits.Total at each. A host that asks to wait is asked for nothing more. hosts are
// those that the config names for each source, by the source's name.
func (c *Collector) Pages(ctx context.Context, articles []queue.Article, hosts map[string][]string) []queue.Page {
	pages := make([]queue.Page, len(articles))
	work := make(chan []int)
	var workers sync.WaitGroup
	groups := pagesByHost(articles)
	for range min(cmp.Or(c.Concurrency, 16), len(groups)) {
		workers.Go(func() {
			for group := range work {
				c.lookAt(ctx, articles, group, hosts, pages)
			}
		})
	}
	for _, group := range groups {
		work <- group
	}
	close(work)
	workers.Wait()
	return pages
}

// pagesByHost groups the indexes of articles by their hosts, in order.
func pagesByHost(articles []queue.Article) [][]int {
	indexes := make([]int, len(articles))
	for n := range articles {
		indexes[n] = n
	}
	return grouped(indexes, func(n int) string {
		if u, err := url.Parse(articles[n].URL); err == nil {
			return strings.ToLower(u.Host)
		}
		return ""
	})
}

// lookAt looks at the pages of one host, one after the other.
func (c *Collector) lookAt(ctx context.Context, articles []queue.Article, group []int, hosts map[string][]string, pages []queue.Page) {
	limit := c.Limits.withDefaults().Total
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooSlow("for the pages of one host", limit))
	defer cancel()
	for i, n := range group {
		pages[n] = c.page(queue.Trust(ctx, hosts[articles[n].Source]...), articles[n].URL)
		if until := pages[n].NotBefore; !until.IsZero() {
			for _, other := range group[i+1:] {
				err := &waitError{until: until, location: shown(articles[other].URL)}
				pages[other] = queue.Page{Err: err, NotBefore: until}
			}
			return
		}
	}
}

// page looks at one page.
func (c *Collector) page(ctx context.Context, address string) queue.Page {
	ctx, cancel := context.WithTimeoutCause(ctx, pageLimit, tooSlow("in all", pageLimit))
	defer cancel()
	page, err := c.readPage(ctx, address)
	if err != nil {
		err = named(causeOr(ctx, err), address)
		if status, ok := errors.AsType[*statusError](err); ok {
			status.advice = "" // It is for a source.
		}
		return queue.Page{Err: err, NotBefore: waitUntil(err)}
	}
	return page
}

func (c *Collector) readPage(ctx context.Context, address string) (queue.Page, error) {
	limits := c.Limits.withDefaults()
	if !isWeb(address) {
		return queue.Page{}, errors.New("it is not an http or https address")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(limits.FirstByte, func() { cancel(tooSlow("to answer", limits.FirstByte)) })
	defer slow.Stop()
	req, err := c.request(ctx, address, validators{})
	if err != nil {
		return queue.Page{}, err
	}
	req.Header.Set("Accept", acceptPage)
	resp, err := c.client(limits.Redirects, func(int) { slow.Reset(limits.FirstByte) }).Do(req)
	if err != nil {
		return queue.Page{}, causeOr(ctx, err)
	}
	defer resp.Body.Close()
	slow.Stop()
	if err := c.checkStatus(resp, address, validators{}); err != nil {
		return queue.Page{}, err
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxHead))
	if err != nil {
		return queue.Page{}, causeOr(ctx, err)
	}
	base := *resp.Request.URL
	base.User = nil
	found := queue.Page{Final: base.String()}
	found.Canonical = canonicalLink(&document{base: &base, body: head, contentType: resp.Header.Get("Content-Type")}, resp.Header)
	return found, nil
}

// named says in an error what was asked for, once.
func named(err error, address string) error {
	var status *statusError
	var wait *waitError
	if errors.As(err, &status) || errors.As(err, &wait) {
		return err
	}
	var leads *queue.AddressError
	if errors.As(err, &leads) {
		return fmt.Errorf("fetch %s: %w", shown(address), leads)
	}
	// The client's own error repeats the address, user info and all.
	for wrapped := (*url.Error)(nil); errors.As(err, &wrapped); {
		err = wrapped.Err
	}
	return fmt.Errorf("fetch %s: %w", shown(address), err)
}

// canonicalLink returns the address that a page names as its own, absolute: in a header
// (RFC 6596 §3) or in its head. Empty: it names none, or more than one.
func canonicalLink(page *document, header http.Header) string {
	var found []string
	note := func(href string, base *url.URL) {
		if address := absolute(href, base); isWeb(address) && len(address) <= maxTitle && !slices.Contains(found, address) {
			found = append(found, address)
		}
	}
	for _, link := range header.Values("Link") {
		href, parameters, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(link), "<"), ">")
		rel := strings.ToLower(strings.ReplaceAll(parameters, " ", ""))
		if ok && !strings.Contains(parameters, ",") && (strings.Contains(rel, `;rel="canonical"`) || strings.Contains(rel, ";rel=canonical")) {
			note(href, page.base)
		}
	}
	base := page.base
	if isMarkup(page.body) {
		for token := range tags(page) {
			switch token.Data {
			case "base":
				if href, err := url.Parse(absolute(attribute(token, "href"), page.base)); err == nil && href.IsAbs() {
					base = href
				}
			case "link":
				if isCanonical(token) {
					note(attribute(token, "href"), base)
				}
			}
			if token.Data == "body" {
				break
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// isMarkup reports whether a body can hold tags at all.
func isMarkup(body []byte) bool { return bytes.IndexByte(body, '<') >= 0 }

func isCanonical(token html.Token) bool {
	return slices.Contains(strings.Fields(strings.ToLower(attribute(token, "rel"))), "canonical")
}
