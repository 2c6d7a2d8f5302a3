package collect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atomEntry is a feed of one entry.
func atomEntry(inner string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"><title>T</title>` +
		`<entry>` + inner + `</entry></feed>`
}

const dcNamespace = ` xmlns:dc="http://purl.org/dc/elements/1.1/"`

func TestTheFirstDateThatCanBeReadCounts(t *testing.T) {
	t.Parallel()
	const link = "<link>https://e.example/a</link>"
	const atomLink = `<link href="https://e.example/a"/>`
	for name, test := range map[string]struct{ body, want string }{
		"a date of Dublin Core's beside one that is none":    {rssItem(link + "<pubDate>soon</pubDate><dc:date" + dcNamespace + ">2026-09-01T10:00:00Z</dc:date>"), "2026-09-01T10:00:00Z"},
		"the same with another zone":                         {rssItem(link + "<pubDate>soon</pubDate><dc:date" + dcNamespace + ">2026-09-01T10:00:00+02:00</dc:date>"), "2026-09-01T08:00:00Z"},
		"the same without a zone is of the source's":         {rssItem(link + "<pubDate>soon</pubDate><dc:date" + dcNamespace + ">2026-09-01T10:00:00</dc:date>"), "2026-09-01T01:00:00Z"},
		"the format's own date goes first":                   {rssItem(link + "<pubDate>Tue, 01 Sep 2026 10:00:00 GMT</pubDate><dc:date" + dcNamespace + ">2026-08-01T10:00:00Z</dc:date>"), "2026-09-01T10:00:00Z"},
		"one that stands for none does not":                  {rssItem(link + "<pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate><dc:date" + dcNamespace + ">2026-08-01T10:00:00Z</dc:date>"), "2026-08-01T10:00:00Z"},
		"Atom's beside one that is none":                     {rssItem(link + "<pubDate>soon</pubDate><atom:published>2026-09-01T10:00:00Z</atom:published>"), "2026-09-01T10:00:00Z"},
		"Atom's element without its namespace":               {rssItem(link + "<published>2026-09-01T10:00:00Z</published>"), "2026-09-01T10:00:00Z"},
		"Dublin Core's element without its namespace":        {rssItem(link + "<date>2026-09-01T10:00:00+09:00</date>"), "2026-09-01T01:00:00Z"},
		"when it was updated is better than nothing":         {rssItem(link + "<updated>2026-09-01T10:00:00Z</updated>"), "2026-09-01T10:00:00Z"},
		"an Atom entry's update beside a date that is none":  {atomEntry(atomLink + "<published>soon</published><updated>2026-09-01T10:00:00Z</updated>"), "2026-09-01T10:00:00Z"},
		"an Atom entry with a date of Dublin Core's":         {atomEntry(atomLink + "<dc:date>2026-09-01T10:00:00Z</dc:date>"), "2026-09-01T10:00:00Z"},
		"an Atom entry with a date of RSS":                   {atomEntry(atomLink + "<pubDate>Tue, 01 Sep 2026 10:00:00 GMT</pubDate>"), "2026-09-01T10:00:00Z"},
		"an Atom entry with the date of an older Atom":       {atomEntry(atomLink + "<created>2026-09-01T10:00:00Z</created>"), "2026-09-01T10:00:00Z"},
		"which does not go before its own":                   {atomEntry(atomLink + "<created>2026-08-01T10:00:00Z</created><published>2026-09-01T10:00:00Z</published>"), "2026-09-01T10:00:00Z"},
		"an Atom entry's Dublin Core goes before its update": {atomEntry(atomLink + "<dc:date>2026-08-01T10:00:00Z</dc:date><updated>2026-09-01T10:00:00Z</updated>"), "2026-08-01T10:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, one(t, test.body, "").Published.Format(time.RFC3339))
		})
	}
}

func TestATitleFromElsewhereIsBetterThanNone(t *testing.T) {
	t.Parallel()
	const media = ` xmlns:media="http://search.yahoo.com/mrss/"`
	const itunes = ` xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"`
	for name, test := range map[string]struct{ body, want string }{
		"of a picture":                     {rssItem("<link>https://e.example/a</link><title/><media:title" + media + ">Other &amp;amp; more</media:title>"), "Other & more"},
		"of an episode":                    {rssItem("<link>https://e.example/a</link><itunes:title" + itunes + ">Episode 1</itunes:title>"), "Episode 1"},
		"not where there is one":           {rssItem("<link>https://e.example/a</link><itunes:title" + itunes + ">Episode 1</itunes:title><title>Own</title>"), "Own"},
		"XHTML with a prefix is markup":    {atomEntry(`<link href="https://e.example/a"/><title type="xhtml"><xh:div xmlns:xh="http://www.w3.org/1999/xhtml">One <xh:em>two</xh:em><xh:br/>three &lt; four</xh:div></title>`), "One two three < four"},
		"what is no element of HTML isn't": {rssItem("<link>https://e.example/a</link><title>The &lt;xs:element&gt; of XML</title>"), "The <xs:element> of XML"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, one(t, test.body, "").Title)
		})
	}
}

func TestAnAddressIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	link := func(ref string) string { return rssItem("<title>a</title><link>" + ref + "</link>") }
	for name, test := range map[string]struct{ body, want string }{
		"a host of the web without a scheme":              {link("www.e.example/a"), "https://www.e.example/a"},
		"the document's own host without a scheme":        {link("example.jp/a?b=1"), "https://example.jp/a?b=1"},
		"a relative path that looks like a host":          {link("other.example/a"), "https://example.jp/dir/other.example/a"},
		"a scheme without its colon":                      {link("https//e.example/a"), "https://e.example/a"},
		"a scheme with one slash":                         {link("http:/e.example/a"), "http://e.example/a"},
		"a scheme with three slashes":                     {link("https:///e.example/a"), "https://e.example/a"},
		"a scheme that stands there twice":                {link("https://https://e.example/a"), "https://e.example/a"},
		"and once in a broken way":                        {link("http://https//e.example/a"), "https://e.example/a"},
		"no scheme but what follows it":                   {link("://e.example/a"), "https://e.example/a"},
		"an address that holds another is whole":          {link("https://e.example/https://f.example/a"), "https://e.example/https://f.example/a"},
		"broken over two lines":                           {link("https://e.example/a/\n      long/path"), "https://e.example/a/long/path"},
		"broken over two lines by Windows":                {link("\r\n\thttps://e.example/\r\n\ta\r\n"), "https://e.example/a"},
		"the document itself is no page, but the guid is": {rssItem("<link>#a</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"a relative guid that says it is an address":      {rssItem(`<guid isPermaLink="true">/a</guid>`), "https://example.jp/a"},
		"an entry whose content is elsewhere":             {atomEntry(`<id>tag:a</id><content type="text/html" src="https://e.example/a"/>`), "https://e.example/a"},
		"an entry that has only itself":                   {atomEntry(`<id>tag:a</id><link rel="self" href="https://e.example/a"/>`), "https://e.example/a"},
		"an entry's id goes before itself":                {atomEntry(`<id>https://e.example/a</id><link rel="self" href="https://e.example/a.atom"/>`), "https://e.example/a"},
		"a relative page that an item of RDF is about": {
			`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="/a"><title>a</title></item></rdf:RDF>`,
			"https://example.jp/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, one(t, test.body, "").URL)
		})
	}
}

func TestAnItemWithoutAPageIsCounted(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		rssItem("<title>a</title><link>#a</link>"), rssItem("<title>a</title><guid>a</guid>"), rssItem(`<title>a</title><guid isPermaLink="false">/a</guid>`),
		atomEntry(`<id>tag:a</id><content type="image/png" src="https://e.example/a.png"/>`),
	} {
		f, err := parseFeed(t.Context(), []byte(body), "", Limits{}.withDefaults())
		require.NoError(t, err)
		r := new(Collector).reading(Source{Name: "s"}, &document{}, f, Progress{})
		require.Empty(t, r.articles, body)
		require.Equal(t, 1, r.dropped, body)
	}
}
