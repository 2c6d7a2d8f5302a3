package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// siftingFleet has sources and rules of every kind that matters.
func siftingFleet(t *testing.T) *fleet {
	f := newFleet(t)
	f.Sources[0].GUID = true
	f.Sources = append(f.Sources,
		queue.Source{Name: "other", MaxAge: 7 * 24 * hour, FirstRunAll: true, GUID: true, Site: dedupe.Site{Host: "example.jp"}},
		queue.Source{Name: "daily", MaxAge: 7 * 24 * hour, FirstRunAll: true},
	)
	f.Rules = []queue.Rule{
		{Name: "all", From: []string{"blog", "other"}, To: []string{"news"}},
		{Name: "some", From: []string{"blog", "other"}, To: []string{"fans", "news"}, Match: queue.Filter{Title: regexp.MustCompile("[a-e]")}},
		{Name: "day", From: []string{"daily"}, To: []string{"fans"}, Cadence: dedupe.Cadence{Period: dedupe.Daily}},
	}
	return f
}

// document returns what a source lists: some of a few articles, under some of their
// addresses.
func document(r *rand.Rand, source string) queue.Batch {
	b := queue.Batch{Source: source}
	if r.IntN(2) == 0 {
		b.Seen = []string{dedupe.Fingerprint("https://hook.example/news"), dedupe.Fingerprint("https://hook.example/fans")}
	}
	for range r.IntN(10) {
		n := r.IntN(12)
		a := article(string(rune('a'+n)), hour*time.Duration(1+r.IntN(20*n+1)))
		a.Source = source
		switch r.IntN(6) {
		case 0:
			a.GUID = fmt.Sprint("guid", n/2) // two articles have one
		case 1:
			a.GUID, a.URL = fmt.Sprint("own", n), a.URL+"-renamed"
		case 2:
			a.URL = "no address"
		case 3:
			a.URL += "?utm_source=feed"
		}
		b.Articles = append(b.Articles, a)
	}
	return b
}

func TestWhatIsSiftedEndsAsWithoutIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	taken := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		whole, sifted := siftingFleet(t), siftingFleet(t)
		for round := range 6 {
			batches := []queue.Batch{document(r, "blog"), document(r, "other"), document(r, "daily")}
			o := queue.AddOptions{DryRun: r.IntN(8) == 0}
			if r.IntN(8) == 0 {
				o.To = []string{"news"}
			}
			want := whole.add(o, slices.Clone(batches)...)

			var counted queue.Added
			for part := range slices.Chunk(batches, 2) {
				out, err := sifted.Sift(ctx, part, o)
				require.NoError(t, err)
				counted.Count(out)
			}
			taken += counted.Already
			got := sifted.add(o, batches...)
			got.Count(counted)
			want.Decisions, got.Decisions = nil, nil
			require.Equal(t, want, got, "seed %d, round %d", seed, round)
			require.Equal(t, whole.entries(), sifted.entries(), "seed %d, round %d", seed, round)
		}
	}
	require.Greater(t, taken, 500)
}

func TestTheNewestOfASourceAreNotSifted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := batch(false, article("b", hour), article("a", 2*hour))
	f.add(queue.AddOptions{}, b)
	all := []queue.Batch{b}
	out, err := f.Sift(context.Background(), all, queue.AddOptions{Latest: 1})
	require.NoError(t, err)
	require.Zero(t, out)
	require.Len(t, all[0].Articles, 2)
}
