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
	// sendLimit bounds one attempt, and settleLimit the record of how it went,
	// both by the machine's own clock and whether or not the run is interrupted.
	sendLimit, settleLimit = 60 * time.Second, 30 * time.Second
	// patience is after how many unknown outcomes in a row a destination is left
	// alone for this run, so that one that hangs does not make a whole backlog
	// uncertain.
	patience = 3
)

// lane is what is due at one destination, served one at a time. What its rules
// have in shadow mode is a lane of its own.
type lane struct {
	*pass
	d      *Destination
	traits poster.Traits
	// shadow: no request is made.
	shadow bool
	due    []*dueEntry
	// sent counts this run's attempts, unknown those in a row that ended so, and
	// slotless the entries that have to wait for a slot.
	sent, unknown, slotless int
	// reserved: the next attempt's place in the destination's pace is taken, and
	// reservedSlot: its slot as well.
	reserved, reservedSlot bool
}

type dueEntry struct {
	entry Entry
	gone  bool
}

// turn is 0 for an entry whose worker died, and 1 for all others: what becomes of
// the first need not wait until the destination may be sent to.
func (d *dueEntry) turn() int {
	if d.entry.Status == Sending {
		return 0
	}
	return 1
}

// waitError says that the lane is over for this run, and why, unless that was
// said already.
type waitError string

func (w waitError) Error() string { return string(w) }

const errOver waitError = ""

// errNoSlot says that the entry has to wait for a slot of its own.
var errNoSlot = errors.New("its slot is yet to come: one entry goes out at each")

// lost reports whether an entry was not as it was expected, most often because
// another worker was faster.
func lost(err error) bool { return errors.Is(err, ErrNotDue) || errors.Is(err, ErrNotFound) }

// learn lets the destination's platform ask for its limit before texts are made.
func (l *lane) learn(ctx context.Context) {
	if learner, ok := l.d.Poster.(poster.Learner); ok {
		learner.Learn(ctx)
		l.traits = l.d.Poster.Traits()
	}
}

// run serves the lane until it is empty or has to wait.
func (l *lane) run(ctx context.Context) error {
	l.learn(ctx)
	for i, e := range l.due {
		if ctx.Err() != nil {
			return nil
		}
		err := l.serve(ctx, e)
		wait, waits := errors.AsType[waitError](err)
		switch {
		case err == nil, lost(err):
			// Done, or another worker was faster.
		case errors.Is(err, errNoSlot):
			l.slotless++
		case waits:
			if rest := len(l.due) - i; wait != "" {
				l.notice(false, "%s waits: %s (%d due)", l.d.Name, wait, rest)
			}
			return nil
		case ctx.Err() != nil:
			return nil
		default:
			return err
		}
	}
	if l.slotless > 0 {
		l.notice(false, "%s waits: %d due, and one goes out at each slot", l.d.Name, l.slotless)
	}
	return nil
}

// honoured is for how long the entry's message may be repeated: what shadow mode
// claimed for ever, since nothing goes out, what a real send claimed not at all once
// its rule is in shadow mode, and what its platform was asked for and does not have
// for longer, where that is safe.
func (l *lane) honoured(e Entry) time.Duration {
	switch {
	case !l.shadow && e.Status == Queued && e.Claim.Absent >= enough:
		return max(l.traits.Idempotent, resendFor(l.traits))
	case !l.shadow:
		return l.traits.Idempotent
	case e.Shadow:
		return math.MaxInt64
	default:
		return 0
	}
}

// serve brings one entry as far as it goes now. Everything that can be checked is
// checked, and the message is made, before the claim.
func (l *lane) serve(ctx context.Context, d *dueEntry) error {
	e, store := d.entry, l.Queue.Store
	if e.Status == Uncertain {
		return l.ask(ctx, e)
	}
	if unrepeatable(e, l.Queue.now(), l.honoured(e)) {
		return l.expire(ctx, d)
	}
	if k, ok := l.twin(e); ok {
		return l.settleTwin(ctx, e, k)
	}
	message, fresh := e.Message, e.Message.ID == ""
	if fresh {
		var err error
		if message, err = l.Queue.Render(e, l.d); err != nil {
			return l.refuse(ctx, e, err)
		}
	}
	if l.o.DryRun {
		if err := l.takeAttempt(); err != nil {
			return err
		}
		l.sent++
		l.record(Sent{Entry: e, Destination: l.d.Name, Text: message.Text})
		return nil
	}
	if err := l.mayClaim(ctx, e); err != nil {
		return err
	}
	if preparer, ok := l.d.Poster.(poster.Preparer); ok && fresh && !l.shadow {
		message = preparer.Prepare(ctx, e.Article, message)
	}
	claim := l.claim()
	claimed := l.observe("claim")
	e, err := store.Update(ctx, e.ID, func(e Entry) (Entry, error) {
		e, err := TakeClaim(e, l.Queue.now(), d.gone, l.honoured(e), claim, message)
		if err == nil {
			e.Shadow = l.shadow
		}
		return e, err
	})
	claimed()
	if err != nil {
		return err
	}
	l.reserved = false
	l.sent++
	return l.send(ctx, e)
}

// claim makes a fresh claim for this worker.
func (l *lane) claim() Claim {
	now := l.Queue.now()
	return Claim{Token: l.Token(), By: l.Worker, At: now, LeaseUntil: now.Add(Lease)}
}

// takeAttempt takes one attempt from what the run and the destination may make.
func (l *lane) takeAttempt() error {
	if l.d.MaxPerRun > 0 && l.sent >= l.d.MaxPerRun {
		return waitError("max_per_run is reached")
	}
	if !l.take() {
		return waitError("the run's limit is reached")
	}
	return nil
}

// expire records that nobody knows how the entry's last attempt went.
func (l *lane) expire(ctx context.Context, d *dueEntry) error {
	if l.o.DryRun {
		return nil
	}
	e, err := l.Queue.Store.Update(ctx, d.entry.ID, func(e Entry) (Entry, error) {
		return l.watch(Expire(e, l.Queue.now(), d.gone, l.honoured(e)))
	})
	if err == nil {
		l.record(Sent{Entry: e, Destination: l.d.Name, Outcome: poster.Unknown.String()})
	}
	return err
}

// refuse records that the entry cannot be sent as it is.
func (l *lane) refuse(ctx context.Context, e Entry, why error) error {
	reason := fmt.Sprintf("cannot be sent as it is: %v", why)
	if l.o.DryRun {
		e.Reason = reason
	} else {
		var err error
		if e, err = l.Queue.Store.Update(ctx, e.ID, func(e Entry) (Entry, error) { return Refuse(e, reason) }); err != nil {
			return err
		}
	}
	l.record(Sent{Entry: e, Destination: l.d.Name, Outcome: poster.RejectedContent.String()})
	return nil
}

// send sends a claimed entry and records how it went, interrupted or not.
func (l *lane) send(ctx context.Context, e Entry) error {
	ctx = context.WithoutCancel(ctx)
	receipt, sendErr := l.post(ctx, e)
	outcome := poster.OutcomeOf(sendErr)

	settling, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	token, text := e.Claim.Token, e.Message.Text
	settled, err := l.Queue.Store.Update(settling, e.ID, func(e Entry) (Entry, error) {
		return l.watch(Settle(e, l.Queue.now(), token, Attempt{Receipt: receipt, Err: sendErr, Repeat: l.traits.Idempotent > 0}))
	})
	if err != nil {
		// The entry stays claimed, and the next run finds it so.
		l.record(Sent{Entry: e, Destination: l.d.Name, Outcome: outcome.String(), Text: text})
		return fmt.Errorf("record how %s was sent to %s (%s): %w", e.Article.URL, l.d.Name, outcome, err)
	}
	l.sentAs(settled)
	l.record(Sent{Entry: settled, Destination: l.d.Name, Outcome: outcome.String(), Text: text})
	return l.after(settling, outcome, sendErr, settled)
}

// post makes the one request of an attempt, or, in shadow mode, does not.
func (l *lane) post(ctx context.Context, e Entry) (poster.Receipt, error) {
	if e.Shadow {
		return poster.Receipt{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	defer l.observe("send")()
	return l.deliver(ctx, e)
}

// after decides from the last attempt whether the lane goes on.
func (l *lane) after(ctx context.Context, outcome poster.Outcome, sendErr error, e Entry) error {
	if outcome != poster.Delivered && outcome != poster.Unknown {
		if err := l.giveBack(ctx); err != nil {
			return err
		}
	}
	switch outcome {
	case poster.RejectedDestination:
		return l.pause(ctx, sendErr)
	case poster.Later:
		return l.wait(ctx, sendErr, e)
	case poster.Unknown:
		if l.unknown++; l.unknown >= patience {
			return waitError(fmt.Sprintf("%d sends in a row ended unknown", l.unknown))
		}
	default:
		l.unknown = 0
	}
	return nil
}

// pause throws the destination's kill switch until somebody mends it.
func (l *lane) pause(ctx context.Context, why error) error {
	err := ChangeBook(ctx, l.Queue.Store, DestinationBook(l.d.Name), func(p *Pacing) error {
		p.Paused = &Pause{Reason: why.Error(), Since: l.Queue.now(), Settings: l.d.Settings}
		return nil
	})
	if err != nil {
		return err
	}
	l.notice(true, "%s is paused: %v. Mend it, then `bot resume %s`", l.d.Name, why, l.d.Name)
	return errOver
}

// wait lets the destination's other entries wait as long as this one, since what
// it said of one request it would say of the next.
func (l *lane) wait(ctx context.Context, why error, e Entry) error {
	until := e.DueAt
	if until.IsZero() {
		until = nextAttempt(l.Queue.now(), e.Attempts, why)
	}
	err := ChangeBook(ctx, l.Queue.Store, DestinationBook(l.d.Name), func(p *Pacing) error {
		p.NotBefore = until
		return nil
	})
	if err != nil {
		return err
	}
	return errOver
}
