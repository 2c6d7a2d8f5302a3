package collect_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func TestRequestsNameTheBot(t *testing.T) {
	t.Parallel()
	source, w := feedOf(rss())
	seen := &requests{next: w}
	require.NoError(t, one(t, collector(seen), source, collect.Progress{}).Err)
	require.Len(t, seen.all, 1)
	h := seen.all[0].Header
	require.Equal(t, "bot/test (+https://example.jp/bot)", h.Get("User-Agent"))
	require.Contains(t, h.Get("Accept"), "application/rss+xml")
	require.Empty(t, h.Get("If-None-Match"))
	require.Empty(t, h.Get("If-Modified-Since"))
}

func TestADocumentIsAskedForOnlyIfItHasChanged(t *testing.T) {
	t.Parallel()
	source := collect.Source{Kind: collect.Feed, Location: feedURL}
	conditional := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"a"` && r.Header.Get("If-Modified-Since") == "Mon, 03 Aug 2026 00:00:00 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Last-Modified", "Mon, 03 Aug 2026 00:00:00 GMT")
		text(rss("https://example.jp/a"))(w, r)
	}
	w := web{"example.jp/blog/feed.xml": conditional, "example.jp/new.xml": conditional}
	c := collector(w)

	first := one(t, c, source, collect.Progress{Seen: []string{"wh_a"}})
	require.Equal(t, collect.StatusOK, first.Status)
	require.Equal(t, collect.Progress{
		ETag: `"a"`, LastModified: "Mon, 03 Aug 2026 00:00:00 GMT", FetchedURL: feedURL, LastSuccess: now, Seen: []string{"wh_a"},
	}, first.Next)

	second := one(t, c, source, first.Next)
	require.Equal(t, collect.StatusNotModified, second.Status)
	require.Empty(t, second.Articles)
	require.Equal(t, first.Next, second.Next)

	elsewhere := source
	elsewhere.Location = "https://example.jp/new.xml"
	require.Equal(t, collect.StatusOK, one(t, c, elsewhere, first.Next).Status, "validators stay with their address")

	c.Fresh = true
	require.Equal(t, collect.StatusOK, one(t, c, source, first.Next).Status)
}

func TestAnswersOtherThanADocumentAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
		wait    time.Duration // after now; negative: not told to wait
	}{
		{"not modified when nothing was known", status(304), "it answered 304 Not Modified to a request for the whole document", -1},
		{"not found", status(404), "it answered 404 Not Found; check the source's address", -1},
		{"forbidden", status(403), "it answered 403 Forbidden; ask the site", -1},
		{"no content", status(204), "it answered 204 No Content", -1},
		{"a server error", status(500), "it answered 500 Internal Server Error; it is asked again on the next run", -1},
		{"unavailable without a time", status(503), "it answered 503 Service Unavailable", -1},
		{"a status that nobody knows", status(599), "it answered 599;", -1},
		{"too many requests for two minutes", status(429, "Retry-After", "120"), "it answered 429 Too Many Requests; it will not be asked before 2026-08-04T12:02:00Z", 2 * time.Minute},
		{"too many requests for no time", status(429, "Retry-After", "0"), "it will not be asked before 2026-08-04T12:00:00Z", 0},
		{"too many requests until a date", status(429, "Retry-After", "Tue, 04 Aug 2026 12:10:00 GMT"), "before 2026-08-04T12:10:00Z", 10 * time.Minute},
		{"unavailable until a date in the past", status(503, "Retry-After", "Mon, 30 Nov 2020 00:00:00 GMT"), "before 2026-08-04T12:00:00Z", 0},
		{"too many requests without a time", status(429), "before 2026-08-04T12:15:00Z", 15 * time.Minute},
		{"too many requests for ever", status(429, "Retry-After", "99999999999999999999"), "before", 15 * time.Minute},
		{"too many requests for years", status(429, "Retry-After", "99999999"), "before 2026-08-05T12:00:00Z", 24 * time.Hour},
		{"a redirect to nowhere", status(302), "it answered 302 Found", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source := collect.Source{Kind: collect.Feed, Location: "https://user:pw@example.jp/blog/feed.xml?token=t"}
			prev := collect.Progress{ETag: "kept", FetchedURL: "elsewhere", LastSuccess: now.Add(-time.Hour)}
			r := one(t, collector(web{"example.jp/blog/feed.xml": c.handler}), source, prev)
			require.ErrorContains(t, r.Err, c.want)
			require.ErrorContains(t, r.Err, "fetch https://example.jp/blog/feed.xml?token=…: ")
			require.Equal(t, collect.StatusError, r.Status)
			want := prev
			want.LastError, want.FailingSince = r.Err.Error(), now
			if c.wait >= 0 {
				want.NotBefore = now.Add(c.wait)
			}
			require.Equal(t, want, r.Next)
		})
	}
}

func TestAServerThatAskedToWaitIsLeftAlone(t *testing.T) {
	t.Parallel()
	source, w := feedOf(rss("https://example.jp/a"))
	seen := &requests{next: w}
	c := collector(seen)
	prev := collect.Progress{NotBefore: now.Add(time.Minute), FailingSince: now.Add(-time.Hour)}
	r := one(t, c, source, prev)
	require.EqualError(t, r.Err, "fetch "+feedURL+": its server asked to wait until 2026-08-04T12:01:00Z")
	require.Empty(t, seen.all)
	require.Equal(t, prev.NotBefore, r.Next.NotBefore)
	require.Equal(t, prev.FailingSince, r.Next.FailingSince)

	prev.NotBefore = now
	prev.LastError = "old"
	r = one(t, c, source, prev)
	require.NoError(t, r.Err)
	require.Equal(t, collect.Progress{FetchedURL: feedURL, LastSuccess: now}, r.Next)
}

func TestRedirectsAreFollowedWithinLimits(t *testing.T) {
	t.Parallel()
	w := web{
		"example.jp/new/feed.xml": text(rss("relative")),
		"example.jp/moved":        status(301, "Location", "/moved2"),
		"example.jp/moved2":       status(308, "Location", "https://user:pw@example.jp/new/feed.xml"),
		"example.jp/found":        status(302, "Location", "/moved2"),
		"example.jp/loop":         status(302, "Location", "/loop"),
		"example.jp/file":         status(302, "Location", "file:///etc/passwd"),
		"example.jp/0":            status(302, "Location", "/1"),
	}
	for i := 1; i < 10; i++ {
		w[fmt.Sprintf("example.jp/%d", i)] = status(302, "Location", fmt.Sprintf("/%d", i+1))
	}
	w["example.jp/10"] = text(rss())
	w["example.jp/cookie"] = func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
			http.Redirect(w, r, "/cookie", http.StatusFound)
			return
		}
		text(rss())(w, r)
	}
	read := func(path string) collect.Result {
		return one(t, collector(w), collect.Source{Kind: collect.Feed, Location: "https://example.jp" + path}, collect.Progress{})
	}

	r := read("/moved")
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/new/relative"}, urls(r), "relative to where it was found")
	require.Equal(t, "https://example.jp/new/feed.xml", r.Next.Moved)
	require.Equal(t, "https://example.jp/moved", r.Next.FetchedURL)

	r = one(t, collector(w), collect.Source{Kind: collect.Feed, Location: "https://user:pw@example.jp/new/feed.xml"}, collect.Progress{})
	require.NoError(t, r.Err)
	require.Empty(t, r.Next.Moved, "credentials are no other place")

	r = read("/found")
	require.NoError(t, r.Err)
	require.Empty(t, r.Next.Moved, "not for good")

	require.NoError(t, read("/0").Err, "ten are followed")
	for range 2 {
		require.NoError(t, read("/cookie").Err, "a cookie is sent back, and forgotten")
	}
	require.EqualError(t, read("/loop").Err, "fetch https://example.jp/loop: more than 10 redirects in a row")
	require.EqualError(t, read("/file").Err, "fetch https://example.jp/file: it redirects to a file address")
}

func TestTheGivenClientIsNotChanged(t *testing.T) {
	t.Parallel()
	source, w := feedOf(rss())
	c := collector(w)
	require.NoError(t, one(t, c, source, collect.Progress{}).Err)
	require.Nil(t, c.HTTP.CheckRedirect)
}

func TestNetworkErrorsDoNotRepeatTheAddress(t *testing.T) {
	t.Parallel()
	c := collector(roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }))
	r := one(t, c, collect.Source{Kind: collect.Feed, Location: "https://user:secret@example.jp/@feed"}, collect.Progress{})
	require.EqualError(t, r.Err, "fetch https://example.jp/@feed: connection refused")

	r = one(t, c, collect.Source{Kind: collect.Feed, Location: "https://user:secret@exa mple.jp/"}, collect.Progress{})
	require.ErrorContains(t, r.Err, "fetch https://exa mple.jp/: invalid character")
	require.NotContains(t, r.Err.Error(), "secret")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// live collects from a real server on the loopback, without a client of its own.
func live(t *testing.T, limits collect.Limits, handler http.HandlerFunc) collect.Result {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := collector(nil)
	c.HTTP, c.Limits = nil, limits
	return one(t, c, collect.Source{Kind: collect.Feed, Location: server.URL}, collect.Progress{})
}

func TestSlowAndEndlessServersEndInAnErrorThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	stalling := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("<rss>"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte("<a/>"), 1000))
		}
	}
	announced := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "26148911")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("<rss/>"))
	}
	reset := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	for _, c := range []struct {
		name    string
		limits  collect.Limits
		handler http.HandlerFunc
		want    string
	}{
		{"nothing comes", collect.Limits{FirstByte: 20 * time.Millisecond}, silent, "it took longer than 20ms to answer, which is the limit"},
		{"it stalls", collect.Limits{Total: 100 * time.Millisecond}, stalling, "it took longer than 100ms in all, which is the limit"},
		{"it never ends", collect.Limits{Bytes: 1 << 20}, endless, "it is longer than 1 MiB, which is the limit"},
		{"it says that it is too long", collect.Limits{Bytes: 15 << 20}, announced, "it is 24.94 MiB long; the limit is 15 MiB"},
		{"it breaks off", collect.Limits{}, short, "the document broke off before its end"},
		{"it resets", collect.Limits{}, reset, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := live(t, c.limits, c.handler)
			require.ErrorContains(t, r.Err, c.want)
			require.Equal(t, now, r.Next.FailingSince)
		})
	}
}

func zipped(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestCompressedDocumentsAreMeasuredUnpacked(t *testing.T) {
	t.Parallel()
	small := zipped(t, []byte(rss("https://example.jp/a")))
	huge := zipped(t, bytes.Repeat([]byte(" "), 2<<20))
	for _, header := range []string{"", "gzip"} {
		send := func(body []byte) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				if header != "" {
					w.Header().Set("Content-Encoding", header)
				}
				w.Header().Set("Content-Type", "text/xml")
				_, _ = w.Write(body)
			}
		}
		t.Run("encoding "+header, func(t *testing.T) {
			t.Parallel()
			r := live(t, collect.Limits{}, send(small))
			require.NoError(t, r.Err)
			require.Len(t, r.Articles, 1)
			r = live(t, collect.Limits{}, send([]byte(rss("https://example.jp/a"))))
			require.NoError(t, r.Err, "it need not be compressed")
			require.Len(t, r.Articles, 1)
			r = live(t, collect.Limits{}, send(zipped(t, small)))
			require.NoError(t, r.Err, "a compressed file that was compressed for the way")
			require.Len(t, r.Articles, 1)
			r = live(t, collect.Limits{}, send(small[:len(small)/2]))
			require.ErrorContains(t, r.Err, "the document broke off before its end")
			r = live(t, collect.Limits{Bytes: 1 << 20}, send(huge))
			require.ErrorContains(t, r.Err, "it is longer than 1 MiB, which is the limit")
		})
	}
}

func TestAFeedMayBeAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feed.xml")
	source := collect.Source{Kind: collect.Feed, Location: path}
	r := one(t, collector(web{}), source, collect.Progress{})
	require.ErrorIs(t, r.Err, os.ErrNotExist)
	require.ErrorContains(t, r.Err, path)

	require.NoError(t, os.WriteFile(path, []byte(rss("https://example.jp/a")), 0o600))
	r = one(t, collector(web{}), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/a"}, urls(r))
}

func TestAnEndedContextLeavesProgressAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupted := errors.New("interrupted")
	source, w := feedOf(rss("https://example.jp/a"))
	source.Name = "src"
	w["example.jp/blog/feed.xml"] = func(http.ResponseWriter, *http.Request) { cancel(interrupted) }
	prev := map[string]collect.Progress{"src": {ETag: "kept", FetchedURL: feedURL}, "file": {ETag: "kept too"}}
	file := collect.Source{Name: "file", Kind: collect.List, Location: filepath.Join(t.TempDir(), "none")}
	var all []string
	c := collector(w)
	c.Concurrency = 1
	c.Collect(ctx, []collect.Source{source, file}, prev, func(r collect.Result) {
		all = append(all, r.Source)
		require.ErrorIs(t, r.Err, interrupted)
		require.Equal(t, collect.StatusError, r.Status)
		require.Equal(t, prev[r.Source], r.Next)
	})
	require.Equal(t, []string{"src", "file"}, all)
}

func TestErrorsOfAWebPageAreShortened(t *testing.T) {
	t.Parallel()
	source, w := feedOf("<html><title>" + strings.Repeat("long ", 1000) + "\x1b[31m</title>")
	r := one(t, collector(w), source, collect.Progress{})
	require.Error(t, r.Err)
	require.Less(t, len(r.Err.Error()), 300)
	require.NotContains(t, r.Err.Error(), "\x1b")
}
