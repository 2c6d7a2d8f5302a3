package queue_test

import (
	"context"
	"testing"
	"time"

	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

func TestWhatThePlatformSaysOfAnUncertainEntry(t *testing.T) {
	t.Parallel()
	absent := queue.Answer{Presence: poster.Absent, Resend: true}
	tests := map[string]struct {
		change func(*queue.Entry)
		answer queue.Answer
		want   queue.Status
		due    time.Time
	}{
		"found: it is posted":                     {nil, queue.Answer{Presence: poster.Found, Receipt: poster.Receipt{RemoteID: "7"}}, queue.Posted, time.Time{}},
		"absent once: it is asked again":          {nil, absent, queue.Uncertain, now.Add(2 * time.Minute)},
		"absent twice: it is sent again":          {func(e *queue.Entry) { e.Claim.Absent = 1 }, absent, queue.Queued, now},
		"absent twice, not safe: a person":        {func(e *queue.Entry) { e.Claim.Absent = 1 }, queue.Answer{Presence: poster.Absent}, queue.Uncertain, time.Time{}},
		"absent twice after ten sends: a person":  {func(e *queue.Entry) { e.Claim.Absent, e.Attempts = 1, 10 }, absent, queue.Uncertain, time.Time{}},
		"absent so soon proves nothing":           {func(e *queue.Entry) { e.Claim.At = now.Add(-time.Minute) }, absent, queue.Uncertain, time.Time{}},
		"absent before it is due proves nothing":  {func(e *queue.Entry) { e.Claim.Absent, e.DueAt = 1, now.Add(time.Minute) }, absent, queue.Uncertain, now.Add(time.Minute)},
		"it cannot tell: it is asked again":       {func(e *queue.Entry) { e.Claim.At = now.Add(-5 * time.Minute) }, queue.Answer{}, queue.Uncertain, now.Add(10 * time.Minute)},
		"it cannot tell for an hour: a person":    {nil, queue.Answer{}, queue.Uncertain, time.Time{}},
		"nothing is known of the message: a hint": {func(e *queue.Entry) { e.Claim.Absent, e.Message = 1, poster.Message{} }, absent, queue.Uncertain, time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := entryIn(queue.Uncertain)
			if test.change != nil {
				test.change(&e)
			}
			got, err := queue.Probe(e, now, test.answer)
			require.NoError(t, err)
			require.Equal(t, test.want, got.Status)
			require.Equal(t, test.due, got.DueAt)
			if got.Status == queue.Queued {
				require.Equal(t, e.Message, got.Message, "the same bytes go out again")
				require.Equal(t, queue.Claim{FirstAt: e.Claim.FirstAt, Absent: 2}, got.Claim, "its age counts on")
			}
			line, err := queue.MarshalRecord(got)
			require.NoError(t, err)
			again, err := queue.ParseRecord(line, got.Status.Final())
			require.NoError(t, err)
			require.Equal(t, got.Claim.Absent, again.Claim.Absent, "the count is kept")
		})
	}
	for _, s := range queue.Statuses {
		if s != queue.Uncertain {
			_, err := queue.Probe(entryIn(s), now, absent)
			require.ErrorIs(t, err, queue.ErrNotDue)
		}
	}
}

// witness is an account that can be asked.
type witness struct {
	*account
	resend bool
	// within bounds resend.
	within time.Duration
	says   []poster.Presence
	asked  int
}

func (w *witness) Traits() poster.Traits {
	t := w.account.Traits()
	t.Resend, t.ResendFor = w.resend, w.within
	return t
}

func (w *witness) Verify(context.Context, poster.Message, time.Time) (poster.Presence, poster.Receipt, error) {
	w.asked++
	if len(w.says) == 0 {
		return poster.CannotTell, poster.Receipt{}, &poster.Error{Reason: "no answer"}
	}
	p := w.says[0]
	w.says = w.says[1:]
	return p, poster.Receipt{RemoteID: "found"}, nil
}

// witnessed is a fleet with one destination that can be asked, and one entry there
// whose send ended unknown.
func witnessed(t *testing.T, resend bool, idempotent time.Duration, says ...poster.Presence) (*fleet, *witness) {
	t.Helper()
	f := newFleet(t)
	d := f.only("news")
	f.news.idempotent = idempotent
	w := &witness{account: f.news, resend: resend, says: says}
	d.Poster = w
	f.news.answer(&poster.Error{Reason: "reset"})
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	f.process(queue.ProcessOptions{})
	return f, w
}

func TestProcessAsksByItselfWhatBecameOfASend(t *testing.T) {
	t.Parallel()
	f, w := witnessed(t, true, 0, poster.Found)
	require.Zero(t, f.process(queue.ProcessOptions{}).Due, "not at once")
	require.Zero(t, w.asked)
	f.clock = f.clock.Add(2 * time.Minute)
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, 1, done.Posted)
	require.Equal(t, "found", done.Sent[0].Entry.RemoteID)
	require.Len(t, f.news.posts, 1)
}

func TestWhatIsAbsentTwiceIsSentAgainWhereThatIsSafe(t *testing.T) {
	t.Parallel()
	for _, resend := range []bool{true, false} {
		f, w := witnessed(t, resend, 0, poster.Absent, poster.Absent)
		for range 4 {
			f.clock = f.clock.Add(2 * time.Minute)
			f.process(queue.ProcessOptions{})
		}
		if resend {
			require.Equal(t, 3, w.asked, "twice, and once more before it is sent again")
			require.Len(t, f.news.posts, 2)
			require.Equal(t, f.news.posts[0], f.news.posts[1])
			require.Equal(t, []string{"news https://example.jp/a posted"}, f.entries())
		} else {
			require.Equal(t, 2, w.asked)
			require.Len(t, f.news.posts, 1)
			require.Equal(t, []string{"news https://example.jp/a uncertain"}, f.entries())
		}
	}
}

// TestADuplicateIsAReceiptOnlyOfWhatMayBeOut: else another program said the same.
func TestADuplicateIsAReceiptOnlyOfWhatMayBeOut(t *testing.T) {
	t.Parallel()
	duplicate := &poster.Error{Outcome: poster.RejectedContent, Reason: "it has that", Duplicate: true}
	for name, test := range map[string]struct {
		answers []error
		entry   string
	}{
		"the first attempt":            {[]error{duplicate}, "failed"},
		"after no answer":              {[]error{&poster.Error{Reason: "reset"}, duplicate}, "posted"},
		"after no answer, and a limit": {[]error{&poster.Error{Reason: "reset"}, &poster.Error{Outcome: poster.Later, NotBefore: now}, duplicate}, "posted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			f.news.answer(test.answers...)
			f.add(queue.AddOptions{}, batch(false, article("a", hour)))
			f.process(queue.ProcessOptions{})
			for range test.answers[1:] {
				for e, err := range f.Store.All(context.Background()) {
					require.NoError(t, err)
					if e.Status == queue.Uncertain {
						_, err = f.Store.Update(context.Background(), e.ID, resolve(queue.Queued))
						require.NoError(t, err)
					}
				}
				f.process(queue.ProcessOptions{})
			}
			require.Equal(t, []string{"news https://example.jp/a " + test.entry}, f.entries())
			for _, m := range f.news.posts {
				require.Equal(t, f.news.posts[0], m)
			}
		})
	}
}

// TestWhatIsAbsentIsSentAgainOnlyWhileItsPlatformKnowsTheID: an ID that the platform
// has forgotten would make a second post of a first one that was only late.
func TestWhatIsAbsentIsSentAgainOnlyWhileItsPlatformKnowsTheID(t *testing.T) {
	t.Parallel()
	absent := []poster.Presence{poster.Absent, poster.Absent, poster.Absent, poster.Absent}
	for name, test := range map[string]struct {
		first, then time.Duration
		answer      error
		posts       int
		entry       string
	}{
		"in time":                         {2 * time.Minute, 2 * time.Minute, nil, 2, "posted"},
		"too late for the second answer":  {2 * time.Minute, 48 * time.Minute, nil, 1, "uncertain"},
		"too late for both":               {3 * hour, 2 * time.Minute, nil, 1, "uncertain"},
		"refused, then in time":           {2 * time.Minute, 2 * time.Minute, &poster.Error{Outcome: poster.Later, Reason: "busy"}, 3, "posted"},
		"refused for good":                {2 * time.Minute, 2 * time.Minute, &poster.Error{Outcome: poster.RejectedContent, Reason: "no"}, 2, "failed"},
		"no answer again: asked again":    {2 * time.Minute, 2 * time.Minute, &poster.Error{Reason: "reset"}, 3, "posted"},
		"refused until it is too late":    {2 * time.Minute, 2 * time.Minute, &poster.Error{Outcome: poster.Later, Reason: "busy", NotBefore: now.Add(2 * hour)}, 2, "uncertain"},
		"no answer until it is too late ": {2 * time.Minute, 45 * time.Minute, &poster.Error{Reason: "reset"}, 2, "uncertain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, w := witnessed(t, true, 0, append(absent, absent...)...)
			w.within = 50 * time.Minute
			if test.answer != nil {
				f.news.answer(test.answer)
			}
			f.clock = f.clock.Add(test.first)
			f.process(queue.ProcessOptions{})
			f.clock = f.clock.Add(test.then)
			f.process(queue.ProcessOptions{})
			for range 6 {
				f.process(queue.ProcessOptions{})
				f.clock = f.clock.Add(3 * time.Minute)
			}
			f.clock = f.clock.Add(3 * hour)
			f.process(queue.ProcessOptions{})
			require.Len(t, f.news.posts, test.posts)
			require.Equal(t, []string{"news https://example.jp/a " + test.entry}, f.entries())
		})
	}
}

// TestWhatWasAbsentIsNotSentAgainAfterACrash: a worker that died while it sent an
// entry again leaves it as uncertain as the first time.
func TestWhatWasAbsentIsNotSentAgainAfterACrash(t *testing.T) {
	t.Parallel()
	e := entryIn(queue.Queued)
	e.Claim, e.DueAt = queue.Claim{FirstAt: now.Add(-10 * time.Minute), Absent: 2}, now.Add(-time.Minute)
	e.Message = poster.Message{ID: e.ID, Text: "text", Body: []byte("{}")}
	claim := queue.Claim{Token: "token", By: "worker", At: now, LeaseUntil: now.Add(queue.Lease)}
	sending, err := queue.TakeClaim(e, now, false, hour, claim, poster.Message{})
	require.NoError(t, err)
	require.Equal(t, e.Claim.FirstAt, sending.Claim.FirstAt)
	uncertain, err := queue.Expire(sending, now, true, 0)
	require.NoError(t, err)
	require.Equal(t, queue.Uncertain, uncertain.Status)
	require.Zero(t, uncertain.Claim.Absent, "what was said before does not count")
}

func TestAPlatformThatCannotTellIsAskedForAnHour(t *testing.T) {
	t.Parallel()
	f, w := witnessed(t, true, 0)
	for range 24 {
		f.clock = f.clock.Add(5 * time.Minute)
		f.process(queue.ProcessOptions{})
	}
	require.Len(t, f.news.posts, 1)
	require.LessOrEqual(t, w.asked, 8)
	require.Equal(t, []string{"news https://example.jp/a uncertain"}, f.entries())
}

func TestNothingIsAskedWhilePausedOrInADryRun(t *testing.T) {
	t.Parallel()
	f, w := witnessed(t, true, 0, poster.Found)
	f.clock = f.clock.Add(hour)
	f.process(queue.ProcessOptions{DryRun: true})
	require.NoError(t, queue.ChangeBook(t.Context(), f.Store, queue.FleetBook, func(p *queue.Pacing) error {
		p.Paused = &queue.Pause{Reason: "stop"}
		return nil
	}))
	f.process(queue.ProcessOptions{})
	require.Zero(t, w.asked)
}

func TestARepeatAsksFirst(t *testing.T) {
	t.Parallel()
	f, w := witnessed(t, true, hour, poster.Found)
	f.clock = f.clock.Add(time.Minute)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
	require.Equal(t, 1, w.asked)
	require.Len(t, f.news.posts, 1)
}

func TestARefusedRepeatKeepsWhatMayHaveGoneOut(t *testing.T) {
	t.Parallel()
	f, _ := witnessed(t, true, hour)
	f.news.answer(&poster.Error{Outcome: poster.Later, Reason: "busy"})
	f.clock = f.clock.Add(time.Minute)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Later)
	f.clock = f.clock.Add(5 * time.Minute)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
	require.Len(t, f.news.posts, 3)
	require.Equal(t, f.news.posts[0], f.news.posts[2])
	require.Equal(t, []string{"news https://example.jp/a posted"}, f.entries())
}
