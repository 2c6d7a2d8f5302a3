package collect

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/unicode/utf32"
)

// rssItem is a feed of one item.
func rssItem(inner string) string {
	return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>` +
		`<item>` + inner + `</item></channel></rss>`
}

// one returns the only article of a feed.
func one(t *testing.T, body, contentType string) queue.Article {
	t.Helper()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	f, err := parseFeed(t.Context(), []byte(body), contentType, Limits{}.withDefaults())
	require.NoError(t, err)
	base := &url.URL{Scheme: "https", Host: "example.jp", Path: "/dir/feed.xml"}
	r := new(Collector).reading(Source{Name: "s", Zone: tokyo}, &document{base: base}, f, Progress{})
	require.Len(t, r.articles, 1)
	return r.articles[0]
}

func TestDatesAsFeedsHaveThem(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/dates.tsv")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(table)) {
		text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		rows++
		got := "-"
		if at := one(t, rssItem("<link>https://e.example/a</link><pubDate>"+text+"</pubDate>"), "").Published; !at.IsZero() {
			got = at.UTC().Format(time.RFC3339)
		}
		require.Equal(t, want, got, text)
	}
	require.Greater(t, rows, 150)
}

func TestTitlesInEveryEncoding(t *testing.T) {
	t.Parallel()
	encoded := func(e interface{ String(string) (string, error) }, text string) string {
		out, err := e.String(text)
		require.NoError(t, err)
		return out
	}
	const declared = `<?xml version="1.0" encoding="LABEL"?>`
	feed := func(label, title string) string {
		head := ""
		if label != "" {
			head = strings.Replace(declared, "LABEL", label, 1)
		}
		return head + rssItem("<title>"+title+"</title><link>https://e.example/a</link>")
	}
	for name, test := range map[string]struct{ body, want string }{
		"Shift_JIS under a name of Microsoft's":       {encoded(japanese.ShiftJIS.NewEncoder(), feed("cp932", "日本語")), "日本語"},
		"Korean under a name of Microsoft's":          {encoded(korean.EUCKR.NewEncoder(), feed("ms949", "한국어")), "한국어"},
		"Latin 1 under a name that is none":           {encoded(charmap.ISO8859_1.NewEncoder(), feed("latin-1", "café")), "café"},
		"Shift_JIS that nobody named":                 {encoded(japanese.ShiftJIS.NewEncoder(), feed("", "日本語の記事")), "日本語の記事"},
		"Shift_JIS that is called UTF-8":              {encoded(japanese.ShiftJIS.NewEncoder(), feed("utf-8", "日本語の記事")), "日本語の記事"},
		"EUC-JP that nobody named":                    {encoded(japanese.EUCJP.NewEncoder(), feed("", "日本語の記事")), "日本語の記事"},
		"Latin 1 that is called UTF-8":                {encoded(charmap.ISO8859_1.NewEncoder(), feed("utf-8", "café crème")), "café crème"},
		"UTF-8 with one bad byte":                     {feed("utf-8", "日本\xff語"), "日本\ufffd語"},
		"UTF-8 whose only character is torn":          {feed("utf-8", "a \xe6\x97"), "a \ufffd"},
		"UTF-32 with a mark":                          {encoded(utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewEncoder(), feed("", "日本")), "日本"},
		"UTF-32 without":                              {encoded(utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewEncoder(), feed("", "日本")), "日本"},
		"a character in two references, as UTF-16 is": {feed("", "a&#xD83D;&#xDE00;b"), "a😀b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, one(t, test.body, "").Title)
		})
	}
}

func TestDocumentsWithMistakesThatHaveOneReading(t *testing.T) {
	t.Parallel()
	const link = "<link>https://e.example/a</link>"
	atom := func(links string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>t</title>` + links + `</entry></feed>`
	}
	json := func(members string) string {
		return `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","url":"https://e.example/a"` + members + `}]}`
	}
	for name, test := range map[string]struct{ body, title string }{
		"an angle bracket in text":             {rssItem("<title>a < b</title>" + link), "a < b"},
		"a heart":                              {rssItem("<title>I <3 you</title>" + link), "I <3 you"},
		"a section in a section":               {rssItem("<title><![CDATA[a <![CDATA[b]]> c]]></title>" + link), "a b c"},
		"an attribute without quotes":          {rssItem("<title>t</title>" + link + "<guid isPermaLink=false>x</guid>"), "t"},
		"XML of a version that is none":        {`<?xml version="1.1"?>` + rssItem("<title>t</title>"+link), "t"},
		"messages before it":                   {"<br />\n<b>Warning</b>: file.php on line <b>3</b><br />\n" + rssItem("<title>t</title>"+link), "t"},
		"Atom with https and a slash":          {strings.Replace(atom(`<link href="https://e.example/a"/>`), "http://www.w3.org/2005/Atom", "https://www.w3.org/2005/Atom/", 1), "t"},
		"a relation by its address":            {atom(`<link rel="http://www.iana.org/assignments/relation/alternate" href="https://e.example/a"/>`), "t"},
		"a relation in capitals":               {atom(`<link rel="self" href="https://e.example/s"/><link rel="Alternate" href="https://e.example/a"/>`), "t"},
		"several relations":                    {atom(`<link rel="self" href="https://e.example/s"/><link rel="alternate bookmark" href="https://e.example/a"/>`), "t"},
		"a script before the page":             {atom(`<link href="javascript:x"/><link href="https://e.example/a"/>`), "t"},
		"Atom's link alone in RSS":             {rssItem(`<title>t</title><atom:link rel="self" href="https://e.example/s"/><atom:link rel="alternate" href="https://e.example/a"/>`), "t"},
		"JSON with a number for a text":        {json(`,"title":5`), "5"},
		"JSON with a text for a list":          {json(`,"title":"t","tags":"x"`), "t"},
		"JSON with a name for a person":        {json(`,"title":"t","author":"Bob","authors":["Al",1,null]`), "t"},
		"JSON with a date in seconds":          {json(`,"title":"t","date_published":1700000000`), "t"},
		"JSON with an item that is none":       {strings.Replace(json(`,"title":"t"`), `[{`, `[null,{`, 1), "t"},
		"JSON with what is attached all wrong": {json(`,"title":"t","attachments":[{"url":1,"size_in_bytes":"x"},2]`), "t"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := one(t, test.body, "")
			require.Equal(t, test.title, a.Title)
			require.Equal(t, "https://e.example/a", a.URL)
		})
	}
}

func TestWhatIsNoFeedIsNotMendedIntoOne(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a page with a feed in it":         "<html><body>" + rssItem("<title>t</title>") + "</body></html>",
		"JSON whose items are no list":     `{"version":"https://jsonfeed.org/version/1.1","items":{"a":1}}`,
		"JSON of a version that is none":   `{"version":1.1,"items":[{"id":"1","url":"https://e.example/a"}]}`,
		"JSON that tells of an error":      `{"error":"not found","items":null}`,
		"a list of objects":                `[{"id":1,"url":"https://e.example/a"}]`,
		"a document that ends in the item": strings.TrimSuffix(rssItem("<title>t</title>"), "</item></channel></rss>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseFeed(t.Context(), []byte(body), "", Limits{}.withDefaults())
			require.Error(t, err)
		})
	}
}

func TestADeclarationMayHaveMistakes(t *testing.T) {
	t.Parallel()
	for _, declaration := range []string{
		`<?xml version="1.1"?>`, `<?xml version="2.0" encoding="utf-8"?>`, `<?xml version=1.0 encoding=utf-8?>`,
		`<?xml version="1.0' encoding="utf-8"?>`, `<?xml version="1.0" encoding="x-unknown" ?>`, `<?xml encoding='UTF-8'?>`,
		`<?xml version="1.0"encoding="utf-8"?>`, `<?xml version = "1.0" encoding = "utf-8"?>`, `<?xml version="" encoding=""?>`,
		`<?xml version="1.0" encoding="utf-8" standalone="1"?>`, `<?xml  ?>`,
		"<?xml\tversion=\"1.1\"?>", "<?xml\r\n version='1.1' ?>", "<?xml\nversion=\"1.0' ?>",
	} {
		require.Equal(t, "題", one(t, declaration+rssItem("<link>https://e.example/a</link><title>題</title>"), "").Title, declaration)
	}
}
