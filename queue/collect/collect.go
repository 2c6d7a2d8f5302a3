// Package collect reads what the sources hold and makes articles of it. It asks
// politely, within limits, and knows nothing of rules, keys or ledgers: the same
// article is returned as often as its source lists it.
package collect

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bot/queue"
)

// Kind is what a source is.
type Kind string

// The kinds of sources.
const (
	// Feed is an RSS, Atom, RDF or JSON feed.
	Feed Kind = "feed"
	// Site is a web page whose feed is discovered.
	Site Kind = "site"
	// Sitemap is a sitemap, or an index of sitemaps.
	Sitemap Kind = "sitemap"
	// List is a text of one address per line.
	List Kind = "list"
)

// Source is one place where articles come from.
type Source struct {
	// Name is the source's, unique.
	Name string
	// Kind is what is to be read there.
	Kind Kind
	// Location is the http(s) address, or the absolute path of a file.
	Location string
	// Zone is where its dates without a zone are read. Nil: UTC.
	Zone *time.Location
	// StripParams are query parameters that only track there, beside the built-in
	// ones.
	StripParams []string
	// Hosts are other hosts that the config names for it, in any spelling.
	Hosts []string
}

// OwnHosts are the hosts that the config names for the source, without ports. Where
// they lead is the operator's own business.
func (s Source) OwnHosts() []string {
	all := hostOf(s.Location)
	for _, host := range s.Hosts {
		all = append(all, strings.Trim(host, "[]")) // as in the addresses of requests
	}
	return all
}

// hostOf returns the host of an address. Nil: it has none.
func hostOf(address string) []string {
	if u, err := url.Parse(address); err == nil && isWeb(address) && u.Hostname() != "" {
		return []string{u.Hostname()}
	}
	return nil
}

// Status is how the reading of one source ended.
type Status string

// The ways in which reading a source ends.
const (
	StatusOK          Status = "ok"
	StatusNotModified Status = "not_modified"
	StatusError       Status = "error"
)

// Progress is what is remembered of a source between runs. The caller keeps it,
// as JSON, and saves it only after what the source held is safely in the ledger.
// All times are UTC.
type Progress struct {
	// Feed is the feed that was discovered on the page at Site. Empty for other
	// sources.
	Feed string `json:"feed,omitempty"`
	Site string `json:"site,omitempty"`
	// ETag and LastModified are the validators of the last whole answer, which came
	// from FetchedURL and are sent to no other address.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	FetchedURL   string `json:"fetched_url,omitempty"`
	// FreshUntil is until when that answer stays as it is, as its server said. Zero: it
	// may have changed at any time.
	FreshUntil time.Time `json:"fresh_until,omitzero"`
	// Moved is where FetchedURL says it has gone for good. Empty: it has not.
	Moved string `json:"moved,omitempty"`
	// NotBefore is when the server may be asked again. Zero: at any time.
	NotBefore time.Time `json:"not_before,omitzero"`
	// LastSuccess is when the source was last read, changed or not.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// FailingSince is when the present row of failures began, and LastError how the
	// last of them read. Zero and empty after a success.
	FailingSince time.Time `json:"failing_since,omitzero"`
	LastError    string    `json:"last_error,omitempty"`
	// LastArticle is the publication time of the newest article seen so far that had
	// one and was not in the future.
	LastArticle time.Time `json:"last_article,omitzero"`
	// Seen holds the webhooks' fingerprints of the destinations for which articles of
	// this source were looked at: for all others it is first sight. The caller sets
	// it, since Collect knows of no destinations.
	Seen []string `json:"seen,omitempty"`
	// Waiting tells that articles of this source wait for their pages. The caller sets
	// it, and keeps them.
	Waiting bool `json:"waiting,omitempty"`
}

// Result is what came of one source.
type Result struct {
	// Source is the source's name.
	Source string
	// Status is how it ended, and Err why, if it ended badly. Err names the address
	// without user info, and what to do.
	Status Status
	Err    error
	// Articles are in the order of the document. There may be some beside an error, if it is
	// of a part of the source. Their addresses are absolute, or as
	// the document has them where that is impossible: the rules refuse those.
	Articles []queue.Article
	// Listed is how many these are. It stays if the caller lets some of them go.
	Listed int
	// Dropped counts the items of the document that have no address at all.
	Dropped int
	// Next is the progress to be saved.
	Next Progress
}

// Limits bound what a source may take. Zero fields have the default.
type Limits struct {
	// Bytes is the greatest size of a document, after decompression. Default 32 MiB.
	Bytes int64
	// Depth is how deep its elements may be nested. Default 512.
	Depth int
	// Articles is how many a document may list. Default 10,000.
	Articles int
	// Redirects is how many are followed in a row. Default 10.
	Redirects int
	// FirstByte is the time until an answer begins. Default 10 s.
	FirstByte time.Duration
	// Total is the time for one source in all. Default 60 s.
	Total time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Bytes:     cmp.Or(l.Bytes, 32<<20),
		Depth:     cmp.Or(l.Depth, 512),
		Articles:  cmp.Or(l.Articles, 10_000),
		Redirects: cmp.Or(l.Redirects, 10),
		FirstByte: cmp.Or(l.FirstByte, 10*time.Second),
		Total:     cmp.Or(l.Total, 60*time.Second),
	}
}

// Collector reads sources. Its fields are not changed once it is in use, and its
// methods may be called concurrently.
type Collector struct {
	// HTTP is the client for every request. It is copied, never changed. Nil: Go's
	// default.
	HTTP *http.Client
	// Now is the program's clock. It dates results; limits are kept in real time.
	Now func() time.Time
	// UserAgent names the program to servers.
	UserAgent string
	// Concurrency is how many hosts are asked at once. Zero: 16.
	Concurrency int
	// Fresh asks for whole documents even if they have not changed.
	Fresh bool
	// Limits bound each source.
	Limits Limits

	once    sync.Once
	outside *http.Client // HTTP, kept from going where only this machine can
	space   sync.Pool    // *bytes.Buffer, to read documents in
}

// Collect reads the sources side by side: at most Concurrency hosts at once, and
// one request at a time at each host. It calls done once for each source, as they
// end, never twice at the same time, and returns when all have ended. A source
// that fails does not stop the others, but one that a host has asked to wait is
// waited for by all sources there. If ctx ends, what is left ends with its error
// and with its progress unchanged.
//
// progress holds what was remembered of each source, by name; a source without is
// read for the first time.
func (c *Collector) Collect(ctx context.Context, sources []Source, progress map[string]Progress, done func(Result)) {
	groups := byHost(sources)
	work := make(chan []Source)
	results := make(chan Result)
	var workers sync.WaitGroup
	var panicked atomic.Value
	read := func(group []Source) {
		defer func() {
			if v := recover(); v != nil {
				panicked.Store(fmt.Sprintf("%v\n%s", v, debug.Stack()))
			}
		}()
		c.readHost(ctx, group, progress, results)
	}
	for range min(cmp.Or(c.Concurrency, 16), len(groups)) {
		workers.Go(func() {
			for group := range work {
				read(group)
			}
		})
	}
	go func() {
		for _, group := range groups {
			work <- group
		}
		close(work)
		workers.Wait()
		close(results)
	}()
	for r := range results {
		done(r)
	}
	// It reaches the caller, who may want to live on.
	if v := panicked.Load(); v != nil {
		panic(v)
	}
}

// byHost groups the sources that share a host, in the order in which they are
// given. A file is a host of its own.
func byHost(sources []Source) [][]Source {
	return grouped(sources, func(s Source) string {
		// This machine needs no sparing.
		if u, err := url.Parse(s.Location); err == nil && isWeb(s.Location) && !isLoopback(u.Hostname()) {
			return strings.ToLower(u.Host)
		}
		return "file " + s.Location
	})
}

// grouped returns what has one name together, both in the order of all.
func grouped[T any](all []T, name func(T) string) [][]T {
	index := make(map[string]int)
	var groups [][]T
	for _, one := range all {
		key := name(one)
		i, known := index[key]
		if !known {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// readHost reads the sources of one host, one after the other.
func (c *Collector) readHost(ctx context.Context, group []Source, progress map[string]Progress, results chan<- Result) {
	var notBefore time.Time
	for _, s := range group {
		if p := progress[s.Name]; p.NotBefore.After(notBefore) {
			notBefore = p.NotBefore
		}
	}
	for _, s := range group {
		r := c.read(ctx, s, progress[s.Name], notBefore)
		if r.Next.NotBefore.After(notBefore) {
			notBefore = r.Next.NotBefore
		}
		results <- r
	}
}

// read reads one source, unless its host is to be left alone until notBefore.
func (c *Collector) read(ctx context.Context, s Source, prev Progress, notBefore time.Time) Result {
	now := c.now()
	if ctx.Err() == nil && notBefore.After(now) {
		return c.failed(s, prev, now, &waitError{until: notBefore, location: shown(s.Location)})
	}
	limit := c.Limits.withDefaults().Total
	inner, cancel := context.WithTimeoutCause(ctx, limit, tooSlow("in all", limit))
	defer cancel()
	got, err := c.readKind(queue.Trust(inner, s.OwnHosts()...), s, prev)
	if ctx.Err() != nil {
		return Result{Source: s.Name, Status: StatusError, Err: context.Cause(ctx), Next: prev}
	}
	r := Result{Source: s.Name, Status: StatusOK, Next: got.next}
	if err != nil {
		r = c.failed(s, prev, now, err)
	} else {
		if !got.unasked {
			r.Next.LastSuccess = now
		}
		r.Next.FailingSince, r.Next.LastError, r.Next.NotBefore = time.Time{}, "", time.Time{}
	}
	if got.notModified {
		r.Status = StatusNotModified
	}
	r.Articles, r.Dropped = s.stripped(got.articles), got.dropped
	r.Listed = len(r.Articles)
	for _, a := range r.Articles {
		if a.Published.After(r.Next.LastArticle) && !a.Published.After(now) {
			r.Next.LastArticle = a.Published
		}
	}
	return r
}

// reading is what one source held.
type reading struct {
	articles    []queue.Article
	dropped     int
	notModified bool
	unasked     bool // notModified, by what its server said before
	next        Progress
}

func (c *Collector) readKind(ctx context.Context, s Source, prev Progress) (reading, error) {
	switch s.Kind {
	case Site:
		return c.readSite(ctx, s, prev)
	case Sitemap:
		return c.readSitemap(ctx, s, prev)
	case List:
		return c.readList(ctx, s, prev)
	default:
		return c.readFeed(ctx, s, s.Location, prev)
	}
}

// failed is the result of a source that could not be read.
func (c *Collector) failed(s Source, prev Progress, now time.Time, err error) Result {
	next := prev
	next.FreshUntil = time.Time{}
	next.NotBefore = waitUntil(err)
	next.LastError = err.Error()
	if next.FailingSince.IsZero() {
		next.FailingSince = now
	}
	return Result{Source: s.Name, Status: StatusError, Err: err, Next: next}
}

func (c *Collector) now() time.Time { return c.Now().UTC().Truncate(time.Millisecond) }
