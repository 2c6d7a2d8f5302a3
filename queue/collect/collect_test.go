package collect_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func TestSourcesAreReadSideBySideAndHostsOneAtATime(t *testing.T) {
	t.Parallel()
	const hosts = 3
	var mu sync.Mutex
	perHost := map[string]int{}
	running, most := 0, 0
	// Every host's first request waits until all hosts were asked.
	var all sync.WaitGroup
	all.Add(hosts)
	first := map[string]bool{}
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		mu.Lock()
		perHost[req.URL.Host]++
		if perHost[req.URL.Host] > 1 {
			t.Errorf("%s is asked twice at a time", req.URL.Host)
		}
		running++
		most = max(most, running)
		wait := !first[req.URL.Host]
		first[req.URL.Host] = true
		mu.Unlock()
		if wait {
			all.Done()
			all.Wait()
		}
		mu.Lock()
		perHost[req.URL.Host]--
		running--
		mu.Unlock()
		return web{req.URL.Host + req.URL.Path: text(rss("https://example.jp/a"))}.RoundTrip(req)
	})
	var sources []collect.Source
	for i := range 12 {
		sources = append(sources, collect.Source{Name: strconv.Itoa(i), Kind: collect.Feed, Location: fmt.Sprintf("https://Host%d.example/%d", i%hosts, i)})
	}
	c := collector(transport)
	c.Concurrency = hosts
	seen := map[string]bool{}
	inDone := false
	c.Collect(context.Background(), sources, nil, func(r collect.Result) {
		require.False(t, inDone, "done is never called twice at a time")
		inDone = true
		defer func() { inDone = false }()
		require.NoError(t, r.Err)
		require.False(t, seen[r.Source])
		seen[r.Source] = true
	})
	require.Len(t, seen, len(sources))
	require.Equal(t, hosts, most)
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running, most := 0, 0
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() {
			mu.Lock()
			running--
			mu.Unlock()
		}()
		return web{req.URL.Host + req.URL.Path: text(rss())}.RoundTrip(req)
	})
	var sources []collect.Source
	for i := range 30 {
		sources = append(sources, collect.Source{Name: strconv.Itoa(i), Kind: collect.Feed, Location: fmt.Sprintf("https://host%d.example/", i)})
	}
	c := collector(transport)
	c.Concurrency = 2
	n := 0
	c.Collect(context.Background(), sources, nil, func(collect.Result) { n++ })
	require.Equal(t, 30, n)
	require.LessOrEqual(t, most, 2)
}

func TestNoSourcesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	collector(web{}).Collect(context.Background(), nil, nil, func(collect.Result) { t.Error("nothing was asked for") })
}

func TestOneSourcesFailureDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	w := web{
		"a.example/1": status(429, "Retry-After", "60"), "a.example/2": text(rss("https://a.example/x")),
		"b.example/1": status(500), "b.example/2": text(rss("https://b.example/x")),
	}
	var sources []collect.Source
	for _, at := range []string{"a.example/1", "a.example/2", "b.example/1", "b.example/2"} {
		sources = append(sources, collect.Source{Name: at, Kind: collect.Feed, Location: "https://" + at})
	}
	seen := &requests{next: w}
	got := map[string]collect.Result{}
	collector(seen).Collect(context.Background(), sources, nil, func(r collect.Result) { got[r.Source] = r })
	require.ErrorContains(t, got["a.example/1"].Err, "429")
	require.ErrorContains(t, got["a.example/2"].Err, "its server asked to wait until 2026-08-04T12:01:00Z", "the host is waited for, not the address")
	require.Equal(t, now.Add(time.Minute), got["a.example/2"].Next.NotBefore)
	require.ErrorContains(t, got["b.example/1"].Err, "500")
	require.NoError(t, got["b.example/2"].Err)
	require.ElementsMatch(t, []string{"https://a.example/1", "https://b.example/1", "https://b.example/2"}, seen.urls())
}

func TestProgressRemembersTheNewestArticle(t *testing.T) {
	t.Parallel()
	item := func(date string) string {
		return "<item><link>https://example.jp/" + date + "</link><pubDate>" + date + "</pubDate></item>"
	}
	source, w := feedOf(`<rss version="2.0"><channel>` + item("2026-08-01T00:00:00Z") + item("2026-08-03T00:00:00Z") + item("2026-12-01T00:00:00Z") + item("") + `</channel></rss>`)
	r := one(t, collector(w), source, collect.Progress{})
	require.Equal(t, time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC), r.Next.LastArticle, "the future is not news")
	later := now.Add(-time.Minute)
	r = one(t, collector(w), source, collect.Progress{LastArticle: later})
	require.Equal(t, later, r.Next.LastArticle)
}
