package dedupe_test

import (
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestSiteTakesItsOtherHostsForItsMainHost(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "Www.Example.jp", Aliases: []string{"old.example.jp", "例え.jp"}, StripParams: []string{"ref"}}
	for _, raw := range []string{
		"https://example.jp/a",
		"http://www.old.example.jp/a/?Ref=x",
		"https://xn--r8jz45g.jp/a?ref=y&utm_source=z",
	} {
		got, err := site.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, "https://example.jp/a", got, raw)
		require.True(t, site.Has(raw), raw)
	}
	other, err := site.Canonical("https://sub.example.jp/a")
	require.NoError(t, err)
	require.Equal(t, "https://sub.example.jp/a", other)
	require.False(t, site.Has(other))
	require.False(t, site.Has("mailto:a@example.jp"))
}

func TestSiteNamesWhereOlderRecordsMayBe(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "example.jp", Aliases: []string{"old.example.jp", "www.example.jp", "例え.jp"}}
	require.Equal(t,
		[]string{"https://old.example.jp/a?b#!c", "https://xn--r8jz45g.jp/a?b#!c"},
		site.Elsewhere("https://example.jp/a?b#!c"))
	require.Equal(t, "https://old.example.jp:8443/a", site.Elsewhere("https://example.jp:8443/a")[0])
	require.Empty(t, site.Elsewhere("https://elsewhere.example/a"))
	require.Empty(t, site.Elsewhere("rule/daily/source/manga"))
}

func TestSiteZeroAddsNothing(t *testing.T) {
	t.Parallel()
	var site dedupe.Site
	got, err := site.Canonical("http://www.example.jp/a/")
	require.NoError(t, err)
	require.Equal(t, "https://example.jp/a", got)
	require.False(t, site.Has(got))
	require.Empty(t, site.Elsewhere(got))

	nameless := dedupe.Site{Aliases: []string{"old.example.jp"}}
	got, err = nameless.Canonical("https://old.example.jp/a")
	require.NoError(t, err)
	require.Equal(t, "https://old.example.jp/a", got)
}

func TestSiteCountsAnIPv6HostAsAHost(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "[::1]", Aliases: []string{"example.jp"}}
	require.True(t, site.Has("http://[::1]:8080/a"))
	require.Equal(t, []string{"https://example.jp:8080/a"}, site.Elsewhere("https://[::1]:8080/a"))
}
