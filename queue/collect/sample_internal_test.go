package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a document of a feed and what its server says it is.
type sample struct {
	name, contentType string
	body              []byte
}

// testdata returns every feed that the tests read.
func testdata(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for _, pattern := range []string{"testdata/feeds/*", "testdata/cases/*/input.*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			if strings.HasSuffix(path, ".golden.json") || strings.Contains(path, "sitemap") {
				continue
			}
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			all = append(all, sample{name: filepath.ToSlash(strings.TrimPrefix(path, "testdata/")), body: body})
		}
	}
	return all
}

// withBodies returns feeds of so many articles that stand in them whole, of some
// 6 KiB each, every third without a picture.
func withBodies(articles int) []sample {
	return []sample{
		{"rss", "application/rss+xml", rssWithBodies(articles)},
		{"rss without description", "application/rss+xml", []byte(descriptions.Replace(string(rssWithBodies(articles))))},
		{"rss escaped", "application/rss+xml", rssEscaped(articles)},
		{"atom html", "application/atom+xml", atomWithBodies(articles, "html")},
		{"atom xhtml", "application/atom+xml", atomWithBodies(articles, "xhtml")},
		{"json", "application/feed+json", jsonWithBodies(articles)},
	}
}

// descriptions takes the descriptions out of a feed.
var descriptions = strings.NewReplacer("<description>", "<x>", "</description>", "</x>")

// page is the body of an article, well-formed.
func page(n int) string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "<h2 id=\"s%d\">第%d話 &#8212; part %d</h2>\n<p>A paragraph of <em>article %d</em> &amp; its "+
			"<a href=\"https://example.jp/%d/%d?a=1&amp;b=2\">links</a>, in 日本語 as well: 吾輩は猫である。名前はまだ無い。どこで生れたか"+
			"頓と見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。</p>\n", i, i, i, n, n, i)
		if n%3 != 0 && i%4 == 1 {
			fmt.Fprintf(&b, "<figure><img class=\"wide\" src=\"/images/%d-%d.jpg\" alt=\"picture\" width=\"800\" height=\"600\"/></figure>\n", n, i)
		}
	}
	return b.String()
}

func rssWithBodies(articles int) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
	xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wfw="http://wellformedweb.org/CommentAPI/"
	xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"
	xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:slash="http://purl.org/rss/1.0/modules/slash/">
<channel>
	<title>例 &#8211; Example</title>
	<atom:link href="https://example.jp/feed/" rel="self" type="application/rss+xml" />
	<link>https://example.jp/</link>
	<description>An example</description>
	<lastBuildDate>Mon, 03 Aug 2026 09:00:00 +0000</lastBuildDate>
	<language>ja</language>
	<sy:updatePeriod>hourly</sy:updatePeriod>
	<generator>https://wordpress.org/?v=6.6</generator>
`)
	for i := range articles {
		fmt.Fprintf(&b, `	<item>
		<title>第%d話 &#8220;始まり&#8221;</title>
		<link>https://example.jp/2026/08/03/%d/</link>
		<comments>https://example.jp/2026/08/03/%d/#respond</comments>
		<dc:creator><![CDATA[山田 花子]]></dc:creator>
		<pubDate>Mon, 03 Aug 2026 %02d:00:00 +0000</pubDate>
		<category><![CDATA[manga]]></category>
		<category><![CDATA[お知らせ]]></category>
		<guid isPermaLink="false">https://example.jp/?p=%d</guid>
		<description><![CDATA[<p>A paragraph of article %d &#038; its links, in 日本語 as well [&#8230;]</p>]]></description>
		<content:encoded><![CDATA[%s]]></content:encoded>
		<wfw:commentRss>https://example.jp/2026/08/03/%d/feed/</wfw:commentRss>
		<slash:comments>3</slash:comments>
	</item>
`, i, i, i, i%24, i, i, page(i), i)
	}
	b.WriteString("</channel></rss>\n")
	return []byte(b.String())
}

// rssEscaped has its articles in the descriptions, escaped.
func rssEscaped(articles int) []byte {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Example</title><link>https://example.jp/</link><description>d</description>`)
	for i := range articles {
		fmt.Fprintf(&b, "<item><title>t%d</title><link>https://example.jp/%d</link><guid>https://example.jp/%d</guid>"+
			"<pubDate>Mon, 03 Aug 2026 %02d:00:00 GMT</pubDate><description>%s</description></item>\n", i, i, i, i%24, html.EscapeString(page(i)))
	}
	b.WriteString("</channel></rss>\n")
	return []byte(b.String())
}

func atomWithBodies(articles int, kind string) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="ja">
	<title type="text">例 &amp; Example</title>
	<link rel="alternate" type="text/html" href="https://example.jp/"/>
	<link rel="self" type="application/atom+xml" href="https://example.jp/atom.xml"/>
	<id>tag:example.jp,2026:1</id>
	<updated>2026-08-03T09:00:00Z</updated>
	<author><name>山田 花子</name></author>
	<generator uri="https://jekyllrb.com/" version="4.3.3">Jekyll</generator>
`)
	for i := range articles {
		body := html.EscapeString(page(i))
		if kind == "xhtml" {
			body = `<div xmlns="http://www.w3.org/1999/xhtml">` + page(i) + "</div>"
		}
		fmt.Fprintf(&b, `	<entry>
		<title type="html">第%d話 &amp;#8220;始まり&amp;#8221;</title>
		<link rel="alternate" type="text/html" href="https://example.jp/2026/%d.html"/>
		<published>2026-08-03T%02d:00:00+09:00</published>
		<updated>2026-08-03T%02d:30:00+09:00</updated>
		<id>tag:example.jp,2026:2.%d</id>
		<category term="manga" label="漫画"/>
		<content type="%s" xml:base="https://example.jp/2026/">%s</content>
	</entry>
`, i, i, i%24, i%24, i, kind, body)
	}
	b.WriteString("</feed>\n")
	return []byte(b.String())
}

func jsonWithBodies(articles int) []byte {
	type item struct {
		ID        string   `json:"id"`
		URL       string   `json:"url"`
		Title     string   `json:"title"`
		Content   string   `json:"content_html"`
		Published string   `json:"date_published"`
		Modified  string   `json:"date_modified"`
		Tags      []string `json:"tags"`
	}
	feed := struct {
		Version string `json:"version"`
		Title   string `json:"title"`
		Home    string `json:"home_page_url"`
		Items   []item `json:"items"`
	}{Version: "https://jsonfeed.org/version/1.1", Title: "例", Home: "https://example.jp/"}
	for i := range articles {
		feed.Items = append(feed.Items, item{
			ID: fmt.Sprint(i), URL: fmt.Sprintf("https://example.jp/2026/%d", i), Title: fmt.Sprintf("第%d話", i), Content: page(i),
			Published: fmt.Sprintf("2026-08-03T%02d:00:00+09:00", i%24), Modified: fmt.Sprintf("2026-08-03T%02d:30:00+09:00", i%24),
			Tags: []string{"manga", "お知らせ"},
		})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(feed); err != nil {
		panic(err)
	}
	return b.Bytes()
}
