package dedupe_test

import (
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestStripTrackingLeavesTheSourcesOwnAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw, want string
		extra           []string
	}{
		{name: "an address without tracking stays byte for byte", raw: "HTTP://WWW.Example.jp:80/a/../%7eb/?b=2&&a=%2f&#c", want: "HTTP://WWW.Example.jp:80/a/../%7eb/?b=2&&a=%2f&#c"},
		{name: "non-ASCII letters stay", raw: "https://例え.jp/記事?q=語", want: "https://例え.jp/記事?q=語"},
		{name: "tracking parameters go, the others keep their order", raw: "https://example.jp/a?z=1&utm_source=x&a=2&FBCLID=3&m", want: "https://example.jp/a?z=1&a=2&m"},
		{name: "the question mark goes with the last parameter", raw: "https://example.jp/a/?utm_source=x&gclid=1#c", want: "https://example.jp/a/#c"},
		{name: "an empty query that was there stays", raw: "https://example.jp/a?", want: "https://example.jp/a?"},
		{name: "an escaped name is recognised", raw: "https://example.jp/a?utm%5fsource=x&b", want: "https://example.jp/a?b"},
		{name: "values are not looked into", raw: "https://example.jp/a?next=%2Fb%3Futm_source%3Dx", want: "https://example.jp/a?next=%2Fb%3Futm_source%3Dx"},
		{name: "user info goes", raw: "https://user:pw@example.jp/a", want: "https://example.jp/a"},
		{name: "blanks around it go", raw: " \n https://example.jp/a\t\n", want: "https://example.jp/a"},
		{name: "line breaks inside go and blanks are escaped", raw: "https://example.jp/a\n b?q=検索　語", want: "https://example.jp/a%20b?q=検索%E3%80%80語"},
		{name: "an escaped ampersand is unescaped", raw: "https://example.jp/a?x=1&amp;y=2", want: "https://example.jp/a?x=1&y=2"},
		{name: "tracking behind an escaped ampersand goes", raw: "https://example.jp/a?x=1&#038;utm_source=y", want: "https://example.jp/a?x=1"},
		{name: "a fragment that only tracks goes", raw: "https://example.jp/a#xtor=RSS-3-[x]", want: "https://example.jp/a"},
		{name: "any other fragment stays", raw: "https://example.jp/a#section", want: "https://example.jp/a#section"},
		{name: "a fragment with more in it stays whole", raw: "https://example.jp/a#!/b?c&utm_source=x", want: "https://example.jp/a#!/b?c&utm_source=x"},
		{name: "ref stays, unless it says rss", raw: "https://example.jp/a?ref=main&ref=RSS", want: "https://example.jp/a?ref=main"},
		{name: "the source's own parameters go in any case", raw: "https://example.jp/a?Ref=main&a[]=1&id=2", want: "https://example.jp/a?id=2", extra: []string{"ref", "a[]"}},
		{name: "an empty extra name drops nothing", raw: "https://example.jp/a?=1&b&&c", want: "https://example.jp/a?=1&b&&c", extra: []string{""}},
		{name: "an address without scheme gets https", raw: "//example.jp/a?utm_source=x", want: "https://example.jp/a"},
		{name: "what is no web address is left alone", raw: " javascript:alert(1)?utm_source=x ", want: "javascript:alert(1)?utm_source=x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, dedupe.StripTracking(c.raw, c.extra))
		})
	}
}
