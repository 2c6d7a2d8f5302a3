package poster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func article() poster.Article {
	return poster.Article{
		URL: "https://example.jp/a", Title: "A title", Summary: "What it is about", Author: "Taro", Source: "site",
		Categories: []string{"manga", "news"}, Published: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC),
	}
}

func render(t *testing.T, template string, a poster.Article, traits poster.Traits) (string, error) {
	t.Helper()
	parsed, err := poster.ParseTemplate(template)
	require.NoError(t, err)
	return parsed.Render(a, "account", traits)
}

func TestATemplateSaysWhatItIsTold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ template, want string }{
		"the default":                        {poster.DefaultTemplate, "A title\nhttps://example.jp/a"},
		"fields":                             {"{{.Author}} in {{.Source}} to {{.Destination}}", "Taro in site to account"},
		"a list":                             {"{{range .Categories}}#{{.}} {{end}}{{.URL}}", "#manga #news https://example.jp/a"},
		"a list joined":                      {`{{join " / " .Categories}}`, "manga / news"},
		"a default for what is missing":      {`{{default "nobody" .GUID}}`, "nobody"},
		"a part left out when it is missing": {`{{if .GUID}}({{.GUID}}) {{end}}{{.Title}}`, "A title"},
		"a text cut":                         {`{{truncate 9 .Summary}}`, "What it…"},
		"a date":                             {`{{date "2 January 2006" .Published}}`, "3 August 2026"},
		"a date in a zone":                   {`{{dateIn "Asia/Tokyo" "15:04" .Published}}`, "09:00"},
		"something required":                 {`{{required .Author}}`, "Taro"},
		"blank lines tidied":                 {"{{.Title}}  \n\n\n\n{{.URL}}\n\n", "A title\n\nhttps://example.jp/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := render(t, test.template, article(), poster.Traits{})
			require.NoError(t, err)
			require.Equal(t, test.want, text)
		})
	}
}

func TestAMistakeInATemplateIsFoundWhenItIsRead(t *testing.T) {
	t.Parallel()
	for name, template := range map[string]string{
		"an unknown field":                         "{{.Titel}}",
		"an unknown field in a branch not taken":   "{{if .GUID}}x{{else}}{{.Titel}}{{end}}",
		"an unknown field in a branch never taken": "{{if false}}{{.Titel}}{{end}}",
		"an unknown field of the whole, in a with": "{{with .Title}}{{$.Titel}}{{end}}",
		"a field of a text":                        "{{with .Title}}{{.Length}}{{end}}",
		"an unknown function":                      "{{shout .Title}}",
		"a function that prints anything":          `{{printf "%1000000000d" 1}}`,
		"a call of a field":                        "{{call .Title}}",
		"a template within":                        `{{define "x"}}{{end}}{{template "x"}}`,
		"a range over a number":                    "{{range 1000000000}}x{{end}}",
		"an end that is missing":                   "{{if .Title}}x",
		"a time zone that is none":                 `{{dateIn "Mars/Olympus" "15:04" .Published}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := poster.ParseTemplate(template)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestWhatIsMissingIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	bare := poster.Article{URL: "https://example.jp/a"}
	_, err := render(t, "{{required .Author}} {{.URL}}", bare, poster.Traits{})
	require.ErrorContains(t, err, "required .Author")
	_, err = render(t, "{{.Title}}", bare, poster.Traits{})
	require.ErrorContains(t, err, "empty")
	text, err := render(t, poster.DefaultTemplate, bare, poster.Traits{})
	require.NoError(t, err)
	require.Equal(t, "https://example.jp/a", text)
}

func TestTheLinkIsNeverCut(t *testing.T) {
	t.Parallel()
	long := article()
	long.Title = strings.Repeat("題", 600)
	words := article()
	words.Title = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	family := article()
	family.Title = strings.Repeat("👨‍👩‍👧‍👦", 100)
	tests := map[string]struct {
		a     poster.Article
		limit poster.Limit
		check func(t *testing.T, title string)
	}{
		"code points": {long, poster.Limit{Max: 200}, func(t *testing.T, title string) {
			require.Equal(t, 200-1-utf8.RuneCountInString(long.URL), utf8.RuneCountInString(title))
		}},
		"an address that counts 23": {long, poster.Limit{Max: 500, Unit: poster.Graphemes, URL: 23}, func(t *testing.T, title string) {
			require.Equal(t, 500-1-23, utf8.RuneCountInString(title))
		}},
		"bytes": {long, poster.Limit{Max: 100, Unit: poster.Bytes}, func(t *testing.T, title string) {
			require.True(t, strings.HasPrefix(title, "題") && strings.HasSuffix(title, "題…"))
		}},
		"at a word's end": {words, poster.Limit{Max: 100}, func(t *testing.T, title string) {
			require.Regexp(t, `(fox|jumps|over|the|lazy|dog|brown|quick)\.?…$`, title)
		}},
		"not inside of a family": {family, poster.Limit{Max: 200, Unit: poster.UTF16}, func(t *testing.T, title string) {
			require.Empty(t, strings.ReplaceAll(strings.TrimSuffix(title, "…"), "👨‍👩‍👧‍👦", ""))
		}},
		"graphemes and bytes": {family, poster.Limit{Max: 300, Unit: poster.Graphemes, MaxBytes: 300}, func(t *testing.T, title string) {
			require.LessOrEqual(t, len(title), 300)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := render(t, poster.DefaultTemplate, test.a, poster.Traits{Limit: test.limit})
			require.NoError(t, err)
			title, link, ok := strings.Cut(text, "\n")
			require.True(t, ok)
			require.Equal(t, test.a.URL, link)
			require.True(t, strings.HasSuffix(title, "…"))
			require.LessOrEqual(t, test.limit.Count(text), test.limit.Max)
			test.check(t, title)
		})
	}
	t.Run("and where it has no room there is an error", func(t *testing.T) {
		t.Parallel()
		_, err := render(t, poster.DefaultTemplate, article(), poster.Traits{Limit: poster.Limit{Max: 10}})
		require.ErrorContains(t, err, "the link alone is too long")
		text, err := render(t, poster.DefaultTemplate, article(), poster.Traits{Limit: poster.Limit{Max: len(article().URL)}})
		require.NoError(t, err)
		require.Equal(t, article().URL, text)
	})
}

// TestCutting has the cases of the field: families, flags, accents, skin tones and
// scripts without blanks.
func TestCutting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want []string
	}{
		{"ab👨‍👩‍👧‍👦cd", 3, []string{"ab…"}},
		{"ab👨‍👩‍👧‍👦cd", 4, []string{"ab👨‍👩‍👧‍👦…"}},
		{"🇯🇵🇫🇷🇩🇪", 2, []string{"🇯🇵…"}},
		{"café au lait", 5, []string{"café…"}},
		{"👍🏽👍🏽👍🏽", 2, []string{"👍🏽…"}},
		{"がががががががががが", 7, []string{"がががががが…"}},
		{"短い", 2, []string{"短い"}},
		{"", 2, []string{""}},
		{"abc", 1, []string{"…"}},
		{"The quick brown fox jumps", 18, []string{"The quick brown…", "The quick brown f…"}},
		{"東京都は三十日、新しい計画を発表した Version 2", 20, []string{"東京都は三十日、新しい計画を発表した…", "東京都は三十日、新しい計画を発表した …"}},
	} {
		a := article()
		a.Title = test.text
		text, err := render(t, fmt.Sprintf("{{.Source}}{{truncate %d .Title}}", test.most), a, poster.Traits{})
		require.NoError(t, err, test.text)
		require.Contains(t, test.want, strings.TrimPrefix(text, a.Source))

		// A platform's limit cuts the same, but shows no ellipsis by itself.
		if test.text == "" || test.most == 1 {
			continue
		}
		text, err = render(t, "{{.Title}}", a, poster.Traits{Limit: poster.Limit{Max: test.most, Unit: poster.Graphemes}})
		require.NoError(t, err, test.text)
		require.Contains(t, test.want, text)
	}
}

func TestTitlesAreCleaned(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Line 1\r\nLine 2\tx": "Line 1 Line 2 x", "\u202eevil\u202c ok": "evil ok", "\ufeffBOM\u200b": "BOM",
		"\u3000全角\u3000空白\u3000": "全角\u3000空白", "a\x00b\x1bc": "abc", "A\u00a0B": "A B", "👨‍👩‍👧‍👦 ok": "👨‍👩‍👧‍👦 ok",
		"\xffbad": "bad", "\u200b\u200b": "",
	} {
		require.Equal(t, want, poster.CleanLine(title), "%q", title)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{poster.DefaultTemplate, "{{range .Categories}}{{.}}{{end}}", `{{truncate 3 .Title}}`, "{{with .Author}}{{else}}{{end}}"} {
		f.Add(seed, "A title", 50)
	}
	f.Fuzz(func(t *testing.T, template, title string, most int) {
		parsed, err := poster.ParseTemplate(template)
		if err != nil {
			return
		}
		a := article()
		a.Title = title
		limit := poster.Limit{Max: max(1, most%500), Unit: poster.Graphemes}
		text, err := parsed.Render(a, "account", poster.Traits{Limit: limit})
		if err != nil {
			return
		}
		require.LessOrEqual(t, limit.Count(text), limit.Max)
		require.True(t, utf8.ValidString(text))
		require.NotEmpty(t, text)
	})
}
