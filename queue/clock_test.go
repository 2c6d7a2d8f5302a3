package queue_test

import (
	"context"
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

// two are workers on one ledger, each with a clock of its own.
type two struct {
	*fleet
	clocks [2]time.Time
	queues [2]*queue.Queue
}

func newTwo(t *testing.T) *two {
	w := &two{fleet: newFleet(t)}
	w.only("news")
	for n := range w.queues {
		w.clocks[n] = now
		q := *w.Queue
		q.Store = w.open()
		q.Now = func() time.Time { return w.clocks[n] }
		w.queues[n] = &q
	}
	w.add(queue.AddOptions{}, batch(false, article("a", hour)))
	return w
}

// work lets a worker make one pass.
func (w *two) work(n int) queue.Processed {
	w.t.Helper()
	p := w.processor([]string{"first", "second"}[n])
	p.Queue = w.queues[n]
	done, err := p.Run(context.Background(), queue.ProcessOptions{})
	require.NoError(w.t, err)
	return done
}

// status is that of the one entry there is.
func (w *two) status() queue.Status {
	w.t.Helper()
	for e, err := range w.Store.All(context.Background()) {
		require.NoError(w.t, err)
		return e.Status
	}
	return ""
}

func TestAClockThatJumpsWhileAnEntryIsSentSendsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		worker int
		jump   time.Duration
	}{
		"the sender's, an hour back":    {0, -hour},
		"the sender's, a day forward":   {0, 24 * hour},
		"the other's, an hour back":     {1, -hour},
		"the other's, a day forward":    {1, 24 * hour},
		"the sender's, a month forward": {0, 31 * 24 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTwo(t)
			w.news.during = func() {
				// Between claim and settle, and the other looks at what is due just then.
				w.clocks[c.worker] = w.clocks[c.worker].Add(c.jump)
				w.work(1)
			}
			require.Equal(t, 1, w.work(0).Posted)
			w.news.during = nil
			require.Equal(t, queue.Posted, w.status(), "an answer counts, even of what was given up meanwhile")
			for range 3 {
				w.clocks[0], w.clocks[1] = w.clocks[0].Add(24*hour), w.clocks[1].Add(24*hour)
				w.work(1)
				w.work(0)
			}
			require.Len(t, w.news.posts, 1)
		})
	}
}

func TestWhatDiedUnderAClockFarAheadWaitsUntilItsLeaseIsOver(t *testing.T) {
	t.Parallel()
	w := newTwo(t)
	w.clocks[0] = now.Add(24 * hour)
	w.news.during = func() { panic("killed") }
	require.Panics(t, func() { w.work(0) })
	w.news.during = nil
	require.Equal(t, queue.Sending, w.status())
	w.work(1)
	require.Equal(t, queue.Sending, w.status(), "by the right clock the lease goes on for a day: late, and safe")
	w.clocks[1] = now.Add(24*hour + queue.Lease)
	w.work(1)
	require.Equal(t, queue.Uncertain, w.status())
	require.Len(t, w.news.posts, 1)
}
