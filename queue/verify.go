package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"bot/poster"
)

const (
	// askAfter is how long after a send its platform is first asked, and how long it
	// is left alone in between: a server may still be at work on what it was sent.
	askAfter = 2 * time.Minute
	// enough is how often a platform has to say that it has no such post.
	enough = 2
	// askFor is for how long after the claim a platform is asked that cannot tell.
	askFor = time.Hour
	// askLimit bounds one question, by the machine's own clock.
	askLimit = 60 * time.Second
)

// ErrCannotAsk: the entry's platform cannot be asked what became of it.
var ErrCannotAsk = errors.New("cannot be asked")

// Watch plans when the platform of an uncertain entry is asked what became of it.
// Any other entry stays as it is.
func Watch(e Entry, now time.Time) Entry {
	if e.Status == Uncertain && e.Message.ID != "" {
		e.DueAt = ceilMilli(now.Add(askAfter))
	}
	return e
}

// Answer is what a platform says of an entry that may have been announced.
type Answer struct {
	// Presence says whether the platform has the post.
	Presence poster.Presence
	// Receipt is the platform's. Only with Found.
	Receipt poster.Receipt
	// Resend says that an entry that the platform twice did not have may be sent
	// again.
	Resend bool
}

// Probe applies what the platform answered about an uncertain entry. Found, it is
// posted. Absent twice, with time between, it is queued again with the message as
// it was frozen, where that is safe. Everything else leaves it uncertain, to be
// asked about again or, after a while, decided by a person. It returns ErrNotDue for
// an entry in any other state.
func Probe(e Entry, now time.Time, a Answer) (Entry, error) {
	if e.Status != Uncertain {
		return e, ErrNotDue
	}
	early := now.Before(e.DueAt) || now.Before(e.Claim.At.Add(askAfter))
	switch {
	case a.Presence == poster.Found:
		return posted(e, now, a.Receipt), nil
	case a.Presence == poster.CannotTell:
		if !early {
			e.DueAt = askAgain(e, now)
		}
		return e, nil
	case early:
		// It may be published yet, so this does not count.
		return e, nil
	}
	if e.Claim.Absent++; e.Claim.Absent < enough {
		return Watch(e, now), nil
	}
	e.DueAt = time.Time{}
	absence := fmt.Sprintf("the platform was asked %d times and does not have it", e.Claim.Absent)
	if !a.Resend || e.Attempts >= MaxAttempts || e.Message.ID == "" {
		e.LastError = absence + "; " + e.LastError
		return e, nil
	}
	// The frozen message stays, so that one that is still under way and this one
	// are the same wherever the platform can tell, and its age counts on.
	again, claim := e.Message, e.Claim
	e = requeued(e, now)
	e.Message, e.LastError = again, absence
	e.Claim = Claim{FirstAt: claim.FirstAt, Absent: claim.Absent}
	return e, nil
}

// askAgain is when a platform that cannot tell is asked again. Zero: no more.
func askAgain(e Entry, now time.Time) time.Time {
	if now.Sub(e.Claim.At) >= askFor {
		return time.Time{}
	}
	return ceilMilli(now.Add(5 * askAfter))
}

// Ask asks the platform of an uncertain entry what became of it, and applies the
// answer. It returns ErrCannotAsk where there is nobody to ask, and beside the entry
// what the platform said: an error of the platform's is returned with CannotTell.
func (q *Queue) Ask(ctx context.Context, e Entry) (Entry, poster.Presence, error) {
	if e.Status != Uncertain {
		return e, poster.CannotTell, forbidden(e, "probe", "; only uncertain entries are asked about")
	}
	d := q.DestinationOf(e.Key.Webhook)
	if d == nil || e.Message.ID == "" {
		return e, poster.CannotTell, fmt.Errorf("entry %s %w: its destination or what was sent is not known", e.ID, ErrCannotAsk)
	}
	verifier, ok := d.Poster.(poster.Verifier)
	if !ok {
		return e, poster.CannotTell, fmt.Errorf("entry %s %w: the platform of %s does not say; look at the account", e.ID, ErrCannotAsk, d.Name)
	}
	asking, cancel := context.WithTimeout(ctx, askLimit)
	if learner, ok := d.Poster.(poster.Learner); ok {
		learner.Learn(asking)
	}
	presence, receipt, asked := verifier.Verify(asking, e.Message, sentSince(e))
	cancel()
	changed, err := q.Store.Update(ctx, e.ID, func(now Entry) (Entry, error) {
		if now.Claim.Token != e.Claim.Token {
			return now, ErrNotDue
		}
		return Probe(now, q.now(), Answer{presence, receipt, q.now().Sub(sentSince(now)) < resendFor(d.Poster.Traits())})
	})
	if err != nil {
		return e, presence, err
	}
	return changed, presence, asked
}

// resendFor is for how long after its first attempt a message may be sent again that
// its platform was asked for and does not have.
func resendFor(t poster.Traits) time.Duration {
	switch {
	case !t.Resend:
		return 0
	case t.ResendFor == 0:
		return math.MaxInt64
	default:
		return t.ResendFor
	}
}

// sentSince is when the entry's message may first have gone out.
func sentSince(e Entry) time.Time {
	if e.Claim.FirstAt.IsZero() {
		return e.Claim.At
	}
	return e.Claim.FirstAt
}

// ask asks what became of an uncertain entry, unless the destination is to be left
// alone.
func (l *lane) ask(ctx context.Context, e Entry) error {
	if l.o.DryRun {
		return nil
	}
	if err := l.mayAsk(ctx); err != nil {
		return err
	}
	changed, _, err := l.Queue.Ask(ctx, e)
	if errors.Is(err, ErrCannotAsk) {
		// The platform is another one now: a person decides.
		_, err = l.Queue.Store.Update(ctx, e.ID, func(e Entry) (Entry, error) {
			if e.Status == Uncertain {
				e.DueAt = time.Time{}
			}
			return e, nil
		})
		return err
	}
	if _, said := errors.AsType[*poster.Error](err); err != nil && !said {
		return err
	}
	switch changed.Status {
	case Posted:
		l.record(Sent{Entry: changed, Destination: l.d.Name, Outcome: poster.Delivered.String(), Text: e.Message.Text})
	case Queued:
		l.record(Sent{Entry: changed, Destination: l.d.Name, Outcome: poster.Later.String(), Text: e.Message.Text})
	}
	return nil
}

// mayAsk returns a waitError while the kill switch is thrown.
func (l *lane) mayAsk(ctx context.Context) error {
	fleet, err := ReadBook[Pacing](ctx, l.Queue.Store, FleetBook)
	if err != nil {
		return err
	}
	if fleet.Paused != nil {
		return waitError("everything is paused: " + fleet.Paused.Reason)
	}
	pacing, err := ReadBook[Pacing](ctx, l.Queue.Store, DestinationBook(l.d.Name))
	if err != nil {
		return err
	}
	return l.open(pacing, l.Queue.now())
}

// deliver sends the entry's message, unless it may have gone out before and its
// platform says that it did.
func (l *lane) deliver(ctx context.Context, e Entry) (poster.Receipt, error) {
	if verifier, ok := l.d.Poster.(poster.Verifier); ok && resent(e) {
		if presence, receipt, _ := verifier.Verify(ctx, e.Message, e.Claim.FirstAt); presence == poster.Found {
			return receipt, nil
		}
	}
	receipt, err := l.d.Poster.Post(ctx, e.Message)
	if said, ok := errors.AsType[*poster.Error](err); ok && said.Duplicate && resent(e) {
		return poster.Receipt{}, nil // It went out before, and under which ID was not to be found.
	}
	return receipt, err
}

// resent reports whether the claimed entry may have gone out before this claim.
func resent(e Entry) bool {
	first := e.Claim.FirstAt
	return e.Claim.Again || !first.IsZero() && !first.Equal(e.Claim.At)
}

// watch plans to ask about an entry that became uncertain, if there is one to ask.
func (l *lane) watch(e Entry, err error) (Entry, error) {
	if _, ok := l.d.Poster.(poster.Verifier); !ok || err != nil {
		return e, err
	}
	return Watch(e, l.Queue.now()), nil
}
