package cmd_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bot/cmd"
	"bot/poster"

	"github.com/stretchr/testify/require"
)

const fetchConfig = `sources:
  - {name: s, feed: "http://example.jp/feed", first_run: all}
  - {name: other, feed: "http://other.example/feed", first_run: all}
destinations:
  - {name: d, webhook: "http://hooks.example/d"}
`

func fetchScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, fetchConfig)
	s.run(0, "init")
	s.serve("other.example/feed", feed(nil))
	return s
}

func TestValidatorsAreThoseOfTheLastRunThatWasSaved(t *testing.T) {
	t.Parallel()
	s := fetchScene(t)
	s.serve("example.jp/feed", answers(304))
	require.Contains(t, s.run(3, "enqueue"), "it answered 304 Not Modified to a request for the whole document")

	var known []string
	noting := func(etag string, h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			known = append(known, r.Header.Get("If-None-Match"))
			tagged(etag, h)(w, r)
		}
	}
	s.serve("example.jp/feed", noting("a", feed(items("http://example.jp/a"))))
	require.Len(t, s.enqueue(0).queued(), 1)
	require.Empty(t, s.enqueue(0).queued())
	s.serve("example.jp/feed", noting("b", feed(items("http://example.jp/b"))))
	require.Len(t, s.enqueue(0, "--dry-run").queued(), 1, "this run saves nothing")
	require.Len(t, s.enqueue(0).queued(), 1)
	require.Empty(t, s.enqueue(0).queued())
	require.Equal(t, []string{"", `"a"`, `"a"`, `"a"`, `"b"`}, known)
}

func TestAHostThatAsksToWaitIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		after  string
		wait   time.Duration
	}{
		"seconds":            {429, "120", 2 * time.Minute},
		"no time":            {429, "0", 0},
		"a date":             {429, "Mon, 30 Nov 2026 00:10:00 GMT", 10 * time.Minute},
		"a date in the past": {503, "Mon, 30 Nov 2020 00:00:00 GMT", 0},
		"nothing":            {429, "", 15 * time.Minute},
		"years":              {429, "99999999", 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fetchScene(t)
			if c.after == "" {
				s.serve("example.jp/feed", answers(c.status))
			} else {
				s.serve("example.jp/feed", answers(c.status, "Retry-After", c.after))
			}
			s.enqueue(3)
			s.serve("example.jp/feed", feed(items("http://example.jp/a")))
			start := s.now
			if c.wait > 0 {
				s.asked, s.now = nil, start.Add(c.wait-time.Second)
				s.enqueue(3)
				require.Equal(t, []string{"other.example/feed"}, s.asked)
			}
			s.now = start.Add(c.wait)
			require.Len(t, s.enqueue(0).queued(), 1)
		})
	}
}

func TestAFeedThatMovesAnnouncesNothingTwice(t *testing.T) {
	t.Parallel()
	s := fetchScene(t)
	s.serve("example.jp/feed", feed(items("http://example.jp/a")))
	require.Len(t, s.enqueue(0).queued(), 1)

	relative := items("http://example.jp/a")
	relative[0].URL, relative[0].GUID = "a", "a"
	s.serve("example.jp/feed", answers(301, "Location", "/new/feed.xml"))
	s.serve("example.jp/new/feed.xml", feed(append(items("http://example.jp/a"), relative...)))
	require.Equal(t, []string{"d http://example.jp/new/a"}, s.enqueue(0).queued(), "relative to where it was found")
	require.Contains(t, s.run(0, "status"), "http://example.jp/new/feed.xml", "the new address is told")

	s.serve("example.jp/feed", answers(302, "Location", "/feed"))
	require.Contains(t, s.run(3, "enqueue"), "more than 10 redirects in a row")
	s.serve("example.jp/feed", answers(301, "Location", "http://example.jp/"))
	s.serve("example.jp/", body("<!doctype html><title>Home</title>"))
	require.Contains(t, s.run(3, "enqueue"), `it is the web page "Home", not a feed`)
	s.serve("example.jp/feed", feed(items("http://example.jp/a")))
	require.Empty(t, s.enqueue(0).queued())
}

func TestGzipThatNobodyAskedForIsUnpackedOnce(t *testing.T) {
	t.Parallel()
	s := fetchScene(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, `<rss version="2.0"><channel><title>T</title><item><title>a</title><link>http://example.jp/a</link></item></channel></rss>`)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	s.serve("example.jp/feed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(packed.Bytes())
	})
	require.Equal(t, []string{"d http://example.jp/a"}, s.enqueue(0).queued())
}

func TestADocumentThatIsTooMuchIsRefusedWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		feed http.HandlerFunc
		want string
	}{
		"it says that it is too long": {answers(200, "Content-Length", "40000000"), "it is 38.15 MiB long; the limit is 32 MiB"},
		"it has no end": {func(w http.ResponseWriter, _ *http.Request) {
			piece := []byte(strings.Repeat("<!-- -->", 1<<13))
			for {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}, "it is longer than 32 MiB, which is the limit"},
		"it is two million elements deep": {
			body(`<rss version="2.0"><channel><item><title>T</title><link>http://example.jp/a</link>` + strings.Repeat("<a:n>", 2_000_000)), "nested deeper than 512, which is the limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fetchScene(t)
			s.serve("example.jp/feed", c.feed)
			s.serve("other.example/feed", feed(items("http://other.example/b")))
			require.Contains(t, s.run(3, "enqueue"), c.want)
			require.Contains(t, s.run(0, "queue", "list"), "http://other.example/b", "another source is not held up")
			s.serve("example.jp/feed", feed(items("http://example.jp/a")))
			require.Equal(t, []string{"d http://example.jp/a"}, s.enqueue(0).queued(), "it was not seen yet")
		})
	}
}

func TestTheRealClientGoesNowherePrivateForOthers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(body("secret"))
	t.Cleanup(server.Close)
	resp, err := poster.Outside(cmd.System().HTTP).Get(server.URL)
	if err == nil {
		resp.Body.Close()
	}
	var refused *poster.AddressError
	require.ErrorAs(t, err, &refused)
	require.NotEqual(t, "", refused.Class)

	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	resp, err = poster.Outside(cmd.System().HTTP).Get("http://localhost" + port)
	if err == nil {
		resp.Body.Close()
	}
	require.ErrorAs(t, err, &refused, "a name is looked at where it leads to")
}
