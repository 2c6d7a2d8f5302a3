package collect_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func pagesOf(c *collect.Collector, t *testing.T, urls ...string) []queue.Page {
	t.Helper()
	var articles []queue.Article
	for _, u := range urls {
		articles = append(articles, queue.Article{URL: u, Source: "src"})
	}
	pages := c.Pages(t.Context(), articles, map[string][]string{"src": {"10.0.0.1"}})
	require.Len(t, pages, len(urls))
	return pages
}

func TestAPageSaysWhereItIsAndWhatItIsCalled(t *testing.T) {
	t.Parallel()
	with := func(link, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if link != "" {
				w.Header().Set("Link", link)
			}
			_, _ = w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		page      http.HandlerFunc
		canonical string
	}{
		"nothing":                     {text("hello"), ""},
		"a link in its head":          {text(`<html><link rel="canonical" href="https://example.jp/b">`), "https://example.jp/b"},
		"in any case, among others":   {text(`<LINK HREF=/b REL="Canonical Alternate">`), "https://example.jp/b"},
		"relative to its base":        {text(`<base href="/x/"><link rel=canonical href="b?c=1&amp;d=2">`), "https://example.jp/x/b?c=1&d=2"},
		"a header":                    {with(`<https://example.jp/b>; rel="canonical"`, "%PDF-1.7"), "https://example.jp/b"},
		"a header of another kind":    {with(`<https://example.jp/b>; rel="preload"`, "x"), ""},
		"header and head that agree":  {with(`</b>; rel=canonical`, `<link rel=canonical href=/b>`), "https://example.jp/b"},
		"header and head that differ": {with(`</b>; rel=canonical`, `<link rel=canonical href=/c>`), ""},
		"two links that differ":       {text(`<link rel=canonical href=/b><link rel=canonical href=/c>`), ""},
		"one in its body":             {text(`<html><head></head><body><link rel=canonical href=/b>`), ""},
		"one of another scheme":       {text(`<link rel=canonical href="javascript:x">`), ""},
		"an empty one":                {text(`<link rel=canonical href="">`), ""},
		"one too long":                {text(`<link rel=canonical href="/` + strings.Repeat("a", 10_000) + `">`), ""},
		"one after half a MiB":        {text(strings.Repeat(" ", 512<<10) + `<link rel=canonical href=/b>`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := pagesOf(collector(web{"example.jp/a": c.page}), t, "https://example.jp/a")[0]
			require.NoError(t, got.Err)
			require.Equal(t, "https://example.jp/a", got.Final)
			require.Equal(t, c.canonical, got.Canonical)
		})
	}
}

func TestAPageThatIsNotThereSaysWhy(t *testing.T) {
	t.Parallel()
	w := web{
		"example.jp/none": status(404), "example.jp/empty": status(204), "example.jp/old": status(301, "Location", "https://user:secret@example.jp/new"), "example.jp/new": text("x"),
		"example.jp/loop": status(302, "Location", "/loop"), "busy.example/a": status(503, "Retry-After", "60"), "10.0.0.1/a": text("x"),
		"10.0.0.2/": text("x"), "10.0.0.2/a": text("x"),
		"example.jp/in": status(302, "Location", "http://10.0.0.2/"),
	}
	got := pagesOf(collector(w), t, "https://example.jp/none", "https://example.jp/empty", "https://example.jp/old", "https://example.jp/loop",
		"https://busy.example/a", "https://busy.example/b", "ftp://example.jp/a", "http://10.0.0.1/a", "https://10.0.0.2/a", "https://user:secret@example.jp/in")
	for i, want := range []string{
		"it answered 404 Not Found", "it answered 204 No Content", "", "more than 10 redirects in a row",
		"it will not be asked before 2026-08-04T12:01:00Z", "its server asked to wait until 2026-08-04T12:01:00Z", "not an http or https address", "",
		"", "",
	} {
		if want == "" {
			require.NoError(t, got[i].Err, i)
			continue
		}
		require.ErrorContains(t, got[i].Err, want)
		require.NotContains(t, got[i].Err.Error(), "secret")
	}
	require.Equal(t, "https://example.jp/new", got[2].Final, "without user info")
	require.Equal(t, now.Add(time.Minute), got[4].NotBefore)
	require.Equal(t, now.Add(time.Minute), got[5].NotBefore)
}

func TestPagesOfManyHostsAreLookedAt(t *testing.T) {
	t.Parallel()
	w := web{}
	var all []string
	for i := range 100 {
		host := "h" + strconv.Itoa(i%30) + ".example/" + strconv.Itoa(i)
		w[host] = text("x")
		all = append(all, "https://"+host)
	}
	log := &requests{next: w}
	for i, p := range pagesOf(collector(log), t, all...) {
		require.NoError(t, p.Err)
		require.Equal(t, all[i], p.Final)
	}
	require.ElementsMatch(t, all, log.urls())
	require.Empty(t, pagesOf(collector(log), t))
}

func TestPagesTakeNoLongerThanTheyMay(t *testing.T) {
	t.Parallel()
	c := collector(web{"example.jp/a": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	c.Limits = collect.Limits{Total: 50 * time.Millisecond}
	got := pagesOf(c, t, "https://example.jp/a", "https://example.jp/b")
	require.ErrorContains(t, got[1].Err, "it took longer than 50ms for the pages of one host, which is the limit")
}
