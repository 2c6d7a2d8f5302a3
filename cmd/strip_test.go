package cmd_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParametersThatAreStrippedLaterAnnounceNothingAnew(t *testing.T) {
	t.Parallel()
	config := func(params, more string) string {
		return `sources: [{name: s, feed: "http://example.jp/feed", guid: false, first_run: all, strip_params: ` + params + more + `}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
`
	}
	for name, c := range map[string]struct{ before, after, rules, listed string }{
		"the first":                   {config("[]", ""), config("[ref]", ""), "", "http://example.jp/a?ref=1"},
		"one more":                    {config("[ref]", ""), config("[ref, src]", ""), "", "http://example.jp/a?src=x&ref=1&p=2"},
		"several at once":             {config("[]", ""), config("[ref, src]", ""), "", "http://example.jp/a?src=x&ref=1"},
		"together with hosts":         {config("[]", ""), config("[ref]", ", hosts: [old.example.jp]"), "", "http://old.example.jp/a?ref=1"},
		"an article by the day":       {config("[]", ""), config("[ref]", ""), "rules: [{name: r, announce: daily}]\n", "http://example.jp/a?ref=1"},
		"the same, and the hosts too": {config("[]", ""), config("[ref]", ", hosts: [old.example.jp]"), "rules: [{name: r, announce: weekly}]\n", "http://old.example.jp/a?ref=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.before+c.rules)
			s.run(0, "init")
			s.serve("example.jp/feed", feed(items(c.listed)))
			s.run(0, "run")
			s.write("bot.yaml", c.after+c.rules)
			require.Empty(t, s.enqueue(0).queued())
			s.serve("example.jp/feed", feed(items(c.listed, "http://example.jp/b?ref=1")))
			s.run(0, "run")
			require.Len(t, s.posts, 2)
			require.Equal(t, "http://example.jp/b", s.posts[1].url)
		})
	}
}
