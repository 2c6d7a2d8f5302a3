package queue

import (
	"cmp"
	"context"
	"time"
)

// Everything that says when not to send yet is looked at right before each claim,
// and reserved for all workers in the destination's record.

// pace returns that of real sends or of shadow ones.
func (p *Pacing) pace(shadow bool) *Pace {
	if shadow {
		return &p.Shadow
	}
	return &p.Pace
}

// shadow reports whether the entry belongs to shadow mode: by its claim if it has
// one, else by its rule as it is now.
func (q *Queue) shadow(e Entry) bool {
	if e.Status == Sending || e.Status == Posted {
		return e.Shadow
	}
	r := q.rule(e.Rule)
	return r != nil && r.Shadow
}

// day is the day of the fleet's zone that t is in, as 2006-01-02.
func (q *Queue) day(t time.Time) string { return t.In(q.zone()).Format(time.DateOnly) }

func (q *Queue) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}

// mayClaim returns a waitError unless the destination may be sent to now, and
// errNoSlot if only this entry has to wait. The attempt is counted and its place
// reserved, for all workers, before the claim; if the claim is lost, the next entry
// has them.
func (l *lane) mayClaim(ctx context.Context, e Entry) error {
	fleet, err := ReadBook[Pacing](ctx, l.Queue.Store, FleetBook)
	if err != nil {
		return err
	}
	if fleet.Paused != nil {
		return waitError("everything is paused: " + fleet.Paused.Reason)
	}
	book := DestinationBook(l.d.Name)
	pacing, err := ReadBook[Pacing](ctx, l.Queue.Store, book)
	if err != nil {
		return err
	}
	now, slotted := l.Queue.now(), l.d.slotted(e)
	if l.reserved && (l.reservedSlot || !slotted) {
		return l.open(pacing, now)
	}
	if err := l.may(pacing, now, slotted); err != nil {
		return err
	}
	if err := l.takeAttempt(); err != nil {
		return err
	}
	if l.d.MinInterval > 0 || l.d.MaxPerDay > 0 || l.d.Slots != nil || pacing.Paused != nil {
		err = ChangeBook(ctx, l.Queue.Store, book, func(p *Pacing) error {
			if err := l.may(*p, now, slotted); err != nil {
				return err
			}
			p.Paused = nil
			p.pace(l.shadow).take(now, l.Queue.day(now), slotted)
			return nil
		})
	}
	l.reserved, l.reservedSlot = err == nil, err == nil && slotted
	return err
}

// take reserves one attempt.
func (p *Pace) take(now time.Time, day string, slotted bool) {
	p.LastSentAt = now
	if slotted {
		p.LastSlotAt = now
	}
	if p.Day != day {
		p.Day, p.Today = day, 0
	}
	p.Today++
}

// may returns a waitError, or errNoSlot, unless pacing lets the destination be sent
// to now.
func (l *lane) may(p Pacing, now time.Time, slotted bool) error {
	return cmp.Or(l.open(p, now), l.atPace(p, now, slotted))
}

// atPace returns a waitError, or errNoSlot, while the destination's own pace has another
// post wait.
func (l *lane) atPace(p Pacing, now time.Time, slotted bool) error {
	pace := p.pace(l.shadow)
	if next := pace.LastSentAt.Add(l.d.MinInterval); !pace.LastSentAt.IsZero() && next.After(now) {
		return waitError("min_interval, until " + next.Format(time.RFC3339))
	}
	if l.d.MaxPerDay > 0 && pace.Day == l.Queue.day(now) && pace.Today >= l.d.MaxPerDay {
		return waitError("max_per_day is reached, so until tomorrow")
	}
	if slotted && !pace.LastSlotAt.IsZero() {
		if next := l.d.Slots.Next(pace.LastSlotAt); next.IsZero() || next.After(now) {
			return errNoSlot
		}
	}
	return nil
}

// open returns a waitError while the destination is paused, quiet or asked to be
// left alone.
func (l *lane) open(p Pacing, now time.Time) error {
	return cmp.Or(l.unpaused(p, now), l.awake(now))
}

// unpaused returns a waitError while the destination is paused or asked to be left
// alone. A pause that a refusal brought about ends when the settings are others.
func (l *lane) unpaused(p Pacing, now time.Time) error {
	if p.Paused != nil && (p.Paused.Settings == "" || p.Paused.Settings == l.d.Settings) {
		return waitError("paused: " + p.Paused.Reason)
	}
	if p.NotBefore.After(now) && !l.shadow {
		return waitError("not before " + p.NotBefore.Format(time.RFC3339))
	}
	return nil
}

// awake returns a waitError while the destination is quiet.
func (l *lane) awake(now time.Time) error {
	if until := l.d.Quiet.Until(now); until.After(now) {
		return waitError("quiet, until " + until.Format(time.RFC3339))
	}
	return nil
}

// giveBack takes an attempt that certainly published nothing off the day's count.
func (l *lane) giveBack(ctx context.Context) error {
	if l.d.MaxPerDay == 0 {
		return nil
	}
	day := l.Queue.day(l.Queue.now())
	return ChangeBook(ctx, l.Queue.Store, DestinationBook(l.d.Name), func(p *Pacing) error {
		if pace := p.pace(l.shadow); pace.Day == day && pace.Today > 0 {
			pace.Today--
		}
		return nil
	})
}
