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
		"a section that is escaped":        {rssItem("<link>https://e.example/a</link><title>&lt;![CDATA[One &amp;amp; two]]&gt;</title>"), "One & two"},
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
		"one without a slash before it":                   {rssItem(`<guid isPermaLink="true">posts/a</guid>`), "https://example.jp/dir/posts/a"},
		"one that is a query":                             {rssItem(`<guid isPermaLink="true">?p=1</guid>`), "https://example.jp/dir/feed.xml?p=1"},
		"a guid that begins with a host":                  {rssItem(`<guid>www.e.example/a</guid>`), "https://www.e.example/a"},
		"the guid, where the link is refused":             {rssItem("<link>javascript:void(0)</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"the guid, where the link has no host":            {rssItem("<link>http://</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"the guid, where the link is the feed":            {rssItem("<link>https://example.jp/dir/feed.xml#1</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"the guid, where a program had no link":           {rssItem("<link>undefined</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"the guid, where the link is words":               {rssItem("<link>Read more</link><guid>https://e.example/a</guid>"), "https://e.example/a"},
		"the link's refusal, where nothing is better":     {rssItem("<link>javascript:void(0)</link><guid>mailto:a@e.example</guid>"), "javascript:void(0)"},
		"the first of two links":                          {rssItem("<link>https://e.example/a</link><link>https://e.example/b</link>"), "https://e.example/a"},
		"in quotes":                                       {link("&quot;https://e.example/a&quot;"), "https://e.example/a"},
		"in a section that is escaped":                    {link("&lt;![CDATA[https://e.example/a]]&gt;"), "https://e.example/a"},
		"in angle brackets":                               {link("&lt;https://e.example/a&gt;"), "https://e.example/a"},
		"a link of HTML":                                  {link(`&lt;a class="x" href="/node/1?a=1"&gt;Title&lt;/a&gt;`), "https://example.jp/node/1?a=1"},
		"with the slashes of Windows":                     {link(`https:\\e.example\a?b=\`), `https://e.example/a?b=\`},
		"a relative path with them":                       {link(`a\b.html`), "https://example.jp/dir/a/b.html"},
		"for programs that read feeds":                    {link("feed:https://e.example/a"), "https://e.example/a"},
		"an entry whose content is elsewhere":             {atomEntry(`<id>tag:a</id><content type="text/html" src="https://e.example/a"/>`), "https://e.example/a"},
		"an entry whose link has it as a text":            {atomEntry(`<id>tag:a</id><link rel="alternate"> https://e.example/a?b=1&amp;c=2 </link>`), "https://e.example/a?b=1&c=2"},
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
		rssItem("<title>a</title><link>#a</link>"), rssItem("<title>a</title><link>null</link>"), rssItem(`<guid isPermaLink="true">urn:x/1</guid>`),
		rssItem(`<guid isPermaLink="true">12</guid>`), atomEntry("<id>www.e.example-12</id>"), rssItem("<title>a</title><guid>a</guid>"), rssItem(`<title>a</title><guid isPermaLink="false">/a</guid>`),
		atomEntry(`<id>tag:a</id><content type="image/png" src="https://e.example/a.png"/>`),
	} {
		f, err := parseFeed(t.Context(), []byte(body), "", Limits{}.withDefaults())
		require.NoError(t, err)
		r := new(Collector).reading(Source{Name: "s"}, &document{}, f, Progress{})
		require.Empty(t, r.articles, body)
		require.Equal(t, 1, r.dropped, body)
	}
}

func TestJSONThatIsPlainlyAFeed(t *testing.T) {
	t.Parallel()
	const version = `"version":"https://jsonfeed.org/version/1.1",`
	for name, test := range map[string]struct{ body, title, problem string }{
		"a bare line break in a text":      {body: "{" + version + "\"items\":[{\"id\":\"1\",\"url\":\"https://e.example/a\",\"title\":\"one\n\ttwo\"}]}", title: "one two"},
		"commas where nothing follows":     {body: `{` + version + `"items":[{"id":"1","url":"https://e.example/a","title":"one",},],}`, title: "one"},
		"text behind the document":         {body: `{` + version + `"items":[{"id":"1","url":"https://e.example/a","title":"one"}]}` + "\n<!-- cached -->", title: "one"},
		"an apostrophe that is escaped":    {body: `{` + version + `"items":[{"id":"1","url":"https://e.example/a","title":"it\'s \"one\" \\ "}]}`, title: `it's "one" \`},
		"a text that looks like a mistake": {body: `{` + version + `"items":[{"id":"1","url":"https://e.example/a","title":"one,] \"}` + "\n" + `two"}]}`, title: `one,] "} two`},
		"no version, but where it is":      {body: `{"feed_url":"https://e.example/feed","items":[{"id":"1","url":"https://e.example/a","title":"one"}]}`, title: "one"},
		"no version, but of which site":    {body: `{"home_page_url":"https://e.example/","items":[{"id":"1","url":"https://e.example/a","title":"one"}]}`, title: "one"},
		"no version and no address":        {body: `{"title":"t","items":[{"id":"1","url":"https://e.example/a","title":"one"}]}`, problem: "it is JSON of another kind, not a feed"},
		"no version and other items":       {body: `{"feed_url":"https://e.example/feed","items":[{"sku":"1"}]}`, problem: "it is JSON of another kind, not a feed"},
		"another version":                  {body: `{"version":"1","feed_url":"https://e.example/feed","items":[{"id":"1","url":"https://e.example/a"}]}`, problem: "it is JSON of another kind, not a feed"},
		"what has more than one reading":   {body: `{` + version + `"items":[{"id":"1" "url":"https://e.example/a"}]}`, problem: "byte "},
		"what ends in the middle":          {body: `{` + version + `"items":[{"id":"1","url":"https://e.example/a"`, problem: "byte "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.problem == "" {
				require.Equal(t, test.title, one(t, test.body, "").Title)
				return
			}
			_, err := parseFeed(t.Context(), []byte(test.body), "", Limits{}.withDefaults())
			require.ErrorContains(t, err, test.problem)
		})
	}
}

func TestNoItemIsPassedOver(t *testing.T) {
	t.Parallel()
	item := func(n string) string {
		return "<title>" + n + "</title><link>https://e.example/" + n + "</link>"
	}
	rss := func(inner string) string {
		return `<rss version="2.0"><channel><title>T</title>` + inner + "</channel></rss>"
	}
	for name, test := range map[string]struct {
		body    string
		want    []string
		dropped int
	}{
		"a list around the items":        {body: rss("<items><item>" + item("a") + "</item><item>" + item("b") + "</item></items>"), want: []string{"a", "b"}},
		"a second channel":               {body: `<rss version="2.0"><channel><item>` + item("a") + "</item></channel><channel><item>" + item("b") + "</item></channel></rss>", want: []string{"a", "b"}},
		"entries of Atom in RSS":         {body: rss(`<entry><title>a</title><link href="https://e.example/a"/></entry><item>` + item("b") + "</item>"), want: []string{"a", "b"}},
		"an item that is not closed":     {body: rss("<item>" + item("a") + "<item>" + item("b") + "</item>"), want: []string{"a", "b"}},
		"a closing tag that is mistyped": {body: rss("<item>" + item("a") + "</itme><item>" + item("b") + "</item><item>" + item("c") + "</item>"), want: []string{"a", "b", "c"}},
		"an entry that is not closed":    {body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>a</title><link href="https://e.example/a"/></enrty><entry><title>b</title><link href="https://e.example/b"/></entry></feed>`, want: []string{"a", "b"}},
		"items of RSS in Atom":           {body: `<feed xmlns="http://www.w3.org/2005/Atom"><item><title>a</title><link href="https://e.example/a"/></item><item>` + item("b") + "</item></feed>", want: []string{"a", "b"}},
		"and in a channel of their own":  {body: `<feed xmlns="http://www.w3.org/2005/Atom"><channel><item>` + item("a") + "</item></channel></feed>", want: []string{"a"}},
		"a section that lacks a bracket": {body: rss("<item><title><![CDATA[a]]</title><link>https://e.example/a</link></item><item><title><![CDATA[b]]></title><link>https://e.example/b</link></item>"), want: []string{"a", "b"}},
		"what only looks like an item":   {body: rss("<item>" + item("a") + "<description><![CDATA[<item>" + item("x") + "</item>]]></description><!-- <item>" + item("y") + "</item> --></item>"), want: []string{"a"}},
		"the list of RDF is no item": {body: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><items><rdf:Seq><rdf:li resource="https://e.example/a"/></rdf:Seq></items></channel><item rdf:about="https://e.example/a">` +
			item("a") + "</item></rdf:RDF>", want: []string{"a"}},
		"an item in an item without an address is counted": {body: rss("<item>" + item("a") + "<item><title>x</title></item></item>"), want: []string{"a"}, dropped: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := parseFeed(t.Context(), []byte(test.body), "", Limits{}.withDefaults())
			require.NoError(t, err)
			r := new(Collector).reading(Source{Name: "s"}, &document{}, f, Progress{})
			var titles []string
			for _, a := range r.articles {
				require.Equal(t, "https://e.example/"+a.Title, a.URL)
				titles = append(titles, a.Title)
			}
			require.Equal(t, test.want, titles)
			require.Equal(t, test.dropped, r.dropped)
		})
	}
	_, err := parseFeed(t.Context(), []byte(rss("<items><item>"+item("a")+"</item><item>"+item("b")+"</item></items>")), "", Limits{Articles: 1}.withDefaults())
	require.ErrorContains(t, err, "it lists 2 articles; the limit is 1")
}

func TestAFeedThatSaysNothingIsNone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<rss version="2.0"></rss>`:                                               "it is an empty <rss>, not a feed",
		`<rss version="2.0"><!-- moved --></rss>`:                                 "it is an empty <rss>, not a feed",
		`<feed xmlns="urn:of:animals"><hay kg="2"/></feed>`:                       "it is an empty <feed>, not a feed",
		`<rss version="2.0"><channel/></rss>`:                                     "",
		`<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:a</id><title/></feed>`: "",
	} {
		f, err := parseFeed(t.Context(), []byte(body), "", Limits{}.withDefaults())
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err, body)
		require.Empty(t, f.Items)
	}
}
