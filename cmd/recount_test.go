package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatIsCountedGoesOnAfterAnImport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule, guid string
		// dated: articles have dates. one: all are at one address.
		dated, one bool
		before     int
	}{
		"every third of a source":          {"announce: {every: 3}, per: source", "", true, false, 4},
		"every third of a category":        {"announce: {every: 3}, per: category", "g", true, false, 4},
		"every third news of an article":   {"announce: {every: 3}", "", true, true, 4},
		"an undated article by the day":    {"announce: daily", "", false, true, 1},
		"an undated source by the day":     {"announce: daily, per: source", "g", false, true, 1},
		"a dated article by the day, once": {"announce: daily", "", true, false, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, `sources: [{name: s, feed: "http://example.jp/feed", first_run: all}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
rules: [{name: r, `+c.rule+`}]
`)
			s.run(0, "init")
			lists := func(n int) {
				i := sceneItem{URL: fmt.Sprintf("http://example.jp/%d", n), Title: "T"}
				if c.one {
					i.URL = "http://example.jp/a"
				}
				if c.guid != "" {
					i.GUID = c.guid + i.URL
				}
				if c.dated {
					i.Published = s.now.Format(time.RFC3339)
				}
				s.serve("example.jp/feed", feed([]sceneItem{i}))
			}
			for n := range 10 {
				lists(n)
				s.run(0, "run")
				s.now = s.now.Add(time.Hour)
			}
			require.Len(t, s.posts, c.before)

			s.write("e.jsonl", s.run(0, "export"))
			require.NoError(t, os.RemoveAll(filepath.Join(s.dir, "state")))
			s.run(0, "init")
			for range 2 {
				s.run(0, "import", "e.jsonl")
			}
			s.run(0, "run")
			require.Len(t, s.posts, c.before, "what is listed still is announced")
			if !c.dated {
				s.now = s.now.Add(48 * time.Hour)
				s.run(0, "run")
				require.Len(t, s.posts, c.before, "it was first seen before")
				return
			}
			for n := 10; n < 19; n++ {
				lists(n)
				s.run(0, "run")
				s.now = s.now.Add(time.Hour)
			}
			want := c.before + 3
			if c.before == 10 {
				want = 19
			}
			require.Len(t, s.posts, want)
		})
	}
}
