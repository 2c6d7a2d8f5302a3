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
