package queue_test

import (
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

// gates returns what one destination's gates say, in their order.
func gates(x queue.Explanation) []string {
	var all []string
	for _, g := range x.Gates {
		stop := map[bool]string{true: "pass ", false: "stop "}[g.Passes]
		all = append(all, stop+g.Name+": "+g.Detail)
	}
	return all
}

func TestEachGateSaysWhyAndWhereAnArticleEnds(t *testing.T) {
	t.Parallel()
	explain := func(f *fleet, b queue.Batch) queue.Explanation {
		t.Helper()
		all, err := f.Explain(t.Context(), b.Articles[0].URL, []queue.Batch{b}, []queue.Batch{b})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	open := []string{"pass source: listed by blog", "pass address: https://example.jp/a", "pass rule: rule all brings it from blog"}

	t.Run("one that is older than max_age, and at first sight too", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		f.only("news")
		x := explain(f, batch(true, article("a", 30*24*hour)))
		require.Equal(t, append(open,
			"stop age: published 2026-07-04, longer ago than max_age",
			"stop first sight: first sight of the source here: what was there before is not announced",
			"pass ledger: nothing is known of it here"), gates(x))
		require.Equal(t, "the next run skips it: first sight of the source here: what was there before is not announced", x.Conclusion)
	})
	t.Run("one that has to wait for everything", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		d := f.only("news")
		d.Quiet = queue.Quiet{From: 8 * hour, To: 10 * hour, Zone: time.UTC}
		require.NoError(t, queue.ChangeBook(t.Context(), f.Store, queue.DestinationBook("news"), func(p *queue.Pacing) error {
			p.Paused = &queue.Pause{Reason: "holiday", Since: now}
			return nil
		}))
		b := batch(false, article("a", -2*hour))
		x := explain(f, b)
		require.Equal(t, append(open,
			"pass age: within max_age",
			"pass first sight: the source was looked at before, or the article is fresh",
			"pass ledger: nothing is known of it here",
			"pass brake: passes unless more than 3 articles are new in that run",
			"stop schedule: due 2026-08-03T11:00:00Z",
			"stop pause: paused: holiday",
			"stop quiet: quiet, until 2026-08-03T10:00:00Z"), gates(x))
		require.Equal(t, "the next run queues it", x.Conclusion)

		added := f.add(queue.AddOptions{}, b)
		x = explain(f, b)
		require.Equal(t, append(open,
			"stop ledger: entry "+added.Decisions[0].Entry.ID+" is queued",
			"stop schedule: due 2026-08-03T11:00:00Z",
			"stop pause: paused: holiday",
			"stop quiet: quiet, until 2026-08-03T10:00:00Z"), gates(x))
		require.Equal(t, "queued, due 2026-08-03T11:00:00Z", x.Conclusion)
	})
	t.Run("one that comes with more new ones than the brake lets through", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		f.only("news")
		whole := batch(false, article("a", hour), article("b", hour), article("c", hour), article("d", hour))
		found := batch(false, article("a", hour))
		all, err := f.Explain(t.Context(), found.Articles[0].URL, []queue.Batch{found}, []queue.Batch{whole})
		require.NoError(t, err)
		held := f.add(queue.AddOptions{}, whole).Decisions[0]
		require.Equal(t, queue.VerdictHeld, held.Verdict)
		require.Equal(t, append(open,
			"pass age: within max_age",
			"pass first sight: the source was looked at before, or the article is fresh",
			"pass ledger: nothing is known of it here",
			"stop brake: "+held.Reason), gates(all[0]))
		require.Equal(t, "the next run holds it: too many articles of blog are new at once", all[0].Conclusion)
	})
	t.Run("one that no rule brings any more", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		f.only("news")
		b := batch(false, article("a", hour))
		f.add(queue.AddOptions{}, b)
		f.process(queue.ProcessOptions{})
		f.Rules = nil
		x := explain(f, b)
		require.Equal(t, "stop rule: no rule takes its source to this destination", gates(x)[2])
		require.Contains(t, gates(x)[3], "stop ledger: entry ")
		require.Equal(t, "announced already, at 2026-08-03T09:00:00Z", x.Conclusion)
	})
}
