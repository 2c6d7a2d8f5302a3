package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed/rss"
	"github.com/stretchr/testify/require"

	"bot/queue"
)

// bothWays reads a document with and without leaving anything out. cut tells
// whether anything was.
func bothWays(t *testing.T, s sample, limits Limits) (with, without []queue.Article, cut bool) {
	t.Helper()
	ctx := context.Background()
	base, err := url.Parse("https://example.jp/feed.xml")
	require.NoError(t, err)
	articles := func(f *feed, err error) []queue.Article {
		if err != nil {
			return nil
		}
		r := new(Collector).reading(Source{Name: "src"}, &document{base: base}, f, Progress{})
		return append(r.articles, queue.Article{URL: "title: " + f.Title})
	}
	body := prepared(s.body, s.contentType)
	if len(body) == 0 {
		return nil, nil, false
	}
	if body[0] == '{' || body[0] == '[' {
		f, err := parseCutJSON(body, limits)
		with, without = articles(f, err), articles(parseWholeJSON(body, limits))
		return with, without, err == nil && f.texts != nil
	}
	with = articles(parseXML(ctx, body, limits))
	c, sure := cutXML(body, limits.Depth)
	if sure {
		root, abouts, err := scanXML(ctx, body, limits.Depth)
		require.NoError(t, err, "it is trusted on depth")
		require.Equal(t, root, c.root)
		require.Equal(t, abouts, c.abouts)
	}
	without = articles(parseWhole(ctx, body, limits))
	return with, without, sure
}

func TestWhatIsLeftOutChangesNoArticle(t *testing.T) {
	t.Parallel()
	cut := 0
	samples := append(testdata(t), withBodies(7)...)
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			with, without, was := bothWays(t, s, Limits{}.withDefaults())
			require.Equal(t, without, with)
			if was {
				cut++
			}
		})
	}
	require.Greater(t, cut, len(samples)/2)
}

type oddDocument struct{ name, body string }

// oddDocuments are what a careless writer of feeds may write, and a malicious one.
func oddDocuments() []oddDocument {
	body := strings.Repeat("<p>some text &amp; more</p>", 5)
	cdata := "<![CDATA[" + body + "]]>"
	item := func(inner string) string {
		return `<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
			`xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:atom="http://www.w3.org/2005/Atom">` +
			`<channel><title>t</title><item><link>https://example.jp/a</link>` + inner + `</item></channel></rss>`
	}
	entry := func(inner string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><author><name>n</name></author><entry><id>urn:a</id><link href="https://example.jp/a"/>` + inner + `</entry></feed>`
	}
	return []oddDocument{
		{"an empty description before another vocabulary's", item("<description><![CDATA[]]></description><dc:description>" + cdata + "</dc:description>")},
		{"sections that are all empty", item("<description>" + strings.Repeat("<![CDATA[]]>", 9) + "</description><itunes:summary>s</itunes:summary>")},
		{"a blank description", item("<description><![CDATA[" + strings.Repeat(" ", 99) + "]]></description><content:encoded>" + cdata + "</content:encoded>")},
		{"text around sections", item("<description>a &lt;img src='/1.jpg'&gt; " + cdata + " b &#169; " + cdata + "</description>")},
		{"a picture between two sections", item("<content:encoded><![CDATA[" + body + "<i]]><![CDATA[mg src='/1.jpg'>]]></content:encoded>")},
		{"a picture spelled by references", item("<description>" + strings.Repeat("text ", 20) + "&#60;&#105;mg src='/1.jpg'&#62;</description>")},
		{"a description in another default vocabulary", item(`<description xmlns="http://purl.org/dc/elements/1.1/">` + cdata + `</description>`)},
		{"a root in a vocabulary of its own", strings.Replace(item("<description>"+cdata+"</description>"), "<rss ", `<rss xmlns="urn:own" `, 1)},
		{"a content that is a picture", item(`<media:content url="https://example.jp/1.jpg" medium="image"/><content:encoded>` + cdata + `</content:encoded>`)},
		{"a group of media", item(`<media:group><media:thumbnail url="https://example.jp/1.jpg"/></media:group>`)},
		{"an atom summary in RSS", item("<atom:summary>" + cdata + "</atom:summary><atom:updated>2026-08-03T00:00:00Z</atom:updated>")},
		{"several bodies", item("<content:encoded>" + cdata + "</content:encoded><content:encoded><![CDATA[the last " + body + "]]></content:encoded>")},
		{"a mark in the document", item("<description>" + mark + "0" + mark + "</description><content:encoded>" + cdata + "</content:encoded>")},
		{"a mark by reference", item("<description>&#x10FFFD;0&#1114109;</description><content:encoded>" + cdata + "</content:encoded>")},
		{"a reference to no character", item("<description>" + strings.Repeat("text ", 20) + "&#1;</description>")},
		{"a prefix that nobody declared", item("<x:title>t</x:title><x:encoded>" + cdata + "</x:encoded>")},
		{"another prefix for content", strings.ReplaceAll(item("<content:encoded>"+cdata+"</content:encoded>"), "content:", "c:")},
		{"a prefix that means two things", item(`<media:thumbnail xmlns:media="urn:x" url="https://example.jp/1.jpg"/><media:thumbnail url="https://example.jp/2.jpg"/>`)},
		{"two prefixes of one vocabulary", strings.Replace(item(`<b:origLink>https://example.jp/o</b:origLink>`), "<rss ", `<rss xmlns:b="urn:f" xmlns:feedburner="urn:f" `, 1)},
		{"an item in an item", item("<item><title>in</title><link>https://example.jp/b</link></item>")},
		{"a closing tag that does not match", item("<description><b>" + body + "</i></description>")},
		{"an attribute without quotes", item("<description type=html>" + cdata + "</description>")},
		{"an end of a section in text", item("<description>" + strings.Repeat("a", 50) + "]]></description>")},
		{"two hyphens in a comment", item("<!-- a -- b --><description>" + cdata + "</description>")},
		{"a comment in a description", item("<description>a<!-- " + strings.Repeat("b", 50) + " -->c</description>")},
		{"a document type that declares", "<!DOCTYPE rss [<!ENTITY a 'b'>]>" + item("<title>&a;</title>")},
		{"a document type", `<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">` + item("<title>t</title>")},
		{"an encoding that is declared late", item(`<?xml version="1.0" encoding="shift_jis"?><title>題</title>`)},
		{"another version of XML", `<?xml version="1.1"?>` + item("<title>t</title>")},
		{"an instruction that is none", "<?00?>" + item("<title>t</title>")},
		{"an instruction of other letters", "<?A\u00e9\ufffd?>" + item("<title>t</title>")},
		{"something behind the root", item("<title>t</title>") + "<item/>"},
		{"a root that is not closed", strings.TrimSuffix(item("<title>t</title>"), "</rss>")},
		{"names of other letters", item("<題><title>in</title></題><title>t</title>")},
		{"capitals", strings.NewReplacer("item", "Item", "link", "Link").Replace(item("<Title>t</Title><Description>" + cdata + "</Description>"))},

		{"atom text", entry(`<summary type="text">a &lt;b&gt; &amp;amp; ` + strings.Repeat("text ", 20) + `</summary>`)},
		{"atom html with bases", strings.Replace(entry(`<content type="html" xml:base="b/c">&lt;p&gt;x&lt;img src="1.jpg"&gt;</content>`), "<feed ", `<feed xml:base="https://example.org/a" `, 1)},
		{"atom xhtml with a base", entry(`<content type="xhtml" xml:base="https://example.org/a/b"><div xmlns="http://www.w3.org/1999/xhtml"><p>x &amp; <img src="?a=1&amp;b=2"/></p></div></content>`)},
		{"atom html in a section", entry(`<content type="html"><![CDATA[` + body + `<img src="/1.jpg">]]></content>`)},
		{"atom in base64", entry(`<content mode="base64" type="text/html">PGI+Ym9sZDwvYj4gYW5kIG1vcmUgYW5kIG1vcmUgYW5kIG1vcmU=</content>`)},
		{"atom of an own type", entry(`<content type="text/markdown">` + strings.Repeat("# a &amp; b ", 20) + `</content>`)},
		{"atom with a source", entry(`<source><title>other</title><author><name>m</name></author></source><title>t</title>`)},
		{"prefixed atom", `<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:title>t</a:title><a:link href="https://example.jp/a"/><a:content type="html">` + strings.Repeat("text ", 20) + `</a:content></a:entry></a:feed>`},
		{"atom in a vocabulary of its own", strings.Replace(entry("<title>t</title>"), "http://www.w3.org/2005/Atom", "urn:own", 1)},

		{"JSON with bodies", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"url":"https://example.jp/a","content_html":"<p>\u3042 <img src=\"\/1.jpg\">` + strings.Repeat(`a\n`, 50) + `"}]}`},
		{"JSON with an empty body", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"url":"https://example.jp/a","content_html":"","content_text":"` + strings.Repeat("text ", 50) + `"}]}`},
		{"JSON with two bodies", `{"version":"https://jsonfeed.org/version/1.1","items":[{"content_html":"` + strings.Repeat("one ", 50) + `","id":1,"url":"https://example.jp/a","content_html":"` + strings.Repeat("two ", 50) + `"}]}`},
		{"JSON with a body of other letters", `{"version":"https://jsonfeed.org/version/1.1","items":[{"Content_HTML":"` + strings.Repeat("one ", 50) + `","id":1,"url":"https://example.jp/a","content_html":"` + strings.Repeat("two ", 50) + `"}]}`},
		{"JSON with a bad escape", `{"version":"https://jsonfeed.org/version/1.1","items":[{"content_html":"` + strings.Repeat("one ", 50) + `\x","id":1,"url":"https://example.jp/a"}]}`},
		{"JSON with a bad surrogate", `{"version":"https://jsonfeed.org/version/1.1","items":[{"content_html":"` + strings.Repeat("one ", 50) + `\ud800 x","id":1,"url":"https://example.jp/a"}]}`},
		{"JSON with a raw line break", `{"version":"https://jsonfeed.org/version/1.1","items":[{"content_html":"` + strings.Repeat("one \n", 50) + `","id":1,"url":"https://example.jp/a"}]}`},
		{"JSON with a body elsewhere", `{"version":"https://jsonfeed.org/version/1.1","content_html":"` + strings.Repeat("one ", 50) + `","items":[{"x":{"content_html":"` + strings.Repeat("two ", 50) + `"},"id":1,"url":"https://example.jp/a"}]}`},
		{"JSON with items twice", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"content_html":"` + strings.Repeat("one ", 50) + `"}],"items":[{"id":1,"url":"https://example.jp/a"}]}`},
		{"JSON with a mark", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"url":"https://example.jp/a","summary":"\udbff\udffd0\udbff\udffd","content_html":"` + strings.Repeat("one ", 50) + `"}]}`},
		{"JSON that breaks off", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"content_html":"` + strings.Repeat("one ", 50) + `"`},
	}
}

func TestOddDocumentsAreReadAlike(t *testing.T) {
	t.Parallel()
	for _, c := range oddDocuments() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with, without, _ := bothWays(t, sample{body: []byte(c.body)}, Limits{}.withDefaults())
			require.Equal(t, without, with)
		})
	}
}

func TestEntitiesAreResolvedAsByTheParser(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "&", "&;", "&amp;", "&lt;p&gt; &quot;x&quot; &#39;y&#39; &apos;", "&amp;amp;", "&nbsp;|&copy=2;|&copy;|&unknown;", "a & b; c",
		"&" + strings.Repeat("a", 62) + ";", "&" + strings.Repeat("a", 63) + ";&lt;", "&CounterClockwiseContourIntegral;", "&#xZ;&#8217;&#x2019;&#X41;", "&a\tb;",
	} {
		body := "<rss><channel><item><description>" + text + "</description></item></channel></rss>"
		parsed, err := new(rss.Parser).Parse(strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, parsed.Items[0].Description, decodeEntities(text), text)
	}
}

func TestStringsAreReadAsByTheParser(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`""`, `"plain"`, `"a\"b\\c\/d\b\f\n\r\t"`, `"\u3042\u0000\uD83D\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d\ude00"`,
		`"\ud83d\ud83d\ude00"`, `"\ud83d\n"`, `"\ufffd\uFFFD"`,
	} {
		end, good := stringEnd([]byte(raw), 0)
		require.True(t, good, raw)
		require.Equal(t, len(raw), end)
		var want string
		require.NoError(t, json.Unmarshal([]byte(raw), &want))
		require.Equal(t, want, unquoted([]byte(raw)), raw)
	}
}

func TestTheNamespacesOfWhatIsLeftOutGoToo(t *testing.T) {
	t.Parallel()
	body := rssWithBodies(1)
	c, sure := cutXML(body, 512)
	require.True(t, sure)
	require.Less(t, len(c.document), len(body)/4)
	require.False(t, bytes.Contains(c.document, []byte("slash")))
	require.True(t, bytes.Contains(c.document, []byte("xmlns:dc=")))
}
