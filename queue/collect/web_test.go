package collect_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

// web answers requests without a network, by host and path.
type web map[string]http.HandlerFunc

func (w web) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	handler := w[req.URL.Host+req.URL.Path]
	if handler == nil {
		handler = http.NotFound
	}
	rec := httptest.NewRecorder()
	handler(rec, req)
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

// text answers with a body.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// status answers with a status and headers, given as name and value in turn.
func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// requests counts and remembers requests on their way.
type requests struct {
	mu   sync.Mutex
	next http.RoundTripper
	all  []*http.Request
}

func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.all = append(r.all, req)
	r.mu.Unlock()
	return r.next.RoundTrip(req)
}

func (r *requests) urls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, req := range r.all {
		all = append(all, req.URL.String())
	}
	return all
}

var now = time.Date(2026, 8, 4, 12, 0, 0, 0, time.UTC)

// collector collects from w at the time now.
func collector(w http.RoundTripper) *collect.Collector {
	return &collect.Collector{
		HTTP: &http.Client{Transport: w}, Now: func() time.Time { return now }, UserAgent: "bot/test (+https://example.jp/bot)",
	}
}

// one collects a single source.
func one(t testing.TB, c *collect.Collector, s collect.Source, prev collect.Progress) collect.Result {
	t.Helper()
	if s.Name == "" {
		s.Name = "src"
	}
	var all []collect.Result
	c.Collect(context.Background(), []collect.Source{s}, map[string]collect.Progress{s.Name: prev}, func(r collect.Result) { all = append(all, r) })
	require.Len(t, all, 1)
	require.Equal(t, s.Name, all[0].Source)
	require.Equal(t, all[0].Status == collect.StatusError, all[0].Err != nil)
	return all[0]
}

const feedURL = "https://example.jp/blog/feed.xml"

// feedOf is the source at feedURL and the web that serves it.
func feedOf(body string) (collect.Source, web) {
	return collect.Source{Kind: collect.Feed, Location: feedURL}, web{"example.jp/blog/feed.xml": text(body)}
}

// rss is a small feed with one item for each link.
func rss(links ...string) string {
	var body strings.Builder
	body.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Example</title><link>https://example.jp/</link><description>d</description>`)
	for _, link := range links {
		body.WriteString("<item><title>t</title><link>" + link + "</link></item>")
	}
	body.WriteString("</channel></rss>")
	return body.String()
}

func urls(r collect.Result) []string {
	var all []string
	for _, a := range r.Articles {
		all = append(all, a.URL)
	}
	return all
}
