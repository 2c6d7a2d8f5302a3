package dedupe_test

import (
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestGUIDChangesOnlyWhatASiteChangesWithoutMeaningIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"an opaque text stays as it is", "tag:example.jp,2026:Post-1", "tag:example.jp,2026:Post-1"},
		{"the case of an opaque text counts", "AbC", "AbC"},
		{"blanks around it go, and none inside", " \t\n a b \r\n", "a b"},
		{"http is https", "http://example.jp/?p=123", "https://example.jp/?p=123"},
		{"an https address stays as it is", "https://example.jp/?p=123", "https://example.jp/?p=123"},
		{"the scheme and the host may be in any case", "HTTP://WWW.Example.JP/A?B=C", "https://www.example.jp/A?B=C"},
		{"a host alone may be in any case", "https://Example.jp", "https://example.jp"},
		{"a query right after the host keeps its case", "https://Example.jp?P=A", "https://example.jp?P=A"},
		{"the path keeps its case, its slash and its fragment", "https://example.jp/A/#B", "https://example.jp/A/#B"},
		{"www counts", "https://www.example.jp/", "https://www.example.jp/"},
		{"what only tracks counts", "https://example.jp/a?utm_source=x", "https://example.jp/a?utm_source=x"},
		{"another scheme stays", "ftp://Example.jp/a", "ftp://Example.jp/a"},
		{"an address in the middle of a text is none", "1 http://Example.jp", "1 http://Example.jp"},
		{"no address after the scheme", "http://", "https://"},
		{"nothing", "  ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, dedupe.GUID(c.raw))
			require.Equal(t, c.want, dedupe.GUID(c.want), "once is enough")
		})
	}
}

func TestOriginNamesOneArticleOfOneSourceAtOneDestination(t *testing.T) {
	t.Parallel()
	o := dedupe.Origin{Webhook: "wh_1", Source: "manga", GUID: "a|b"}
	require.Equal(t, "wh_1||manga|a|b", o.String())
	// This must never change: records in Firestore are found by it.
	require.Equal(t, "f2a650bd-6947-5362-b420-e97489fd0684", o.ID())
	for _, other := range []dedupe.Origin{
		{Webhook: "wh_2", Source: "manga", GUID: "a|b"},
		{Webhook: "wh_1", Bucket: "weekly 2026-08-03", Source: "manga", GUID: "a|b"},
		{Webhook: "wh_1", Source: "news", GUID: "a|b"},
		{Webhook: "wh_1", Source: "manga", GUID: "a"},
	} {
		require.NotEqual(t, o.ID(), other.ID())
	}
}
