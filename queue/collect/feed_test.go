package collect_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestFeedsOfEveryFormatBecomeArticles(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	feeds, err := filepath.Glob("testdata/feeds/*.[xj][ms][lo]*")
	require.NoError(t, err)
	require.NotEmpty(t, feeds)
	for _, path := range feeds {
		if strings.HasSuffix(path, ".golden.json") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			source, w := feedOf(string(body))
			source.Zone = tokyo
			r := one(t, collector(w), source, collect.Progress{})
			require.NoError(t, r.Err)
			got, err := json.MarshalIndent(struct {
				Articles any
				Dropped  int
			}{r.Articles, r.Dropped}, "", "  ")
			require.NoError(t, err)
			golden := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden.json"
			if *update {
				require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got)+"\n")
		})
	}
}

func TestDatesWithoutAZoneAreReadInTheSourcesZone(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	for _, c := range []struct {
		date string
		zone *time.Location
		want string // empty: undated
	}{
		{"Mon, 03 Aug 2026 09:00:00", tokyo, "2026-08-03T00:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00", nil, "2026-08-03T09:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00", newYork, "2026-08-03T13:00:00Z"},
		{"Tue, 03 Feb 2026 09:00:00", newYork, "2026-02-03T14:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 +0000", tokyo, "2026-08-03T09:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 GMT", tokyo, "2026-08-03T09:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 UT", tokyo, "2026-08-03T09:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 Z", tokyo, "2026-08-03T09:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 EST", tokyo, "2026-08-03T14:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 JST", newYork, "2026-08-03T00:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 JST", nil, "2026-08-03T00:00:00Z"},
		{"Mon, 03 Aug 2026 09:00:00 XYZ", tokyo, "2026-08-03T00:00:00Z"},
		{"Mon, 3 Aug 2026 09:00:00 XYZ", tokyo, "2026-08-03T00:00:00Z"},
		{"2026-08-03T09:00:00", tokyo, "2026-08-03T00:00:00Z"},
		{"2026-08-03 09:00:00", tokyo, "2026-08-03T00:00:00Z"},
		{"2026-08-03T09:00:00.1239Z", tokyo, "2026-08-03T09:00:00.123Z"},
		{"2026-08-03T09:00:00-07:00", tokyo, "2026-08-03T16:00:00Z"},
		{"2026-08-03", tokyo, "2026-08-02T15:00:00Z"},
		{"Mon, 03 Aug 2026", tokyo, "2026-08-02T15:00:00Z"},
		{"Mon Aug  3 09:00:00 2026", tokyo, "2026-08-03T00:00:00Z"},
		{"Mon Aug 03, 2026 9:00 pm", tokyo, "2026-08-03T12:00:00Z"},
		{"03.08.2026 09:00:00", tokyo, "2026-08-03T00:00:00Z"},
		{"15:04 02.01.2026 -0700", tokyo, "2026-01-02T22:04:00Z"},
		{"Fri, 02 Jan 2026 15 -0700", tokyo, "2026-01-02T22:00:00Z"},
		{"Mon, 26 Jan 2026 01:35:20 -1800", nil, "2026-01-26T01:35:20Z"},
		{"2026-01-26T01:35:20-18:00", tokyo, "2026-01-25T16:35:20Z"},
		{"Thu, 01 Jan 1970 00:00:00 +0000", nil, ""},
		{"1970-01-01T00:00:00", tokyo, ""},
		{"0001-01-01T00:00:00Z", nil, ""},
		{"0000-00-00 00:00:00", nil, ""},
		{"1899-12-30T00:00:00Z", nil, ""},
		{"tomorrow", nil, ""},
		{"", nil, ""},
	} {
		name := c.date
		if c.zone != nil {
			name += " in " + c.zone.String()
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, w := feedOf(`<rss version="2.0"><channel><item><link>https://example.jp/a</link><pubDate>` + c.date + `</pubDate></item></channel></rss>`)
			source.Zone = c.zone
			r := one(t, collector(w), source, collect.Progress{})
			require.NoError(t, r.Err)
			got := r.Articles[0].Published
			if c.want == "" {
				require.True(t, got.IsZero(), got)
				return
			}
			require.Equal(t, c.want, got.Format(time.RFC3339Nano))
			require.Equal(t, time.UTC, got.Location())
		})
	}
}

func TestTitlesAreOneLineOfPlainText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, want string }{
		{"plain", "plain"},
		{"AT&amp;T", "AT&T"},
		{"AT&amp;amp;T &amp;quot;x&amp;quot;", `AT&T "x"`},
		{"&amp;#39;legit&amp;#39; &amp;#x1F600;", "'legit' 😀"},
		{"a&amp;nbsp;&amp;nbsp;b", "a b"},
		{"R&amp;amp;D &amp;copy=2 &amp;copy; &amp;unknown;", "R&D &copy=2 © &unknown;"},
		{"&lt;b&gt;bold&lt;/b&gt;ly &lt;br/&gt;new", "boldly new"},
		{"one&lt;p&gt;two&lt;/p&gt;three", "one two three"},
		{"Vec&lt;T&gt; and a &lt; b &gt; c &lt;", "Vec<T> and a < b > c <"},
		{"unclosed &lt;b and &lt;i", "unclosed <b and <i"},
		{"x&lt;!-- hidden --&gt;y&lt;!-- open", "xy<!-- open"},
		{"a&lt;script&gt;if (x &lt;/ y) &lt;b&gt;&lt;/SCRIPT&gt;b", "a b"},
		{"a&lt;style&gt;never closed", "a"},
		{" \n\ta \r\n b\t", "a b"},
		{"\u3000第１話\u3000始まり\u3000", "第１話\u3000始まり"},
		{"a\ufeffb&amp;#7;c&amp;#27;[31m", "abc[31m"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			source, w := feedOf(`<rss version="2.0"><channel><item><title>` + c.title + `</title><link>https://example.jp/a</link></item></channel></rss>`)
			r := one(t, collector(w), source, collect.Progress{})
			require.NoError(t, r.Err)
			require.Equal(t, c.want, r.Articles[0].Title)
		})
	}
}

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("長い", 3000)
	source, w := feedOf(`<rss version="2.0"><channel><item><title>` + long + `</title><description>` + long + `</description><link>https://example.jp/a</link><guid isPermaLink="false">` + strings.Repeat("g", 5000) + `</guid></item></channel></rss>`)
	r := one(t, collector(w), source, collect.Progress{})
	require.NoError(t, r.Err)
	a := r.Articles[0]
	require.Equal(t, long[:4095], a.Title)
	require.Equal(t, long[:1023], a.Summary)
	require.Empty(t, a.GUID)
}

func TestWhatIsNoFeedIsAnErrorThatSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"an empty document", "", "it is empty, not a feed"},
		{"blanks", " \n\t", "it is empty, not a feed"},
		{"a page with a title", "<!DOCTYPE html><html><head><title>Just a&#32;moment&hellip;</title></head><body><p>x", `it is the web page "Just a moment…", not a feed; give its feed's address, or have the feed looked for with site:`},
		{"a page without a title", "<html><body>hello", "it is a web page, not a feed"},
		{"JSON of another kind", `{"status":"ok","items_total":3,"data":[{"url":"https://example.jp/a"}]}`, "it is JSON of another kind, not a feed"},
		{"a JSON array", `[1,2]`, "it is JSON of another kind, not a feed"},
		{"JSON that breaks off", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1"`, "of its JSON: unexpected end of JSON input"},
		{"a sitemap", `<?xml version="1.0"?><urlset><url><loc>https://example.jp/a</loc></url></urlset>`, "it is a sitemap, not a feed"},
		{"other XML", `<?xml version="1.0"?><opml/>`, "it is XML that begins with <opml>, not a feed"},
		{"text", "hello, world", "it is neither XML nor JSON, not a feed"},
		{"a feed that breaks off", rss("https://example.jp/a")[:200], "XML syntax error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source, w := feedOf(c.body)
			r := one(t, collector(w), source, collect.Progress{ETag: "kept"})
			require.ErrorContains(t, r.Err, c.want)
			require.ErrorContains(t, r.Err, "read "+feedURL+": ")
			require.Equal(t, "kept", r.Next.ETag)
			require.Equal(t, r.Err.Error(), r.Next.LastError)
		})
	}
}

func TestAFeedWithoutItemsIsAFeed(t *testing.T) {
	t.Parallel()
	source, w := feedOf(rss())
	r := one(t, collector(w), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Empty(t, r.Articles)
}

func TestTheSourcesOwnParametersAreStripped(t *testing.T) {
	t.Parallel()
	source, w := feedOf(rss("https://example.jp/a?ref=x&amp;id=1&amp;utm_source=y"))
	source.StripParams = []string{"ref"}
	r := one(t, collector(w), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, []string{"https://example.jp/a?id=1"}, urls(r))
}

func TestTheServersCharsetIsUsedWhenTheDocumentNamesNone(t *testing.T) {
	t.Parallel()
	const body = "<rss version=\"2.0\"><channel><item><title>\x83J\x83i</title><link>https://example.jp/a</link></item></channel></rss>"
	source, w := feedOf(body)
	handler := w["example.jp/blog/feed.xml"]
	w["example.jp/blog/feed.xml"] = func(rw http.ResponseWriter, req *http.Request) {
		rw.Header().Set("Content-Type", "text/xml; charset=Shift_JIS")
		handler(rw, req)
	}
	r := one(t, collector(w), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, "カナ", r.Articles[0].Title)
}

func TestDocumentsOverALimitAreRefusedWhole(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `<rss version="2.0"><channel><item><x:a xmlns:x="urn:x">` + strings.Repeat("<x:b>", n) + strings.Repeat("</x:b>", n) + `</x:a><link>https://example.jp/a</link></item></channel></rss>`
	}
	var namespaces strings.Builder
	namespaces.WriteString(`<rss version="2.0"><channel>`)
	for i := range 130 {
		namespaces.WriteString(`<n xmlns:n` + strconv.Itoa(i) + `="urn:n">`)
	}
	for _, c := range []struct{ name, body, want string }{
		{"elements nested too deep", deep(509), "nested deeper than 512, which is the limit"},
		{"two million nested elements", deep(2_000_000), "nested deeper than 512, which is the limit"},
		{"two million nested elements without an end", `<rss version="2.0">` + strings.Repeat("<a>", 2_000_000), "nested deeper than 512"},
		{"nesting hidden behind a comment", `<rss version="2.0"><!-- > </rss> <![CDATA[ --><x:a xmlns:x="urn:x">` + strings.Repeat(`<x:b q="/x:b>"><![CDATA[</x:b>]]>`, 600), "nested deeper than 512"},
		{"JSON nested too deep", `{"version":"https://jsonfeed.org/version/1.1","x":` + strings.Repeat(`["\"]",`, 2_000_000), "nested deeper than 512, which is the limit"},
		{"too many namespaces in one place", namespaces.String(), "more than 128 namespaces"},
		{"an element in too many pieces", `<rss version="2.0"><channel><x:a xmlns:x="urn:x">` + strings.Repeat("aaaaaaaaa<![CDATA[b]]>", 20_000) + `</x:a></channel></rss>`, "in too many pieces"},
		{"too many articles", rss(make([]string, 10_001)...), "it lists 10001 articles; the limit is 10000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source, w := feedOf(c.body)
			start := time.Now()
			r := one(t, collector(w), source, collect.Progress{})
			require.ErrorContains(t, r.Err, c.want)
			require.Empty(t, r.Articles)
			require.Less(t, time.Since(start), 5*time.Second)
		})
	}
	t.Run("what is within the limits is read", func(t *testing.T) {
		t.Parallel()
		source, w := feedOf(deep(508))
		r := one(t, collector(w), source, collect.Progress{})
		require.NoError(t, r.Err)
		require.Len(t, r.Articles, 1)
	})
}
