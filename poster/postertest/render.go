package postertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// testRender tests that rendering is a pure function of the post.
func testRender(t *testing.T, f Fixture) {
	p := f.New(t, "http://127.0.0.1:9", nil)
	post := Post(t, p, Article())
	first, err := p.Render(post)
	require.NoError(t, err)
	require.Equal(t, post.ID, first.ID, "the ID is the entry's")
	require.Equal(t, post.Text, first.Text)
	require.NotEmpty(t, first.Body)
	require.True(t, utf8.Valid(first.Body), "the body is UTF-8")
	require.False(t, p.Traits().Identity.IsZero(), "a destination has an identity")
	require.Equal(t, f.New(t, "http://127.0.0.1:9", nil).Traits().Identity.Reveal(), p.Traits().Identity.Reveal())

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			again, err := p.Render(post)
			if err != nil || string(again.Body) != string(first.Body) {
				t.Errorf("the same post gave %q, then %q (%v)", first.Body, again.Body, err)
			}
		})
	}
	group.Wait()
	require.Equal(t, Article(), post.Article, "the article is left as it was")
	require.NotContains(t, string(first.Body), Secret, "a message holds no secret")
}

// titles are hard ones, by what is hard about them.
func titles() map[string]string {
	return map[string]string{
		"none":               "",
		"of 4 KiB":           strings.Repeat("long title ", 4096/11),
		"of 4 KiB, one word": strings.Repeat("題", 4096/3),
		"emoji only":         strings.Repeat("👨‍👩‍👧‍👦🇯🇵👍🏽", 60),
		"right-to-left":      "\u202eevil\u202c \u2067title\u2069 שלום",
		"marks only":         strings.Repeat("\u200f\u200e\u061c", 40),
		"accents":            strings.Repeat("e\u0301\u0323", 400),
		"controls":           "a\x00b\x1b[31mred\x07\r\n\tc\u2028d\u0085e",
		"not UTF-8":          "caf\xe9 \xff\xfe ok",
		"markup":             strings.Repeat("*b* _i_ ~s~ `c` ||x|| > q # h - l [t](http://e.example) <b>&amp;</b> ", 60),
		"mentions":           "@everyone @here <@123> <@&456> <!channel> <!here|here> <#C1> @taro@example.com",
		"JSON":               `","text":"x"}{{.Title}} \" \\ \u0000 </script>`,
		"only markup":        strings.Repeat("_*~`|", 800),
	}
}

// testTitles tests that something sane is made of every title, and posted: the link
// whole and within the platform's limit, no control characters, no half characters, in
// the text and in all else that is sent.
func testTitles(t *testing.T, f Fixture) {
	address, client := "http://127.0.0.1:9", (*http.Client)(nil)
	var s *Server
	if !f.Local {
		s = Serve(t, f.Delivered)
		address, client = s.URL, s.Client()
	}
	p := f.New(t, address, client)
	for name, title := range titles() {
		t.Run(name, func(t *testing.T) {
			a := Article()
			a.Title, a.Summary = title, title+" "+title
			post := Post(t, p, a)
			require.True(t, utf8.ValidString(post.Text))
			require.True(t, strings.HasSuffix(post.Text, a.URL), "the link is whole: %q", post.Text)
			require.False(t, strings.ContainsFunc(post.Text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }))
			require.NotContains(t, post.Text, "\u202e")
			if limit := p.Traits().Limit; limit.Max > 0 {
				require.LessOrEqual(t, limit.Count(post.Text), limit.Max)
			}
			m, err := p.Render(post)
			require.NoError(t, err)
			require.True(t, utf8.Valid(m.Body))
			if json.Valid(m.Body) {
				requireSane(t, m.Body)
			}
			if s == nil {
				return
			}
			before := len(s.Requests())
			_, err = p.Post(t.Context(), m)
			require.NoError(t, err)
			require.Len(t, s.Requests(), before+1)
			content := s.Requests()[before].Content
			require.True(t, json.Valid([]byte(content)), "%s", content)
			require.Less(t, len(content), 64<<10, "no server refuses it for its size")
		})
	}
}

// requireSane tests that no text in a JSON document could do harm where it is shown.
func requireSane(t *testing.T, document []byte) {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(document, &v))
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			require.False(t, strings.ContainsFunc(v, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' || r == utf8.RuneError }), "%q", v)
		case []any:
			for _, one := range v {
				look(one)
			}
		case map[string]any:
			for _, one := range v {
				look(one)
			}
		}
	}
	look(v)
}

// ids of a message that a test posts.
func message(t *testing.T, p poster.Poster) poster.Message {
	t.Helper()
	m, err := p.Render(Post(t, p, Article()))
	require.NoError(t, err)
	return m
}
