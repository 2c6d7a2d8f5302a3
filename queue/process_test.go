package queue_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

func TestWhatIsDueIsSentOldestFirst(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.add(queue.AddOptions{}, batch(false, article("b", hour), article("a", 2*hour), article("later", -hour)))
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, queue.Processed{Due: 4, Posted: 4, Sent: done.Sent}, done)
	require.Equal(t, []string{"a https://example.jp/a", "b https://example.jp/b"}, f.news.texts())
	require.Equal(t, f.news.texts(), f.fans.texts())
	require.Zero(t, f.process(queue.ProcessOptions{}).Due)
	f.clock = now.Add(hour)
	require.Equal(t, 2, f.process(queue.ProcessOptions{}).Posted)
}

func TestHowAnAttemptEndsDecidesWhatBecomesOfTheEntry(t *testing.T) {
	t.Parallel()
	ends := func(o poster.Outcome) error { return &poster.Error{Outcome: o, Reason: "because"} }
	tests := map[string]struct {
		answers []error
		// want is due, posted, later, failed, uncertain of the first run.
		want   [5]int
		posts  int
		person bool
		paused bool
	}{
		"later: it waits, and what is behind it":         {[]error{ends(poster.Later)}, [5]int{3, 0, 1, 0, 0}, 1, false, false},
		"content rejected: it fails, the rest goes on":   {[]error{ends(poster.RejectedContent)}, [5]int{3, 2, 0, 1, 0}, 3, true, false},
		"destination rejected: all of it waits":          {[]error{ends(poster.RejectedDestination)}, [5]int{3, 0, 1, 0, 0}, 1, true, true},
		"unknown: it is uncertain, the rest goes on":     {[]error{ends(poster.Unknown)}, [5]int{3, 2, 0, 0, 1}, 3, true, false},
		"three unknown in a row: enough for one run":     {[]error{ends(0), ends(0), ends(0)}, [5]int{3, 0, 0, 0, 3}, 3, true, false},
		"an error nobody classified: uncertain":          {[]error{errors.New("?")}, [5]int{3, 2, 0, 0, 1}, 3, true, false},
		"delivered: nothing is left to do for that site": {nil, [5]int{3, 3, 0, 0, 0}, 3, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.news.answer(test.answers...)
			f.add(queue.AddOptions{}, batch(false, article("a", 3*hour), article("b", 2*hour), article("c", hour)))
			done := f.process(queue.ProcessOptions{To: []string{"news"}})
			require.Equal(t, test.want, [5]int{done.Due, done.Posted, done.Later, done.Failed, done.Uncertain})
			require.Len(t, f.news.posts, test.posts)
			require.Equal(t, test.person, done.NeedsPerson())
			pacing, err := queue.ReadBook[queue.Pacing](context.Background(), f.Store, queue.DestinationBook("news"))
			require.NoError(t, err)
			require.Equal(t, test.paused, pacing.Paused != nil)
			require.Equal(t, 3, f.process(queue.ProcessOptions{To: []string{"fans"}}).Posted, "the other destination is not held up")
		})
	}
}

func TestAPausedDestinationGoesOnWhenItsSettingsChange(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	d := f.only("news")
	f.news.answer(&poster.Error{Outcome: poster.RejectedDestination, Reason: "401"})
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	f.process(queue.ProcessOptions{})
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, 1, done.Due)
	require.Zero(t, done.Posted)
	require.False(t, done.NeedsPerson(), "it was said when it happened")
	require.Contains(t, done.Notices[0].Text, "paused: 401")

	d.Settings = "2"
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
	pacing, err := queue.ReadBook[queue.Pacing](context.Background(), f.Store, queue.DestinationBook("news"))
	require.NoError(t, err)
	require.Nil(t, pacing.Paused)
}

func TestAPauseByHandIsSeenBeforeTheNextClaim(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.add(queue.AddOptions{}, batch(false, article("a", 2*hour), article("b", hour)))
	other := f.open()
	f.news.during = func() {
		err := queue.ChangeBook(context.Background(), other, queue.FleetBook, func(p *queue.Pacing) error {
			p.Paused = &queue.Pause{Reason: "stop", Since: now}
			return nil
		})
		require.NoError(t, err)
	}
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
}

func TestThePaceHoldsForAllWorkers(t *testing.T) {
	t.Parallel()
	hourly, err := queue.ParseSlots([]string{"0 * * * *"}, time.UTC)
	require.NoError(t, err)
	for name, pace := range map[string]struct {
		set func(*queue.Destination)
		// next is when the next one may go out, after one did at ten.
		next time.Duration
	}{
		"spacing":   {func(d *queue.Destination) { d.MinInterval = 15 * time.Minute }, 15 * time.Minute},
		"slots":     {func(d *queue.Destination) { d.Slots = hourly }, hour},
		"a day's":   {func(d *queue.Destination) { d.MaxPerDay = 1 }, 14 * hour},
		"all three": {func(d *queue.Destination) { d.MinInterval, d.MaxPerDay, d.Slots = 90*time.Minute, 5, hourly }, 2 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			pace.set(f.only("news"))
			f.add(queue.AddOptions{}, batch(false, article("a", 3*hour), article("b", 2*hour), article("c", hour)))
			f.clock = now.Add(hour) // one is due at least, and with spacing all
			sent := func() int {
				before := len(f.news.posts)
				var wg sync.WaitGroup
				for _, w := range []string{"w1", "w2", "w3"} {
					q := *f.Queue
					q.Store = f.open()
					p := f.processor(w)
					p.Queue = &q
					wg.Go(func() { _, _ = p.Run(context.Background(), queue.ProcessOptions{}) })
				}
				wg.Wait()
				return len(f.news.posts) - before
			}
			require.Equal(t, 1, sent())
			f.clock = f.clock.Add(pace.next - time.Millisecond)
			require.Equal(t, 0, sent())
			f.clock = f.clock.Add(time.Millisecond)
			require.Equal(t, 1, sent())
		})
	}
}

func TestLimitsOfARun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.Destinations[0].MaxPerRun = 1
	f.add(queue.AddOptions{}, batch(false, article("a", 3*hour), article("b", 2*hour), article("c", hour)))
	require.Len(t, f.process(queue.ProcessOptions{DryRun: true}).Sent, 4, "one there, three here")
	require.Empty(t, f.news.posts)
	require.Equal(t, 4, f.process(queue.ProcessOptions{}).Posted)
	require.Equal(t, 1, f.process(queue.ProcessOptions{Limit: 5}).Posted)
	require.Zero(t, f.process(queue.ProcessOptions{To: []string{"fans"}}).Due)
}

func TestWhatThePlatformAsksForIsHeeded(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.news.answer(&poster.Error{Outcome: poster.Later, NotBefore: now.Add(2 * time.Minute), Reason: "429"})
	f.add(queue.AddOptions{}, batch(false, article("a", 2*hour), article("b", hour)))
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Later)
	f.clock = now.Add(2*time.Minute - time.Millisecond)
	require.Zero(t, f.process(queue.ProcessOptions{}).Posted)
	f.clock = now.Add(2 * time.Minute)
	require.Equal(t, 2, f.process(queue.ProcessOptions{}).Posted)
	require.Equal(t, []string{"a https://example.jp/a", "b https://example.jp/b", "a https://example.jp/a"}, f.news.texts(), "what was put off has its turn later")
}

func TestAnEntryThatCannotBeRenderedFailsBeforeAnyClaim(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	a := article("a", hour)
	a.Title = ""
	f.add(queue.AddOptions{}, batch(false, a))
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, 1, done.Failed)
	require.Zero(t, done.Sent[0].Entry.Attempts)
	require.Empty(t, f.news.posts)
}

// dieAfterPost ends the worker after the request was written, as a crash would.
type dieAfterPost struct{ *account }

func (d dieAfterPost) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	_, _ = d.account.Post(ctx, m)
	runtime.Goexit()
	return poster.Receipt{}, nil
}

func TestACrashBetweenClaimAndSettle(t *testing.T) {
	t.Parallel()
	crashed := func(t *testing.T) *fleet {
		f := newFleet(t)
		d := f.only("news")
		f.add(queue.AddOptions{}, batch(false, article("a", hour)))
		d.Poster = dieAfterPost{f.news}
		f.process(queue.ProcessOptions{})
		d.Poster = f.news
		require.Len(t, f.news.posts, 1)
		return f
	}
	t.Run("leaves the entry alone while the lease runs", func(t *testing.T) {
		t.Parallel()
		f := crashed(t)
		f.clock = now.Add(queue.Lease - time.Millisecond)
		require.Zero(t, f.process(queue.ProcessOptions{}).Due)
	})
	t.Run("is uncertain when the lease is over, and never sent again by itself", func(t *testing.T) {
		t.Parallel()
		f := crashed(t)
		for range 3 {
			f.clock = f.clock.Add(queue.Lease)
			f.process(queue.ProcessOptions{})
		}
		require.Equal(t, []string{"news https://example.jp/a uncertain"}, f.entries())
		require.Len(t, f.news.posts, 1)
	})
	t.Run("is uncertain at once when its worker is known to be gone", func(t *testing.T) {
		t.Parallel()
		f := crashed(t)
		p := f.processor("w2")
		p.Gone = func(worker string) bool { return worker == "w1" }
		done, err := p.Run(context.Background(), queue.ProcessOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, done.Uncertain)
	})
	t.Run("is sent again with the same bytes where that is announced only once", func(t *testing.T) {
		t.Parallel()
		f := crashed(t)
		f.news.idempotent = 24 * hour
		f.clock = now.Add(queue.Lease)
		require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
		require.Equal(t, f.news.posts[0], f.news.posts[1])
	})
}

func TestAnUnknownOutcomeIsRepeatedWhileTheDestinationHonoursTheID(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.news.idempotent = hour
	f.news.answer(errors.New("reset"), errors.New("reset"))
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Later)
	f.clock = now.Add(30 * time.Second)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Later)
	f.clock = now.Add(hour)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Uncertain, "the hour since the first attempt is over")
	require.Len(t, f.news.posts, 2)
}

func TestAnInterruptedRunRecordsTheSendInFlightAndBeginsNoOther(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.add(queue.AddOptions{}, batch(false, article("a", 2*hour), article("b", hour)))
	ctx, interrupt := context.WithCancel(context.Background())
	f.news.during = interrupt
	done, err := f.processor("w1").Run(ctx, queue.ProcessOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, done.Posted)
	require.Equal(t, []string{"news https://example.jp/a posted", "news https://example.jp/b queued"}, f.entries())
}

func TestSixteenWorkersSendOneEntryOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	var wg sync.WaitGroup
	for range 16 {
		q := *f.Queue
		q.Store = f.open()
		p := f.processor("w")
		p.Queue = &q
		wg.Go(func() { _, _ = p.Run(context.Background(), queue.ProcessOptions{}) })
	}
	wg.Wait()
	require.Len(t, f.news.posts, 1)
}

func TestWhatBelongsToNoDestinationIsKeptAndNotSent(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var list []queue.Candidate
	for _, raw := range []string{
		`{"webhook":"https://hook.example/gone","url":"https://example.jp/a","due_at":"2026-08-01T00:00:00Z"}`,
		`{"url":"https://example.jp/b","due_at":"2026-08-01T00:00:00Z"}`,
		`{"webhook":"https://hook.example/news","url":"https://example.jp/c","title":"c","scheduledAt":1785000000000}`,
	} {
		e, err := queue.ParseRecord([]byte(raw), queue.InQueue)
		require.NoError(t, err)
		list = append(list, queue.Candidate{Entry: &e})
	}
	_, err := f.Store.Insert(context.Background(), list)
	require.NoError(t, err)
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, 1, done.Due)
	require.Equal(t, []string{"c https://example.jp/c"}, f.news.texts(), "the older shape of a configured webhook is sent")
	stray, err := f.Stray(context.Background())
	require.NoError(t, err)
	require.Len(t, stray, 2)
}

func TestASecretNeverGetsIntoTheLedger(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	f.process(queue.ProcessOptions{})
	for e, err := range f.Store.All(context.Background()) {
		require.NoError(t, err)
		raw, err := queue.MarshalRecord(e)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "hook.example")
		require.True(t, dedupe.IsFingerprint(e.Key.Webhook))
		require.True(t, strings.HasPrefix(e.Key.String(), "wh_"))
	}
}
