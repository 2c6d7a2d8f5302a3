package collect_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

const page = `<!DOCTYPE html><html><head><title>例 &amp; co</title>
<link rel="stylesheet" href="/style.css">
<link rel="alternate" hreflang="en" href="/en/">
<link rel="alternate" type="application/json" href="/wp-json/wp/v2/pages/2">
<link rel="alternate" type="application/rss+xml" title="例 &raquo; コメントフィード" href="/c">
<link rel="alternate" type="application/rss+xml" title="Example" href="/comments/feed/">
<LINK REL="Alternate Home" TYPE="Application/RSS+XML; charset=utf-8" TITLE="例 &raquo; フィード" HREF=" main/ ">
<link rel="alternate" type="application/atom+xml" title="Tag" href="/tag/feed">
</head><body></body></html>`

var feedTitle = `<rss version="2.0"><channel><title>The &lt;b&gt;main&lt;/b&gt; feed</title><item><link>x</link></item></channel></rss>`

func TestASitesMainFeedIsDiscovered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		site  string
		web   web
		want  string
		title string
		err   string
	}{
		{
			name: "the first feed that the page names, comments aside", site: "https://example.jp/blog/",
			web:  web{"example.jp/blog/": text(page), "example.jp/blog/main/": text(feedTitle), "example.jp/c": text(rss()), "example.jp/comments/feed/": text(rss()), "example.jp/tag/feed": text(rss())},
			want: "https://example.jp/blog/main/", title: "The main feed",
		},
		{
			name: "the next one if that is no feed", site: "https://example.jp/blog/",
			web:  web{"example.jp/blog/": text(page), "example.jp/blog/main/": text(page), "example.jp/tag/feed": text(rss())},
			want: "https://example.jp/tag/feed", title: "Example",
		},
		{
			name: "a site without a scheme is asked by https", site: "example.jp",
			web:  web{"example.jp": text(feedTitle)},
			want: "https://example.jp", title: "The main feed",
		},
		{
			name: "a feed's own address", site: "https://example.jp/feed.xml",
			web:  web{"example.jp/feed.xml": text(feedTitle)},
			want: "https://example.jp/feed.xml", title: "The main feed",
		},
		{
			name: "the usual places beside the page", site: "https://example.jp/blog/index.html",
			web:  web{"example.jp/blog/index.html": text("<html>"), "example.jp/feed": text(rss()), "example.jp/blog/atom.xml": text(feedTitle)},
			want: "https://example.jp/blog/atom.xml", title: "The main feed",
		},
		{
			name: "the usual places at the root", site: "https://example.jp/blog/",
			web:  web{"example.jp/blog/": text("<html>"), "example.jp/index.xml": text(feedTitle)},
			want: "https://example.jp/index.xml", title: "The main feed",
		},
		{
			name: "a page that has moved, with a base", site: "https://example.jp/",
			web: web{
				"example.jp/": status(301, "Location", "https://www.example.jp/home"), "www.example.jp/home": text(`<base href="https://cdn.example/x/"><link rel=alternate type=application/feed+json href=feed.json>`),
				"cdn.example/x/feed.json": text(`{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[]}`),
			},
			want: "https://cdn.example/x/feed.json", title: "J",
		},
		{
			name: "a feed of a part of the site comes last", site: "https://example.jp/",
			web:  web{"example.jp/": text(`<link rel=alternate type=application/rss+xml href=/tag/x/feed><link rel=alternate type=application/rss+xml href=/main.xml>`), "example.jp/tag/x/feed": text(rss()), "example.jp/main.xml": text(feedTitle)},
			want: "https://example.jp/main.xml", title: "The main feed",
		},
		{
			name: "unless it is that part", site: "https://example.jp/tag/x/",
			web:  web{"example.jp/tag/x/": text(`<link rel=alternate type=application/rss+xml href=/tag/x/feed><link rel=alternate type=application/rss+xml href=/main.xml>`), "example.jp/tag/x/feed": text(feedTitle), "example.jp/main.xml": text(rss())},
			want: "https://example.jp/tag/x/feed", title: "The main feed",
		},
		{
			name: "a comment feed is never taken", site: "https://example.jp/",
			web: web{"example.jp/": text(`<link rel=alternate type=application/rss+xml title="Example - Comments" href=/post.xml><link rel=alternate type=application/rss+xml href="/?feed=comments-rss2">`), "example.jp/post.xml": text(rss())},
			err: "read https://example.jp/: no feed was found there; give its address with feed: in place of the site",
		},
		{
			name: "a comment feed in another language is none either", site: "https://example.jp/",
			web: web{
				"example.jp/": text(`<link rel=alternate type=application/rss+xml title="Esempio &raquo; Feed dei commenti" href=/1><link rel=alternate type=application/rss+xml title="例 &raquo; 评论Feed" href=/1>
					<link rel=alternate type=application/rss+xml title="Beispiel &raquo; Kommentar-Feed" href=/1><link rel=alternate type=application/rss+xml title="经济评论" href=/2>`),
				"example.jp/1": text(rss()), "example.jp/2": text(feedTitle),
			},
			want: "https://example.jp/2", title: "The main feed",
		},
		{
			name: "a host called after comments is no comment feed", site: "https://comments.example/",
			web:  web{"comments.example/": text(`<link rel=alternate type=application/rss+xml title="No comment, the blog" href=/comment-ca-va/rss.xml>`), "comments.example/comment-ca-va/rss.xml": text(rss())},
			want: "https://comments.example/comment-ca-va/rss.xml", title: "Example",
		},
		{name: "a site that is not there", site: "https://example.jp/", web: web{}, err: "fetch https://example.jp/: it answered 404 Not Found"},
		{name: "another scheme", site: "ftp://user:pw@example.jp/", web: web{}, err: "is not an http or https address"},
		{
			name: "a site that asks to wait", site: "https://example.jp/",
			web: web{"example.jp/": text("<html>"), "example.jp/feed": status(429, "Retry-After", "60")},
			err: "it will not be asked before 2026-08-04T12:01:00Z",
		},
		{
			name: "a document over a limit", site: "https://example.jp/",
			web: web{"example.jp/": text(rss(make([]string, 10_001)...))},
			err: "the limit is 10000",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			feed, title, err := collector(c.web).Discover(context.Background(), c.site)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, feed)
			require.Equal(t, c.title, title)
		})
	}
}

func TestASitesFeedIsRememberedUntilItIsGone(t *testing.T) {
	t.Parallel()
	w := web{"example.jp/": text(`<link rel=alternate type=application/rss+xml href=/a.xml>`), "example.jp/a.xml": text(feedTitle)}
	seen := &requests{next: w}
	c := collector(seen)
	source := collect.Source{Kind: collect.Site, Location: "https://example.jp/"}

	first := one(t, c, source, collect.Progress{Seen: []string{"wh_a"}})
	require.NoError(t, first.Err)
	require.Equal(t, []string{"https://example.jp/x"}, urls(first))
	require.Equal(t, collect.Progress{Feed: "https://example.jp/a.xml", Site: "https://example.jp/", FetchedURL: "https://example.jp/a.xml", LastSuccess: now, Seen: []string{"wh_a"}}, first.Next)
	require.Equal(t, []string{"https://example.jp/", "https://example.jp/a.xml"}, seen.urls(), "the feed is read once")

	second := one(t, c, source, first.Next)
	require.Equal(t, first.Next, second.Next)
	require.Len(t, seen.all, 3, "the page is not asked again")

	w["example.jp/a.xml"] = status(503)
	failed := one(t, c, source, second.Next)
	require.ErrorContains(t, failed.Err, "503")
	require.Equal(t, "https://example.jp/a.xml", failed.Next.Feed, "trouble is not the end")

	w["example.jp/"] = text(`<link rel=alternate type=application/rss+xml href=/b.xml>`)
	w["example.jp/b.xml"] = text(rss("https://example.jp/y"))
	for _, gone := range []http.HandlerFunc{status(404), status(410), text("<html>")} {
		w["example.jp/a.xml"] = gone
		third := one(t, c, source, second.Next)
		require.NoError(t, third.Err)
		require.Equal(t, "https://example.jp/b.xml", third.Next.Feed)
	}

	moved := source
	moved.Location = "https://other.example/"
	w["other.example/"] = text(rss("https://other.example/z"))
	require.Equal(t, []string{"https://other.example/z"}, urls(one(t, c, moved, second.Next)), "another site, another feed")
}

func TestASiteMayBeAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index.html")
	require.NoError(t, os.WriteFile(path, []byte(`<link rel=alternate type=application/rss+xml href=https://example.jp/a.xml>`), 0o600))
	r := one(t, collector(web{"example.jp/a.xml": text(feedTitle)}), collect.Source{Kind: collect.Site, Location: path}, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/x"}, urls(r))
}

func TestAPagesTitleIsPlainText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"the title element", "<title>\n A &amp;amp; B &lt;T&gt; </title>", "A &amp; B <T>"},
		{"what it calls itself when shared", `<title>Page | Site</title><meta property="og:title" content="Page &amp; &lt;b&gt;">`, "Page & <b>"},
		{"an empty shared title", `<meta property="og:title" content=" "><title>Page</title>`, "Page"},
		{"no title", `<p>x`, ""},
		{"another encoding", "<meta charset=shift_jis><title>\x83J\x83i</title>", "カナ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handler := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				text(c.body)(w, r)
			}
			title, err := collector(web{"example.jp/a": handler}).Title(context.Background(), "https://example.jp/a")
			require.NoError(t, err)
			require.Equal(t, c.want, title)
		})
	}
	_, err := collector(web{}).Title(context.Background(), "https://user:pw@example.jp/a")
	require.ErrorContains(t, err, "fetch https://example.jp/a: it answered 404")
}

func TestDiscoveryKeepsToItsTime(t *testing.T) {
	t.Parallel()
	c := collector(roundTrip(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}))
	c.Limits = collect.Limits{Total: 20 * time.Millisecond}
	_, _, err := c.Discover(context.Background(), "example.jp")
	require.EqualError(t, err, "fetch https://example.jp: it took longer than 20ms in all, which is the limit")
}
