package cmd_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// JSON tells of every article, so that nothing is taken out on the way: both must come
// to the same.
func TestARunOverManySourcesSaysTheSameInTextAndInJSON(t *testing.T) {
	t.Parallel()
	const sources, articles = 3, 900
	config := "destinations: [{name: d, webhook: \"http://hooks.example/d\"}]\nsources:\n"
	lists := make([][]string, sources)
	for i := range lists {
		config += fmt.Sprintf("  - {name: s%d, feed: \"http://s%d.example/feed\", first_run: none}\n", i, i)
		for n := range articles {
			lists[i] = append(lists[i], fmt.Sprintf("http://s%d.example/%d", i, n))
		}
	}
	s := newScene(t, config)
	s.run(0, "init")
	serve := func() {
		for i, urls := range lists {
			s.serve(fmt.Sprintf("s%d.example/feed", i), feed(items(urls...)))
		}
	}
	serve()
	require.Contains(t, s.run(0, "enqueue"), "matched=2700 queued=0 already=0 skipped=2700 held=0 refused=0\n")
	require.Contains(t, s.run(0, "enqueue"), "matched=2700 queued=0 already=2700 skipped=0 held=0 refused=0\n")

	for i := range lists {
		lists[i] = slices.Insert(lists[i], i*400, fmt.Sprintf("http://s%d.example/new", i))
	}
	serve()
	said := s.run(0, "enqueue", "--dry-run", "--json")
	require.Contains(t, said, `"matched":2703,"queued":3,"already":2700,"skipped":0,"held":0`)
	require.Contains(t, said, `{"name":"s2","status":"ok","collected":901`)
	require.Contains(t, s.run(0, "enqueue"), "matched=2703 queued=3 already=2700 skipped=0 held=0 refused=0\n")
	require.Contains(t, s.run(0, "enqueue"), "matched=2703 queued=0 already=2703 skipped=0 held=0 refused=0\n")
	s.run(0, "process")
	require.Len(t, s.posts, 3)
}
