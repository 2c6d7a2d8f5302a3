package poster_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func TestABodyTemplateWritesEachValueAsItsPlaceWantsIt(t *testing.T) {
	t.Parallel()
	p := poster.Post{ID: "id-1", Destination: "account", Text: "A \"text\"\nof two lines", Article: article()}
	for name, test := range map[string]struct{ template, want string }{
		"in a string":           {`{"t": "say: {{.Text}}!"}`, `{"t":"say: A \"text\"\nof two lines!"}`},
		"as a value":            {`{"t": {{.Text}}, "c": {{.Categories}}, "n": {{len .Categories}}}`, `{"t":"A \"text\"\nof two lines","c":["manga","news"],"n":2}`},
		"a list in a string":    {`{"c": "{{.Categories}}"}`, `{"c":"manga, news"}`},
		"a list by hand":        {`[{{range $i, $c := .Categories}}{{if $i}},{{end}}{{$c}}{{end}}]`, `["manga","news"]`},
		"behind escaped quotes": {`{"t": "a \"{{.Title}}\" b"}`, `{"t":"a \"A title\" b"}`},
		"a null":                {`{"p": {{with .GUID}}{{.}}{{else}}null{{end}}}`, `{"p":null}`},
		"all of a post's names": {`["{{.ID}}", "{{.Destination}}", "{{.URL}}"]`, `["id-1","account","https://example.jp/a"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := poster.ParseBodyTemplate(test.template)
			require.NoError(t, err)
			body, err := parsed.Render(p)
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(body))
		})
	}
}

func TestABodyTemplateThatCouldMakeSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ template, want string }{
		"nothing":                           {``, "no valid JSON"},
		"no JSON":                           {`{"a": {{.Title}}`, "no valid JSON"},
		"two values":                        {`{{.Title}} {{.URL}}`, "no valid JSON"},
		"no JSON for a bare article":        {`{{if .Title}}{"a":1}{{end}}`, "an address only"},
		"a string that stays open":          {`{"a": "{{.Title}}}`, "inside of a string"},
		"a string open on one way":          {`{"a": {{if .Title}}"{{else}}1{{end}}}`, "leaves a string open"},
		"a string opened again and again":   {`[{{range .Categories}}"{{end}}]`, "leaves a string open"},
		"a range left in a string":          {`[{{range .Categories}}"{{break}}"{{end}}]`, "leaves a string open"},
		"a backslash before a hole":         {`{"a": "\{{.Title}}"}`, "backslash"},
		"an unknown field":                  {`{"a": "{{.Titel}}"}`, "did you mean .Title"},
		"a range within a range":            {`[{{range .Categories}}{{range $.Categories}}1,{{end}}{{end}}2]`, "range within a range"},
		"all fields at once":                {`{"a": {{.}}}`, "name one"},
		"a noncharacter of the program's":   {"{\"a\": \"\ufdd0\"}", "no characters"},
		"no UTF-8":                          {"{\"a\": \"\xe4\"}", "no characters"},
		"a variable that becomes otherwise": {`{{$x := .Title}}{{$x = 1}}{"a": {{$x}}}`, "holds something else"},
		"an address changed":                {`{"a": "{{truncate 9 .URL}}"}`, "would change an address"},
		"an argument of another kind":       {`{"a": "{{join .Categories ","}}"}`, "wrong kind"},
		"too few arguments":                 {`{"a": "{{if false}}{{truncate .Title}}{{end}}"}`, "takes 2 arguments"},
		"a text called":                     {`{"a": "{{.Title 1}}"}`, "not a function"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := poster.ParseBodyTemplate(test.template)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestWhatABodyRequiresMayBeMissingOnlyWhenItIsSent(t *testing.T) {
	t.Parallel()
	parsed, err := poster.ParseBodyTemplate(`{"a": {{required .Author}}}`)
	require.NoError(t, err)
	_, err = parsed.Render(poster.Post{Article: poster.Article{URL: "https://example.jp/a"}})
	require.EqualError(t, err, "{{required .Author}}: the article has none")
}

func FuzzBodyTemplate(f *testing.F) {
	for _, seed := range []string{`{"t": "{{.Title}}"}`, `[{{.Title}}, {{.Categories}}]`, `{"a{{.Title}}": {{with .Title}}{{.}}{{else}}0{{end}}}`} {
		f.Add(seed, `"}, {"x": "\`)
	}
	f.Fuzz(func(t *testing.T, template, title string) {
		parsed, err := poster.ParseBodyTemplate(template)
		if err != nil {
			return
		}
		a := article()
		a.Title, a.Categories = title, []string{title, ""}
		body, err := parsed.Render(poster.Post{ID: "id", Text: title, Article: a})
		if err != nil {
			return
		}
		require.True(t, json.Valid(body))
		require.True(t, utf8.Valid(body))
	})
}
