package poster_test

import (
	"strings"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func TestEachUnitCountsAsItsPlatformsDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                                 string
		points, graphemes, utf16, bytes, url int
	}{
		{"", 0, 0, 0, 0, 0},
		{"abc", 3, 3, 3, 3, 3},
		{"漢字", 2, 2, 2, 6, 2},
		{"😀", 1, 1, 2, 4, 1},
		{"👨‍👩‍👧‍👦", 7, 1, 11, 25, 1},
		{"🇯🇵🇫🇷", 4, 2, 8, 16, 2},
		{"cafe\u0301", 5, 4, 5, 6, 4},
		{"か\u3099", 2, 1, 2, 6, 1},
		{"a https://example.jp/" + strings.Repeat("x", 100) + " b", 123, 123, 123, 123, 27},
		{"https://e.jp/a", 14, 14, 14, 14, 23},
	} {
		require.Equal(t, test.points, poster.Limit{}.Count(test.text), "%q", test.text)
		require.Equal(t, test.graphemes, poster.Limit{Unit: poster.Graphemes}.Count(test.text), "%q", test.text)
		require.Equal(t, test.utf16, poster.Limit{Unit: poster.UTF16}.Count(test.text), "%q", test.text)
		require.Equal(t, test.bytes, poster.Limit{Unit: poster.Bytes}.Count(test.text), "%q", test.text)
		require.Equal(t, test.url, poster.Limit{Unit: poster.Graphemes, URL: 23}.Count(test.text), "%q", test.text)
	}
}

func TestTheLastLongValueGivesWayFirst(t *testing.T) {
	t.Parallel()
	a := article()
	a.Title, a.Summary = strings.Repeat("title ", 20), strings.Repeat("summary ", 40)
	const template = "{{.Title}}\n{{.Summary}}\n{{.URL}}{{range .Categories}} #{{.}}{{end}}"
	for name, test := range map[string]struct {
		most int
		want string
	}{
		"the summary":             {300, `^(title ?){20}\n(summary ?)+…\nhttps://example\.jp/a #manga #news$`},
		"all of the summary":      {160, `^(title ?){20}\n\nhttps://example\.jp/a #manga #news$`},
		"then the title":          {100, `^(title ?)+…\n\nhttps://example\.jp/a #manga #news$`},
		"then what is short":      {34, `^https://example\.jp/a #manga #ne…$`},
		"then all but the link":   {20, `^https://example\.jp/a$`},
		"and nothing where it is": {600, `^(title ?){20}\n(summary ?)+\nhttps://example\.jp/a #manga #news$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := render(t, template, a, poster.Traits{Limit: poster.Limit{Max: test.most}})
			require.NoError(t, err)
			require.Regexp(t, test.want, text)
		})
	}
}

func TestWhatIsEscapedIsNeverCutInTwo(t *testing.T) {
	t.Parallel()
	a := article()
	a.Title = strings.Repeat("&<_", 200)
	escape := func(text string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", "_", `\_`).Replace(text)
	}
	for most := len(a.URL) + 12; most < len(a.URL)+60; most++ {
		limit := poster.Limit{Max: most}
		text, err := render(t, poster.DefaultTemplate, a, poster.Traits{Limit: limit, Escape: escape})
		require.NoError(t, err)
		require.LessOrEqual(t, limit.Count(text), most)
		require.Regexp(t, `^((&amp;|&lt;|\\_)*…\n)?https://example\.jp/a$`, text)
	}
}

func TestAnAddressCanNeitherEndEarlyNorCarryMarkup(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.jp/a?q=<!channel>&r=|x|": "https://example.jp/a?q=%3C!channel%3E&r=%7Cx%7C",
		" https://example.jp/a b\n":               "https://example.jp/a%20b",
		"https://example.jp/\u202ea":              "https://example.jp/%E2%80%AEa",
		"https://example.jp/漢字?x=%E6%BC%A2":       "https://example.jp/漢字?x=%E6%BC%A2",
		"https://example.jp/\xff":                 "https://example.jp/%FF",
	} {
		a := article()
		a.URL = address
		text, err := render(t, "{{.URL}}", a, poster.Traits{Escape: strings.ToUpper})
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
}

func TestAnImageIsKeptWholeOrLeftOut(t *testing.T) {
	t.Parallel()
	a := article()
	a.Image = "https://example.jp/" + strings.Repeat("i", 60) + ".png"
	text, err := render(t, "{{.Title}}\n{{.Image}}\n{{.URL}}", a, poster.Traits{Limit: poster.Limit{Max: 80}})
	require.NoError(t, err)
	require.Equal(t, "A title\n\nhttps://example.jp/a", text)
}
