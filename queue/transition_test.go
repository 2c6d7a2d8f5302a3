package queue_test

import (
	"errors"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)

const hour = time.Hour

// entryIn returns an entry as it stands in the given state: due, or with a claim
// whose lease is over, so that every step that time alone could forbid is allowed.
func entryIn(s queue.Status) queue.Entry {
	key := dedupe.Key{Webhook: dedupe.Fingerprint("https://hook.example/1"), URL: "https://example.jp/a"}
	e := queue.Entry{ID: key.ID(), Key: key, Status: s, Article: queue.Article{URL: "https://example.jp/a", Summary: "long"}}
	switch s {
	case queue.Queued:
		e.DueAt = now
	case queue.Sending, queue.Uncertain:
		e.Claim = queue.Claim{Token: "t1", By: "w1", At: now.Add(-hour), FirstAt: now.Add(-hour), LeaseUntil: now}
		e.Message = poster.Message{ID: e.ID, Text: "frozen"}
		e.Attempts = 1
	case queue.Held:
		e.Reason = "brake"
	case queue.Failed:
		e.Reason, e.Attempts = "refused", 10
	}
	return e
}

var (
	claim  = queue.Claim{Token: "t2", By: "w2", At: now, LeaseUntil: now.Add(queue.Lease)}
	fresh  = poster.Message{ID: "x", Text: "fresh"}
	refuse = func(o poster.Outcome) queue.Attempt {
		return queue.Attempt{Err: &poster.Error{Outcome: o, Reason: "no"}}
	}
)

func settle(a queue.Attempt) func(queue.Entry) (queue.Entry, error) {
	return func(e queue.Entry) (queue.Entry, error) { return queue.Settle(e, now, "t1", a) }
}

func resolve(to queue.Status) func(queue.Entry) (queue.Entry, error) {
	return func(e queue.Entry) (queue.Entry, error) {
		return queue.Resolve(e, now, queue.Resolution{To: to})
	}
}

// TestEveryStateMeetsEveryEvent is the state diagram: where each event takes an
// entry from each state. An absent state is one in which the event is refused.
func TestEveryStateMeetsEveryEvent(t *testing.T) {
	t.Parallel()
	type states map[queue.Status]queue.Status
	repeat := queue.Attempt{Err: errors.New("reset"), Repeat: true}
	open := func(to queue.Status) states { return states{queue.Sending: to, queue.Uncertain: to} }
	decided := func(to queue.Status) states { return states{queue.Uncertain: to, queue.Failed: to} }
	events := []struct {
		name string
		do   func(queue.Entry) (queue.Entry, error)
		to   states
	}{
		{"claim", func(e queue.Entry) (queue.Entry, error) {
			return queue.TakeClaim(e, now, false, 0, claim, fresh)
		}, states{queue.Queued: queue.Sending}},
		{"claim at an idempotent destination", func(e queue.Entry) (queue.Entry, error) {
			return queue.TakeClaim(e, now, false, 24*hour, claim, fresh)
		}, states{queue.Queued: queue.Sending, queue.Sending: queue.Sending}},
		{"expire", func(e queue.Entry) (queue.Entry, error) { return queue.Expire(e, now, false, 0) },
			states{queue.Sending: queue.Uncertain}},
		{"expire at an idempotent destination", func(e queue.Entry) (queue.Entry, error) {
			return queue.Expire(e, now, false, 24*hour)
		}, states{}},
		{"refuse", func(e queue.Entry) (queue.Entry, error) { return queue.Refuse(e, "no author") },
			states{queue.Queued: queue.Failed}},
		{"settle delivered", settle(queue.Attempt{}), open(queue.Posted)},
		{"settle later", settle(refuse(poster.Later)), open(queue.Queued)},
		{"settle content rejected", settle(refuse(poster.RejectedContent)), open(queue.Failed)},
		{"settle destination rejected", settle(refuse(poster.RejectedDestination)), open(queue.Queued)},
		{"settle unknown", settle(refuse(poster.Unknown)), open(queue.Uncertain)},
		{"settle unknown at an idempotent destination", settle(repeat), open(queue.Queued)},
		{"resolve posted", resolve(queue.Posted), decided(queue.Posted)},
		{"resolve resend", resolve(queue.Queued), decided(queue.Queued)},
		{"resolve drop", resolve(queue.Skipped), decided(queue.Skipped)},
		{"resolve to nonsense", resolve(queue.Held), states{}},
		{"record", func(e queue.Entry) (queue.Entry, error) { return queue.Record(e, now) }, states{
			queue.Queued: queue.Posted, queue.Held: queue.Posted, queue.Failed: queue.Posted, queue.Uncertain: queue.Posted,
		}},
		{"retry", func(e queue.Entry) (queue.Entry, error) { return queue.Retry(e, now) },
			states{queue.Failed: queue.Queued, queue.Skipped: queue.Queued}},
		{"release", func(e queue.Entry) (queue.Entry, error) { return queue.Release(e, now) },
			states{queue.Held: queue.Queued}},
		{"cancel", queue.Cancel,
			states{queue.Queued: queue.Skipped, queue.Held: queue.Skipped, queue.Failed: queue.Skipped}},
		{"reschedule", func(e queue.Entry) (queue.Entry, error) { return queue.Reschedule(e, now.Add(hour)) },
			states{queue.Queued: queue.Queued}},
	}
	for _, event := range events {
		for _, from := range queue.Statuses {
			t.Run(event.name+" when "+string(from), func(t *testing.T) {
				t.Parallel()
				before := entryIn(from)
				after, err := event.do(before)
				to, allowed := event.to[from]
				if !allowed {
					require.Error(t, err)
					require.Equal(t, before, after, "a refused step changes nothing")
					return
				}
				require.NoError(t, err)
				require.Equal(t, to, after.Status)
				require.Equal(t, entryIn(from), before, "a step is pure")
				require.Equal(t, before.ID, after.ID)
				require.Equal(t, before.Key, after.Key)
			})
		}
	}
}

func TestAClaim(t *testing.T) {
	t.Parallel()

	t.Run("freezes the message, counts the attempt and sets the lease", func(t *testing.T) {
		t.Parallel()
		e, err := queue.TakeClaim(entryIn(queue.Queued), now, false, 0, claim, fresh)
		require.NoError(t, err)
		require.Equal(t, fresh, e.Message)
		require.Equal(t, 1, e.Attempts)
		require.Equal(t, now.Add(queue.Lease), e.Due())
		require.Equal(t, now, e.Claim.FirstAt)
	})
	t.Run("is refused before the due time", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Queued)
		e.DueAt = now.Add(time.Millisecond)
		_, err := queue.TakeClaim(e, now, false, 0, claim, fresh)
		require.ErrorIs(t, err, queue.ErrNotDue)
	})
	t.Run("repeats the frozen message and keeps the time of the first claim", func(t *testing.T) {
		t.Parallel()
		e, err := queue.TakeClaim(entryIn(queue.Sending), now, false, 24*hour, claim, fresh)
		require.NoError(t, err)
		require.Equal(t, "frozen", e.Message.Text)
		require.Equal(t, now.Add(-hour), e.Claim.FirstAt)
		require.Equal(t, "t2", e.Claim.Token)
	})
	t.Run("is not taken over while its lease runs, unless its worker is gone", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Sending)
		e.Claim.LeaseUntil = now.Add(time.Millisecond)
		_, err := queue.TakeClaim(e, now, false, 24*hour, claim, fresh)
		require.ErrorIs(t, err, queue.ErrNotDue)
		_, err = queue.TakeClaim(e, now, true, 24*hour, claim, fresh)
		require.NoError(t, err)
	})
	t.Run("becomes uncertain when the destination no longer honours the ID", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Queued)
		e.Message = poster.Message{ID: e.ID, Text: "frozen"}
		e.Claim.FirstAt = now.Add(-25 * hour)
		_, err := queue.TakeClaim(e, now, false, 24*hour, claim, fresh)
		require.ErrorIs(t, err, queue.ErrNotDue)
		e, err = queue.Expire(e, now, false, 24*hour)
		require.NoError(t, err)
		require.Equal(t, queue.Uncertain, e.Status)
	})
}

func TestASettlement(t *testing.T) {
	t.Parallel()

	t.Run("under another claim's token is refused", func(t *testing.T) {
		t.Parallel()
		_, err := queue.Settle(entryIn(queue.Sending), now, "t0", queue.Attempt{})
		require.ErrorIs(t, err, queue.ErrClaimLost)
		_, err = queue.Settle(entryIn(queue.Queued), now, "", queue.Attempt{})
		require.ErrorIs(t, err, queue.ErrClaimLost)
	})
	t.Run("delivered keeps what tells the article apart and drops the rest", func(t *testing.T) {
		t.Parallel()
		e, err := queue.Settle(entryIn(queue.Sending), now, "t1", queue.Attempt{Receipt: poster.Receipt{RemoteID: "9"}})
		require.NoError(t, err)
		require.Equal(t, "9", e.RemoteID)
		require.Equal(t, now, e.PostedAt)
		require.Equal(t, queue.Article{URL: "https://example.jp/a"}, e.Article)
		require.Zero(t, e.Claim)
		require.Zero(t, e.Message)
	})
	t.Run("later waits as long as the platform asked", func(t *testing.T) {
		t.Parallel()
		at := now.Add(7*time.Minute + 300*time.Microsecond)
		e, err := queue.Settle(entryIn(queue.Sending), now, "t1",
			queue.Attempt{Err: &poster.Error{Outcome: poster.Later, NotBefore: at}})
		require.NoError(t, err)
		require.Equal(t, now.Add(7*time.Minute+time.Millisecond), e.DueAt, "rounded up, never early")
		require.Zero(t, e.Message, "nothing went out, so the text may be made anew")
	})
	t.Run("later fails when the attempts are used up", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Sending)
		e.Attempts = queue.MaxAttempts
		e, err := queue.Settle(e, now, "t1", refuse(poster.Later))
		require.NoError(t, err)
		require.Equal(t, queue.Failed, e.Status)
		require.Equal(t, "tried 10 times", e.Reason)
	})
	t.Run("a rejected destination costs no attempt, and no place in the order", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Sending)
		e.DueAt = now.Add(-hour)
		e, err := queue.Settle(e, now, "t1", refuse(poster.RejectedDestination))
		require.NoError(t, err)
		require.Equal(t, now.Add(-hour), e.DueAt)
		require.Zero(t, e.Attempts)
		require.Equal(t, "no", e.LastError)
	})
	t.Run("a rejected repeat of what may have gone out is uncertain", func(t *testing.T) {
		t.Parallel()
		e := entryIn(queue.Sending)
		e.Claim.FirstAt = e.Claim.At.Add(-hour)
		e, err := queue.Settle(e, now, "t1", refuse(poster.RejectedContent))
		require.NoError(t, err)
		require.Equal(t, queue.Uncertain, e.Status)
	})
	t.Run("an error that nobody classified is unknown", func(t *testing.T) {
		t.Parallel()
		e, err := queue.Settle(entryIn(queue.Sending), now, "t1", queue.Attempt{Err: errors.New("?")})
		require.NoError(t, err)
		require.Equal(t, queue.Uncertain, e.Status)
	})
	t.Run("unknown at an idempotent destination keeps the message and the first claim's time", func(t *testing.T) {
		t.Parallel()
		e, err := queue.Settle(entryIn(queue.Sending), now, "t1", queue.Attempt{Err: errors.New("?"), Repeat: true})
		require.NoError(t, err)
		require.Equal(t, "frozen", e.Message.Text)
		require.Equal(t, now.Add(-hour), e.Claim.FirstAt)
		require.Equal(t, now.Add(30*time.Second), e.DueAt)
	})
}

func TestTheBackOffDoublesUpToAnHour(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{
		1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 7: 32 * time.Minute, 8: hour, 9: hour,
	} {
		e := entryIn(queue.Sending)
		e.Attempts = attempts
		e, err := queue.Settle(e, now, "t1", refuse(poster.Later))
		require.NoError(t, err)
		require.Equal(t, now.Add(want), e.DueAt, "after attempt %d", attempts)
	}
}

func TestAResolvedEntryIsResentAsItWas(t *testing.T) {
	t.Parallel()
	e, err := resolve(queue.Queued)(entryIn(queue.Uncertain))
	require.NoError(t, err)
	require.Equal(t, "frozen", e.Message.Text)
	require.Zero(t, e.Attempts)
	require.Equal(t, queue.Claim{FirstAt: now.Add(-hour), Again: true}, e.Claim)

	e, err = resolve(queue.Queued)(entryIn(queue.Failed))
	require.NoError(t, err)
	require.Zero(t, e.Message, "what was refused is made anew")
	require.Zero(t, e.Claim)
}

func TestAResendHoldsForOneAttempt(t *testing.T) {
	t.Parallel()
	resent := func(t *testing.T) queue.Entry {
		e, err := resolve(queue.Queued)(entryIn(queue.Uncertain))
		require.NoError(t, err)
		_, err = queue.Expire(e, now, false, 0)
		require.ErrorIs(t, err, queue.ErrNotDue, "a person has decided")
		e, err = queue.TakeClaim(e, now, false, 0, claim, fresh)
		require.NoError(t, err)
		require.Equal(t, "frozen", e.Message.Text)
		return e
	}
	for name, test := range map[string]struct {
		attempt queue.Attempt
		status  queue.Status
		text    string
		again   bool
	}{
		"delivered":                     {queue.Attempt{}, queue.Posted, "", false},
		"later: it goes out as it was":  {refuse(poster.Later), queue.Queued, "frozen", true},
		"nothing is taken there":        {refuse(poster.RejectedDestination), queue.Queued, "frozen", true},
		"refused: a person said it all": {refuse(poster.RejectedContent), queue.Failed, "", false},
		"unknown once more":             {refuse(poster.Unknown), queue.Uncertain, "frozen", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := queue.Settle(resent(t), now, "t2", test.attempt)
			require.NoError(t, err)
			require.Equal(t, test.status, e.Status)
			require.Equal(t, test.text, e.Message.Text)
			require.Equal(t, test.again, e.Claim.Again)
		})
	}
	e, err := queue.Expire(resent(t), now, true, 0)
	require.NoError(t, err)
	require.Equal(t, queue.Uncertain, e.Status, "its worker died")
	require.False(t, e.Claim.Again)
}

func TestAnOlderRecordWithoutWebhookIsNotReleased(t *testing.T) {
	t.Parallel()
	e := entryIn(queue.Held)
	e.Key.Webhook = ""
	_, err := queue.Release(e, now)
	require.ErrorIs(t, err, queue.ErrForbidden)
}
