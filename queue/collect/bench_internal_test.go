package collect

import (
	"bytes"
	"context"
	"net/url"
	"testing"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/require"
)

// BenchmarkParse makes articles of feeds, and has the bare parser read the same
// bytes beside it. Lean are all the feeds in testdata that both can read.
func BenchmarkParse(b *testing.B) {
	base, err := url.Parse("https://example.jp/feed.xml")
	require.NoError(b, err)
	sets := map[string][]sample{"lean": readable(b)}
	names := []string{"lean"}
	for _, s := range withBodies(20) {
		sets[s.name] = []sample{s}
		names = append(names, s.name)
	}
	for _, name := range names {
		set := sets[name]
		total := 0
		for _, s := range set {
			total += len(s.body)
		}
		b.Run(name+"/bot", func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range set {
					parsed, err := parseFeed(context.Background(), s.body, s.contentType, Limits{}.withDefaults())
					if err != nil {
						b.Fatal(s.name, err)
					}
					new(Collector).reading(Source{Name: "src"}, &document{base: base}, parsed, Progress{})
				}
			}
		})
		b.Run(name+"/gofeed", func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range set {
					if _, err := gofeed.NewParser().Parse(bytes.NewReader(s.body)); err != nil {
						b.Fatal(s.name, err)
					}
				}
			}
		})
	}
}

// readable are the feeds in testdata that the bare parser can read too.
func readable(b *testing.B) []sample {
	var all []sample
	for _, s := range testdata(b) {
		_, ours := parseFeed(context.Background(), s.body, s.contentType, Limits{}.withDefaults())
		_, its := gofeed.NewParser().Parse(bytes.NewReader(s.body))
		if ours == nil && its == nil {
			all = append(all, s)
		}
	}
	require.Greater(b, len(all), 10)
	return all
}
