package cmd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHostsThatAreOneSite(t *testing.T) {
	t.Parallel()
	const to = "destinations:\n  - {name: d, webhook: \"http://hooks.example/d\"}\n"
	type lists map[string][]string // what the feeds list, by their address without scheme
	for name, c := range map[string]struct {
		config string
		posted string
		runs   []lists
		want   [][]string
	}{
		"hosts and schemes that change to and fro": {
			`sources: [{name: s, feed: "http://example.jp/feed", first_run: all, hosts: [old.example.jp, m.example.jp]}]` + "\n" + to, "",
			[]lists{
				{"example.jp/feed": {"https://example.jp/a", "http://old.example.jp/b"}},
				{"example.jp/feed": {"http://www.old.example.jp/a/", "https://m.example.jp/b"}},
				{"example.jp/feed": {"http://m.example.jp/a", "https://example.jp/b", "https://old.example.jp/c"}},
				{"example.jp/feed": {"https://EXAMPLE.jp:443/a", "http://old.example.jp/b", "http://www.example.jp/c"}},
			},
			[][]string{{"http://old.example.jp/b", "https://example.jp/a"}, {}, {"https://old.example.jp/c"}, {}},
		},
		"what was announced at any of them": {
			`sources: [{name: s, feed: "http://example.jp/feed", first_run: all, hosts: [old.example.jp]}]` + "\n" + to,
			`[{"webhook":"http://hooks.example/d","url":"http://old.example.jp/a"},{"webhook":"http://hooks.example/d","url":"http://example.jp/b"},{"url":"https://old.example.jp/c"}]`,
			[]lists{{"example.jp/feed": {"https://example.jp/a", "https://old.example.jp/b", "https://example.jp/c", "https://example.jp/d"}}},
			[][]string{{"https://example.jp/d"}},
		},
		"a feed at a third party's": {
			`sources: [{name: s, feed: "http://feeds.example/s", first_run: all, hosts: [example.jp, old.example.jp]}]` + "\n" + to,
			`[{"webhook":"http://hooks.example/d","url":"http://old.example.jp/a"}]`,
			[]lists{
				{"feeds.example/s": {"https://example.jp/a", "https://example.jp/b"}},
				{"feeds.example/s": {"https://old.example.jp/b", "https://feeds.example/b"}},
			},
			[][]string{{"https://example.jp/b"}, {}},
		},
		"two sites whose feeds are at one third party's": {
			`sources: [{name: s, feed: "http://feeds.example/s", first_run: all, hosts: [example.jp]}, {name: t, feed: "http://feeds.example/t", first_run: all, hosts: [example.org]}]` + "\n" + to, "",
			[]lists{
				{"feeds.example/s": {"https://example.jp/1"}, "feeds.example/t": {"https://example.org/1"}},
				{"feeds.example/s": {"https://example.jp/2"}, "feeds.example/t": {"https://example.org/1"}},
				{"feeds.example/s": {"https://example.jp/2"}, "feeds.example/t": {"https://example.org/2"}},
			},
			[][]string{{"https://example.org/1", "https://example.jp/1"}, {"https://example.jp/2"}, {"https://example.org/2"}},
		},
		"the same article through a source that names no hosts": {
			`sources: [{name: s, feed: "http://feeds.example/s", first_run: all, hosts: [example.jp, old.example.jp]}, {name: t, feed: "http://example.jp/t", first_run: all}]` + "\n" + to, "",
			[]lists{
				{"feeds.example/s": {"https://old.example.jp/a"}, "example.jp/t": nil},
				{"feeds.example/s": {"https://old.example.jp/a"}, "example.jp/t": {"https://example.jp/a", "https://example.jp/b"}},
				{"feeds.example/s": {"https://old.example.jp/b"}, "example.jp/t": {"https://example.jp/a"}},
			},
			[][]string{{"https://old.example.jp/a"}, {"https://example.jp/b"}, {}},
		},
		"what is counted, whatever its host": {
			`sources: [{name: s, feed: "http://example.jp/feed", first_run: all, hosts: [old.example.jp]}]` + "\n" + to +
				"rules: [{name: r, from: [s], to: [d], announce: {every: 3}}]\n", "",
			[]lists{
				{"example.jp/feed": {"https://example.jp/a"}}, {"example.jp/feed": {"https://old.example.jp/a"}},
				{"example.jp/feed": {"https://example.jp/a"}},
			},
			[][]string{{"https://example.jp/a"}, {}, {}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.config)
			s.run(0, "init")
			if c.posted != "" {
				s.write("state/posted.json", c.posted)
			}
			for i, lists := range c.runs {
				for at, urls := range lists {
					s.serve(at, feed(items(urls...)))
				}
				want := []string{}
				for _, u := range c.want[i] {
					want = append(want, "d "+u)
				}
				require.ElementsMatch(t, want, s.enqueue(0).queued(), "run %d", i)
				require.Empty(t, s.enqueue(0).queued(), "run %d again", i)
				s.now = s.now.Add(time.Hour)
			}
		})
	}
}

func TestHostsCanBeTakenOutOfTheConfig(t *testing.T) {
	t.Parallel()
	const with = `sources: [{name: s, feed: "http://example.jp/feed", first_run: all, hosts: [old.example.jp]}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
`
	s := newScene(t, with)
	s.run(0, "init")
	s.serve("example.jp/feed", feed(items("http://example.jp/a")))
	require.Len(t, s.enqueue(0).queued(), 1)
	s.write("bot.yaml", `sources: [{name: s, feed: "http://example.jp/feed", first_run: all}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
`)
	require.Empty(t, s.enqueue(0).queued())
}

func TestAnAddressByHandHasTheIdentityOfItsSite(t *testing.T) {
	t.Parallel()
	s := newScene(t, `sources: [{name: s, feed: "http://feeds.example/s", first_run: all, hosts: [example.jp, old.example.jp], strip_params: [ref]}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
`)
	s.run(0, "init")
	s.serve("feeds.example/s", feed(items("http://example.jp/a")))
	require.Len(t, s.enqueue(0).queued(), 1)
	require.Empty(t, s.enqueue(0, "--url", "https://old.example.jp/a?ref=x").queued())
}
