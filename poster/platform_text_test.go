package poster_test

import (
	"strings"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func TestHashtagsAreMadeOfLabels(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"C++": "#C", ".NET": "#NET", "ぼっち・ざ・ろっく": "#ぼっちざろっく", "トロピカル～ジュ": "#トロピカルジュ", "2026": "",
		"machine learning": "#MachineLearning", "R&D": "#RD", "東京都": "#東京都", "ＡＢＣ": "#ABC", "abc": "#abc", "": "",
		"#already": "#already", "a/b": "#ab", "🎉": "", "_ _": "", "snake_case": "#snake_case", "हिन्दी": "#हिन्दी",
	} {
		require.Equal(t, want, poster.Hashtag(label), label)
	}
	template, err := poster.ParseTemplate("{{.Title}}\n{{.URL}}\n{{hashtags .Categories}}")
	require.NoError(t, err)
	a := poster.Article{URL: "https://example.jp/a", Title: "A title", Categories: []string{"ＡＢＣ", "abc", "東京都", "2026"}}
	text, err := template.Render(a, "news", poster.Traits{})
	require.NoError(t, err)
	require.Equal(t, "A title\nhttps://example.jp/a\n#ABC #東京都", text)
	text, err = template.Render(a, "news", poster.Traits{Limit: poster.Limit{Max: 30, Unit: poster.Graphemes}})
	require.NoError(t, err)
	require.Equal(t, "A title\nhttps://example.jp/a", text, "where there is no room they are left out as a whole")
}

func TestNobodyIsMentionedByATitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Talk: @taro@example.com and me@example.jp": "Talk: @\u200btaro@example.com and me@example.jp",
		"@here": "@\u200bhere", "a @ b": "a @\u200b b", "(@x) @@y": "(@\u200bx) @\u200b@\u200by", "": "",
	} {
		require.Equal(t, want, poster.NoMentions(title))
	}
}

func TestXWeighsEveryCharacter(t *testing.T) {
	t.Parallel()
	limit := poster.Limit{Unit: poster.Weighted, URL: 23}
	for text, want := range map[string]int{
		"": 0, "abc": 3, "café": 4, "東京": 4, "ｱ": 2, "“quote”": 7, "…": 2, "🎉": 2, "👨‍👩‍👧‍👦": 2, "👍🏽": 2, "🇯🇵": 2, "1️⃣": 2,
		"see https://example.jp/a/very/long/address/indeed?x=1": 27, "see example.org": 27,
		strings.Repeat("題", 140): 280,
	} {
		require.Equal(t, want, limit.Count(text), text)
	}
}

func TestBothOfBlueskysLimitsHold(t *testing.T) {
	t.Parallel()
	template, err := poster.ParseTemplate(poster.DefaultTemplate)
	require.NoError(t, err)
	limit := poster.Limit{Max: 300, Unit: poster.Graphemes, MaxBytes: 3000}
	for _, title := range []string{strings.Repeat("👨‍👩‍👧‍👦", 300), strings.Repeat("a", 4096), strings.Repeat("漢", 1300)} {
		text, err := template.Render(poster.Article{URL: "https://example.jp/a", Title: title}, "news", poster.Traits{Limit: limit})
		require.NoError(t, err)
		require.LessOrEqual(t, limit.Count(text), 300)
		require.LessOrEqual(t, len(text), 3000)
		require.True(t, strings.HasSuffix(text, "…\nhttps://example.jp/a"))
	}
}
