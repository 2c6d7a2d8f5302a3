package cmd_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const readyConfig = `sources:
  - {name: s, feed: "http://example.jp/feed", ready: true, first_run: all}
destinations:
  - {name: d, webhook: "http://hooks.example/d"}
`

const day = 24 * time.Hour

func item(url string) sceneItem {
	return sceneItem{URL: url, Title: "T " + url, GUID: url, Published: "2026-11-29T20:00:00Z"}
}

func items(urls ...string) []sceneItem {
	var all []sceneItem
	for _, u := range urls {
		all = append(all, item(u))
	}
	return all
}

// page is an article's page that names its own address.
func page(canonical string) http.HandlerFunc {
	return body(`<!doctype html><html><head><link rel="canonical" href="` + canonical + `"></head><body>text</body></html>`)
}

func TestAnArticleIsQueuedOnceItsPageIsThere(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", tagged("1", feed(items("https://example.jp/a", "http://example.jp/b"))))
	s.serve("example.jp/b", body("here"))
	got := s.enqueue(0)
	// The scheme of this world's pages is http alone.
	require.Empty(t, got.Waiting[1:])
	require.Equal(t, "https://example.jp/a", got.Waiting[0].URL)
	require.Equal(t, []string{"d http://example.jp/b"}, got.queued())
}

func TestWhatWaitsIsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then http.HandlerFunc // the feed in later runs
		code int              // of the run in which the page is there
	}{
		"when the feed has not changed":   {tagged("1", feed(items("http://example.jp/a"))), 0},
		"when the feed lists others":      {tagged("2", feed(items("http://example.jp/b"))), 0},
		"when the feed is empty":          {tagged("3", feed(nil)), 0},
		"when the feed fails":             {answers(500), 3},
		"when the feed is a page for now": {body("<!doctype html><title>wait</title>"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, readyConfig)
			s.run(0, "init")
			s.serve("example.jp/b", body("here"))
			s.serve("example.jp/feed", tagged("1", feed(items("http://example.jp/a"))))
			require.Len(t, s.enqueue(0).Waiting, 1)

			s.serve("example.jp/feed", c.then)
			s.now = s.now.Add(time.Hour)
			got := s.enqueue(c.code)
			require.Len(t, got.Waiting, 1)
			require.Equal(t, "http://example.jp/a", got.Waiting[0].URL)
			require.Equal(t, "fetch http://example.jp/a: it answered 404 Not Found", got.Waiting[0].Reason, "without advice on a source")

			s.serve("example.jp/a", body("here"))
			s.now = s.now.Add(time.Hour)
			require.Equal(t, []string{"d http://example.jp/a"}, s.enqueue(c.code).queued())
			require.Empty(t, s.enqueue(c.code).Waiting)
			s.run(0, "process")
			require.Len(t, s.posts, 1+strings.Count(name, "others"))
			for _, p := range s.posts {
				require.NotEmpty(t, p.url)
			}
		})
	}
}

func TestADryRunForgetsNothingOfWhatWaits(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", tagged("1", feed(items("http://example.jp/a"))))
	s.enqueue(0)
	s.serve("example.jp/a", body("here"))
	s.now = s.now.Add(time.Hour)
	require.Len(t, s.enqueue(0, "--dry-run").queued(), 1)
	require.Len(t, s.enqueue(0, "--to", "d").queued(), 1)
	require.Empty(t, s.enqueue(0).queued())
}

func TestWaitingEndsWithMaxAge(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	undated := item("http://example.jp/undated")
	undated.Published = ""
	s.serve("example.jp/feed", tagged("1", feed(append(items("http://example.jp/dated"), undated))))
	require.Len(t, s.enqueue(0).Waiting, 2)
	s.now = s.now.Add(6 * day)
	require.Len(t, s.enqueue(0).Waiting, 2)
	require.Contains(t, s.run(0, "status"), "2 articles wait for their pages")
	s.now = s.now.Add(2 * day)
	got := s.enqueue(0)
	require.Empty(t, got.Waiting)
	require.Equal(t, 2, got.Skipped)
	require.Equal(t, "published 2026-11-29, longer ago than max_age", got.Entries[0].Reason)
	require.Contains(t, got.Entries[1].Reason, "its page was not there for longer than max_age: fetch http://example.jp/undated: it answered 404 Not Found")
	s.serve("example.jp/undated", body("here"))
	require.Empty(t, s.enqueue(0).queued(), "every decision is made once")
}

func TestWhatWaitsIsNotLostWhenNobodyWaitsAnyMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", tagged("1", feed(items("http://example.jp/a"))))
	require.Len(t, s.enqueue(0).Waiting, 1)
	s.write("bot.yaml", strings.ReplaceAll(readyConfig, "ready: true", "ready: false"))
	require.Equal(t, []string{"d http://example.jp/a"}, s.enqueue(0).queued())
	require.Empty(t, s.enqueue(0).queued())
}

func TestASourceThatDoesNotWaitIsNotHeldUpByOneThatDoes(t *testing.T) {
	t.Parallel()
	s := newScene(t, `sources:
  - {name: s, feed: "http://example.jp/feed", ready: true, first_run: all}
  - {name: now, feed: "http://example.jp/now", first_run: all}
destinations:
  - {name: d, webhook: "http://hooks.example/d"}
rules:
  - {name: one, from: [s], to: [d]}
  - {name: two, from: [s, now], to: [d]}
`)
	s.run(0, "init")
	s.serve("example.jp/feed", feed(items("http://example.jp/a", "http://example.jp/b")))
	s.serve("example.jp/now", feed(items("http://example.jp/b")))
	got := s.enqueue(0)
	require.Equal(t, []string{"d http://example.jp/b"}, got.queued())
	require.Zero(t, got.Already)
	require.Len(t, got.Waiting, 2)
	s.serve("example.jp/a", body("here"))
	require.Equal(t, []string{"d http://example.jp/a"}, s.enqueue(0).queued())
	require.Empty(t, s.enqueue(0).Waiting, "what another source had queued waits no more")
}

func TestPagesAreAskedPolitely(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", tagged("1", feed(items("http://example.jp/a", "http://example.jp/b", "http://other.example/c"))))
	s.serve("example.jp/b", answers(429, "Retry-After", "7200"))
	s.serve("other.example/c", body("here"))
	got := s.enqueue(0)
	require.Equal(t, []string{"d http://other.example/c"}, got.queued())
	require.Len(t, got.Waiting, 2)
	require.Equal(t, []string{"example.jp/feed", "example.jp/b"}, without(s.asked, "other.example/c"), "nothing more of that host")

	s.asked, s.now = nil, s.now.Add(time.Hour)
	require.Len(t, s.enqueue(0).Waiting, 2)
	require.Equal(t, []string{"example.jp/feed"}, s.asked)

	s.serve("example.jp/a", body("here"))
	s.serve("example.jp/b", body("here"))
	s.asked, s.now = nil, s.now.Add(2*time.Hour)
	require.Len(t, s.enqueue(0).queued(), 2)
	s.asked, s.now = nil, s.now.Add(2*time.Hour)
	s.enqueue(0)
	require.Equal(t, []string{"example.jp/feed"}, s.asked, "what is known is not looked at again")
}

func without(all []string, one string) []string {
	var rest []string
	for _, s := range all {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}

func TestAPageLeadsNowherePrivate(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", feed(items("http://169.254.169.254/a", "http://example.jp/b")))
	s.serve("169.254.169.254/a", body("secret"))
	s.serve("example.jp/b", answers(302, "Location", "http://127.0.0.1/b"))
	s.serve("127.0.0.1/b", body("secret"))
	got := s.enqueue(0)
	require.Len(t, got.Waiting, 2)
	require.Contains(t, got.Waiting[0].Reason+got.Waiting[1].Reason, "127.0.0.1 is a loopback address")
	require.Contains(t, got.Waiting[0].Reason+got.Waiting[1].Reason, "169.254.169.254 is a metadata service's address")
	require.Equal(t, []string{"example.jp/feed", "example.jp/b"}, s.asked)
}

func TestTheAddressesOfAPageAreOneArticle(t *testing.T) {
	t.Parallel()
	const strip = `sources:
  - {name: s, feed: "http://example.jp/feed", ready: true, first_run: all, strip_params: [p], hosts: [m.example.jp]}
destinations:
  - {name: d, webhook: "http://hooks.example/d"}
`
	login := body("please log in")
	for name, c := range map[string]struct {
		config string
		pages  map[string]http.HandlerFunc
		runs   [][]string // what the feed lists
		want   [][]string // what is queued
	}{
		"a redirect to what is known": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/new": body("here"), "example.jp/old": answers(301, "Location", "/new")},
			[][]string{{"http://example.jp/new"}, {"http://example.jp/old"}},
			[][]string{{"http://example.jp/new"}, {}},
		},
		"what a redirect led to": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/new": body("here"), "example.jp/old": answers(301, "Location", "/new")},
			[][]string{{"http://example.jp/old"}, {"https://www.example.jp/new/"}},
			[][]string{{"http://example.jp/old"}, {}},
		},
		"a redirect from a site that shortens addresses": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/new": body("here"), "short.example/x": answers(302, "Location", "http://example.jp/new")},
			[][]string{{"http://short.example/x"}, {"http://example.jp/new"}},
			[][]string{{"http://short.example/x"}, {}},
		},
		"what a page names as its own": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/a?amp=1": page("/a"), "example.jp/a": page("http://example.jp/a")},
			[][]string{{"http://example.jp/a?amp=1"}, {"http://example.jp/a"}},
			[][]string{{"http://example.jp/a?amp=1"}, {}},
		},
		"a page that names what is known": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/a?amp=1": page("https://example.jp/a"), "example.jp/a": body("here")},
			[][]string{{"http://example.jp/a"}, {"http://example.jp/a?amp=1"}},
			[][]string{{"http://example.jp/a"}, {}},
		},
		"both in one document": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/a?amp=1": page("/a"), "example.jp/a": page("/a")},
			[][]string{{"http://example.jp/a", "http://example.jp/a?amp=1"}, {"http://example.jp/a"}},
			[][]string{{"http://example.jp/a?amp=1"}, {}},
		},
		"a page of another site that is named": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/a": page("http://other.example/a"), "other.example/a": body("here")},
			[][]string{{"http://example.jp/a"}, {"http://other.example/a"}},
			[][]string{{"http://example.jp/a"}, {"http://other.example/a"}},
		},
		"pages that all name the front page": {
			readyConfig, map[string]http.HandlerFunc{"example.jp/a": page("/"), "example.jp/b": page("http://example.jp")},
			[][]string{{"http://example.jp/a"}, {"http://example.jp/b"}},
			[][]string{{"http://example.jp/a"}, {"http://example.jp/b"}},
		},
		"pages that lead to one that says nothing of them": {
			readyConfig, map[string]http.HandlerFunc{
				"example.jp/a": answers(302, "Location", "/login"), "example.jp/b": answers(302, "Location", "/login"),
				"example.jp/c": answers(302, "Location", "/login"), "example.jp/login": login,
			},
			[][]string{{"http://example.jp/b", "http://example.jp/a"}, {"http://example.jp/c"}},
			[][]string{{"http://example.jp/a", "http://example.jp/b"}, {"http://example.jp/c"}},
		},
		"a page that names an address with a parameter that is stripped": {
			strip, map[string]http.HandlerFunc{"example.jp/a": page("/a?p=7"), "example.jp/a?p=7": page("/a?p=7")},
			[][]string{{"http://example.jp/a"}},
			[][]string{{}},
		},
		"a page that names another host of the site": {
			strip, map[string]http.HandlerFunc{"m.example.jp/a-m": page("http://example.jp/a"), "example.jp/a": body("here")},
			[][]string{{"http://m.example.jp/a-m"}, {"http://example.jp/a"}},
			[][]string{{"http://m.example.jp/a-m"}, {}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.config)
			s.run(0, "init")
			if strings.Contains(name, "is stripped") {
				// What was announced before the parameter was stripped.
				s.write("state/posted.json", `[{"webhook":"http://hooks.example/d","url":"https://example.jp/a?p=7"}]`)
			}
			for at, h := range c.pages {
				s.serve(at, h)
			}
			for i, urls := range c.runs {
				s.serve("example.jp/feed", feed(items(urls...)))
				want := []string{}
				for _, u := range c.want[i] {
					want = append(want, "d "+u)
				}
				require.Equal(t, want, s.enqueue(0).queued(), "run %d", i)
				require.Empty(t, s.enqueue(0).queued(), "again")
				s.now = s.now.Add(time.Hour)
			}
		})
	}
}

func TestExplainShowsThePage(t *testing.T) {
	t.Parallel()
	s := newScene(t, readyConfig)
	s.run(0, "init")
	s.serve("example.jp/feed", feed(items("http://example.jp/a", "http://example.jp/b", "http://example.jp/c")))
	s.serve("example.jp/b", body("here"))
	s.serve("example.jp/c", page("/b"))
	said := s.run(0, "explain", "http://example.jp/a")
	require.Contains(t, said, "waits until its page answers 200; each run looks at it again")
	require.Contains(t, said, "stop  page        fetch http://example.jp/a: it answered 404 Not Found")
	require.Contains(t, s.run(0, "explain", "http://example.jp/b"), "pass  page        it answers 200")

	s.enqueue(0)
	said = s.run(0, "explain", "http://example.jp/c")
	require.Contains(t, said, "stop  ledger")
	s.serve("example.jp/feed", feed(nil))
	require.Contains(t, s.run(0, "explain", "http://example.jp/a"), "it answered 404 Not Found", "it waits, though it is not listed now")
}
