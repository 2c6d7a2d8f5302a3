package dedupe_test

import (
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestSiteHasAllItsHosts(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "Www.Example.jp", Aliases: []string{"old.example.jp", "例え.jp"}, StripParams: []string{"ref"}}
	for raw, want := range map[string]string{
		"https://example.jp/a":                           "https://example.jp/a",
		"http://www.old.example.jp/a/?Ref=x":             "https://old.example.jp/a",
		"https://xn--r8jz45g.jp/a?ref=y&utm_source=z":    "https://xn--r8jz45g.jp/a",
		"https://old.example.jp:8443/a?ref=y&utm_term=z": "https://old.example.jp:8443/a",
	} {
		got, err := site.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, want, got, "an address keeps its host")
		require.True(t, site.Has(raw), raw)
	}
	require.False(t, site.Has("https://sub.example.jp/a"))
	require.False(t, site.Has("mailto:a@example.jp"))
}

func TestSiteNamesTheOtherAddressesOfAPage(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "example.jp", Aliases: []string{"old.example.jp", "www.example.jp", "例え.jp"}}
	for canonical, want := range map[string][]string{
		"https://example.jp/a?b#!c":     {"https://old.example.jp/a?b#!c", "https://xn--r8jz45g.jp/a?b#!c"},
		"https://old.example.jp/a":      {"https://example.jp/a", "https://xn--r8jz45g.jp/a"},
		"https://xn--r8jz45g.jp/?p=1":   {"https://example.jp/?p=1", "https://old.example.jp/?p=1"},
		"https://example.jp:8443/a":     {"https://old.example.jp:8443/a", "https://xn--r8jz45g.jp:8443/a"},
		"https://elsewhere.example/a":   nil,
		"https://example.jp.evil.org/a": nil,
		"rule/daily/source/manga":       nil,
	} {
		require.Equal(t, want, site.Elsewhere(canonical), canonical)
	}
}

func TestWhatIsCountedHasOneHost(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "feeds.example", Aliases: []string{"example.jp", "old.example.jp"}}
	for canonical, want := range map[string]string{
		"https://example.jp/a": "https://example.jp/a", "https://old.example.jp/a": "https://example.jp/a",
		"https://feeds.example/a": "https://example.jp/a", "https://other.example/a": "https://other.example/a",
	} {
		require.Equal(t, want, site.Main(canonical))
	}
	require.Equal(t, "https://example.jp/a", dedupe.Site{Host: "example.jp"}.Main("https://example.jp/a"))
}

func TestSiteZeroAddsNothing(t *testing.T) {
	t.Parallel()
	var site dedupe.Site
	got, err := site.Canonical("http://www.example.jp/a/")
	require.NoError(t, err)
	require.Equal(t, "https://example.jp/a", got)
	require.False(t, site.Has(got))
	require.Empty(t, site.Elsewhere(got))
	require.Equal(t, got, site.Main(got))
}

func TestSiteCountsAnIPv6HostAsAHost(t *testing.T) {
	t.Parallel()
	site := dedupe.Site{Host: "[::1]", Aliases: []string{"example.jp"}}
	require.True(t, site.Has("http://[::1]:8080/a"))
	require.Equal(t, []string{"https://example.jp:8080/a"}, site.Elsewhere("https://[::1]:8080/a"))
}

func TestIsRoot(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"https://example.jp/": true, "https://example.jp:8443": true, "http://[::1]:80/": true, "https://example.jp/?utm_source=x": true,
		"https://example.jp/a": false, "https://example.jp/?p=1": false, "https://example.jp/#!a": false,
	} {
		canonical, err := dedupe.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, want, dedupe.IsRoot(canonical), canonical)
	}
	require.True(t, dedupe.SameHost("https://example.jp/a", "https://example.jp:8443/?b"))
	require.False(t, dedupe.SameHost("https://example.jp/a", "https://example.jp.example/a"))
}
