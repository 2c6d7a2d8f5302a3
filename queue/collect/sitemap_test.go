package collect_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func sitemapOf(entries ...string) string {
	return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + strings.Join(entries, "") + `</urlset>`
}

func indexOf(addresses ...string) string {
	var b strings.Builder
	b.WriteString(`<sitemapindex>`)
	for _, a := range addresses {
		lastmod := ""
		if address, date, ok := strings.Cut(a, " "); ok {
			a, lastmod = address, "<lastmod>"+date+"</lastmod>"
		}
		b.WriteString("<sitemap><loc>" + a + "</loc>" + lastmod + "</sitemap>")
	}
	return b.String() + `</sitemapindex>`
}

const sitemapURL = "https://example.jp/sitemap.xml"

var sitemapSource = collect.Source{Kind: collect.Sitemap, Location: sitemapURL}

func TestAnIndexLeadsToItsSitemaps(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(sitemapOf("<url><loc>https://example.jp/a</loc></url>")))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	w := web{
		"example.jp/sitemap.xml":      text(indexOf("https://example.jp/sitemap-1.xml.gz", sitemapURL, "/relative.xml", "https://example.com/other.xml")),
		"example.jp/sitemap-1.xml.gz": text(packed.String()),
		"example.jp/relative.xml":     text(sitemapOf("<url><loc>/b</loc></url>")),
		"example.com/other.xml":       text(sitemapOf("<url><loc>https://example.com/c</loc></url>", "<url></url>")),
	}
	asked := &requests{next: w}
	r := one(t, collector(asked), sitemapSource, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/a", "https://example.jp/b", "https://example.com/c"}, urls(r))
	require.Equal(t, 1, r.Dropped)
	require.Len(t, asked.urls(), 4, "itself it is not followed to")
}

func TestASitemapThatHasNotChangedSinceIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w := web{
		"example.jp/sitemap.xml": text(indexOf("https://example.jp/old.xml 2020-01-01", "https://example.jp/new.xml "+now.Format(time.DateOnly))),
		"example.jp/old.xml":     text(sitemapOf("<url><loc>https://example.jp/a</loc></url>")),
		"example.jp/new.xml":     text(sitemapOf("<url><loc>https://example.jp/b</loc></url>")),
	}
	first := one(t, collector(w), sitemapSource, collect.Progress{})
	require.Len(t, first.Articles, 2)
	again := one(t, collector(w), sitemapSource, first.Next)
	require.Equal(t, []string{"https://example.jp/b"}, urls(again))
}

func TestASitemapIsRefusedWhole(t *testing.T) {
	t.Parallel()
	many := make([]string, 11)
	for i := range many {
		many[i] = fmt.Sprintf("<url><loc>https://example.jp/%d</loc></url>", i)
	}
	endless := func(rw http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(rw, indexOf("https://example.jp"+r.URL.Path+"x"))
	}
	for name, test := range map[string]struct {
		w    web
		want string
	}{
		"when it is a feed":              {web{"example.jp/sitemap.xml": text(rss("https://example.jp/a"))}, "not a sitemap"},
		"when it is a page":              {web{"example.jp/sitemap.xml": text("<html><title>Oops</title></html>")}, "not a sitemap"},
		"when it is empty":               {web{"example.jp/sitemap.xml": text("")}, "it is empty, not a sitemap"},
		"when it ends in the middle":     {web{"example.jp/sitemap.xml": text("<urlset><url><loc>https://example.jp/a")}, "ends in the middle"},
		"when it lists too many":         {web{"example.jp/sitemap.xml": text(sitemapOf(many...))}, "it lists 11 articles; the limit is 10"},
		"when it is nested too deep":     {web{"example.jp/sitemap.xml": text("<urlset>" + strings.Repeat("<a>", 2_000_000))}, "nested deeper than 512"},
		"when its index has no end":      {web{"example.jp/sitemap.xml": endless, "example.jp/sitemap.xmlx": endless, "example.jp/sitemap.xmlxx": endless}, "deeper than 3"},
		"when it is robots.txt":          {web{"example.jp/sitemap.xml": text("User-agent: *\nSitemap: https://example.jp/map.xml\n")}, "it is a robots.txt, not a sitemap; give the address that stands behind its Sitemap:"},
		"when it is other text":          {web{"example.jp/sitemap.xml": text("Not found.\n")}, "it is text that is no list of addresses, not a sitemap"},
		"when all list too many":         {web{"example.jp/sitemap.xml": text(indexOf("https://example.jp/1.xml", "https://example.jp/2.xml")), "example.jp/1.xml": text(sitemapOf(many[:6]...)), "example.jp/2.xml": text(sitemapOf(many[5:]...))}, "it lists 12 articles; the limit is 10"},
		"when one asks to wait":          {web{"example.jp/sitemap.xml": text(indexOf("https://example.jp/1.xml", "https://example.jp/2.xml")), "example.jp/1.xml": text(sitemapOf(many[:6]...)), "example.jp/2.xml": status(429, "Retry-After", "60")}, "it will not be asked before"},
		"when one it names is not there": {web{"example.jp/sitemap.xml": text(indexOf("https://example.jp/gone.xml"))}, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collector(test.w)
			c.Limits.Articles = 10
			r := one(t, c, sitemapSource, collect.Progress{})
			require.ErrorContains(t, r.Err, test.want)
			require.Empty(t, r.Articles)
		})
	}
}

func TestASitemapMayBeText(t *testing.T) {
	t.Parallel()
	w := web{"example.jp/sitemap.xml": text("\ufeffhttps://example.jp/a\r\nhttps://example.jp/b\r\n")}
	r := one(t, collector(w), sitemapSource, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/a", "https://example.jp/b"}, urls(r))
}

func TestASitemapThatCannotBeReadDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	w := web{
		"example.jp/sitemap.xml": text(indexOf("https://example.jp/1.xml", "https://example.jp/gone.xml", "https://example.jp/page.xml", "https://example.jp/2.xml")),
		"example.jp/1.xml":       text(sitemapOf("<url><loc>https://example.jp/a</loc></url>")),
		"example.jp/page.xml":    text("<html>"),
		"example.jp/2.xml":       text(sitemapOf("<url><loc>https://example.jp/b</loc></url>")),
	}
	before := collect.Progress{LastSuccess: now.Add(-time.Hour), FetchedURL: sitemapURL}
	r := one(t, collector(w), sitemapSource, before)
	require.ErrorContains(t, r.Err, "fetch https://example.jp/gone.xml: it answered 404 Not Found")
	require.Equal(t, collect.StatusError, r.Status)
	require.Equal(t, []string{"https://example.jp/a", "https://example.jp/b"}, urls(r))
	require.Equal(t, 2, r.Listed)
	require.Equal(t, now, r.Next.FailingSince)
	require.Equal(t, before.LastSuccess, r.Next.LastSuccess, "so that it is looked at again")
}
