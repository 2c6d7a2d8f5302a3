package queue

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// planner gives entries their due times: the next free slot of their destination,
// outside its quiet time, and its spacing apart. It only plans: all of it is
// enforced when a send is about to happen, whatever was planned.
type planner struct {
	q *Queue
	// lines holds the times already given, by destination and mode.
	lines map[line]*plan
}

// line is what is paced together: a destination's real sends, or its shadow ones.
type line struct {
	destination string
	shadow      bool
}

// plan is what a planner knows of one line.
type plan struct {
	*Destination
	// taken are the times already given, ascending.
	taken []time.Time
}

// planned reports whether due times there are anything but "at once".
func (d *Destination) planned() bool {
	return d.Slots != nil || d.MinInterval > 0 || !d.Quiet.none()
}

// planner returns one that knows what waits already, but for what without leaves
// out.
func (q *Queue) planner(ctx context.Context, without func(Entry) bool) (*planner, error) {
	p := &planner{q: q, lines: make(map[line]*plan)}
	for i := range q.Destinations {
		d := &q.Destinations[i]
		if !d.planned() {
			continue
		}
		pacing, err := ReadBook[Pacing](ctx, q.Store, DestinationBook(d.Name))
		if err != nil {
			return nil, err
		}
		for _, shadow := range []bool{false, true} {
			l := &plan{Destination: d}
			if last := pacing.pace(shadow).LastSentAt; !last.IsZero() && d.Slots == nil {
				l.taken = append(l.taken, last)
			}
			p.lines[line{d.Name, shadow}] = l
		}
	}
	if len(p.lines) == 0 {
		return p, nil
	}
	for e, err := range q.Store.Waiting(ctx) {
		if err != nil {
			return nil, err
		}
		if l := p.line(e); l != nil && e.Status == Queued && (without == nil || !without(e)) {
			l.taken = append(l.taken, e.DueAt)
		}
	}
	for _, l := range p.lines {
		slices.SortFunc(l.taken, time.Time.Compare)
	}
	return p, nil
}

// line returns the plan for what the entry belongs to, or nil if it needs none.
func (p *planner) line(e Entry) *plan {
	name := e.Destination
	if d := p.q.DestinationOf(e.Key.Webhook); d != nil {
		name = d.Name
	}
	return p.lines[line{name, p.q.shadow(e)}]
}

// next returns the first free time for the entry that is not before earliest and
// after now if it is a slot, and takes it.
func (p *planner) next(e Entry, now, earliest time.Time) time.Time {
	l := p.line(e)
	if l == nil {
		return earliest
	}
	at, i := l.free(l.Quiet.Until(earliest))
	if l.Slots != nil {
		at, i = l.slot(now, earliest)
	}
	l.taken = slices.Insert(l.taken, i, at)
	return at
}

// free returns the first time from at on that is outside the quiet time and the
// spacing apart from all that is taken, and its place among them.
func (l *plan) free(at time.Time) (time.Time, int) {
	i := 0
	for i < len(l.taken) {
		if l.taken[i].Sub(at) >= l.MinInterval && (l.MinInterval > 0 || l.taken[i].After(at)) {
			break
		}
		if l.MinInterval > 0 {
			at = l.Quiet.Until(latest(at, l.taken[i].Add(l.MinInterval)))
		}
		i++
	}
	return at, i
}

// manySlots is how many slots are looked at before one is taken as it is.
const manySlots = 10_000

// slot returns the first free slot after now and not before earliest.
func (l *plan) slot(now, earliest time.Time) (time.Time, int) {
	after := now
	if earliest.After(now) {
		after = earliest.Add(-time.Nanosecond)
	}
	at := l.Slots.Next(after)
	for n := 0; !at.IsZero(); n++ {
		i, found := slices.BinarySearchFunc(l.taken, at, time.Time.Compare)
		near := found || i > 0 && at.Sub(l.taken[i-1]) < l.MinInterval || i < len(l.taken) && l.taken[i].Sub(at) < l.MinInterval
		if !near && (!l.Quiet.has(at) || n >= manySlots) {
			return at, i
		}
		at = l.Slots.Next(at)
	}
	// Its day comes once in decades.
	return l.free(l.Quiet.Until(earliest))
}

// byHand is the reason of an entry whose due time a person chose.
const byHand = "rescheduled by hand"

// askedFor is the beginning of the reason of an entry that was queued for a time.
const askedFor = "not before "

// notBefore returns the time that was asked for when the entry was queued.
func notBefore(e Entry) time.Time {
	text, _ := strings.CutPrefix(e.Reason, askedFor)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// slotted reports whether the entry may be sent only where there is a slot for it:
// not if a person chose its time, nor if it had its slot and is tried again.
func (d *Destination) slotted(e Entry) bool {
	return d.Slots != nil && e.Attempts == 0 && e.Reason != byHand
}

// replan gives new due times to what is queued at destinations whose slots have
// changed, in the order in which it was queued. What was tried already, what a
// person gave its time, and what an earlier program planned stays as it is.
// Nothing is lost, and after a crash it is done again.
func (q *Queue) replan(ctx context.Context) error {
	changed := make(map[string]bool)
	for _, d := range q.Destinations {
		pacing, err := ReadBook[Pacing](ctx, q.Store, DestinationBook(d.Name))
		if err != nil {
			return err
		}
		if pacing.Slots != d.Slots.String() {
			changed[d.Name] = true
		}
	}
	if len(changed) == 0 {
		return nil
	}
	moves := func(e Entry) bool {
		d := q.DestinationOf(e.Key.Webhook)
		return d != nil && changed[d.Name] && e.Status == Queued && e.Attempts == 0 && e.Reason != byHand && !e.QueuedAt.IsZero()
	}
	var entries []Entry
	for e, err := range q.Store.Waiting(ctx) {
		if err != nil {
			return err
		}
		if moves(e) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.QueuedAt.Compare(b.QueuedAt), a.DueAt.Compare(b.DueAt), strings.Compare(a.ID, b.ID))
	})
	planner, err := q.planner(ctx, moves)
	if err != nil {
		return err
	}
	if err := q.move(ctx, planner, entries); err != nil {
		return err
	}
	for i := range q.Destinations {
		d := &q.Destinations[i]
		if !changed[d.Name] {
			continue
		}
		err := ChangeBook(ctx, q.Store, DestinationBook(d.Name), func(p *Pacing) error {
			p.Slots = d.Slots.String()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// move gives the entries the planner's times, but for those that were claimed or
// steered in the meantime.
func (q *Queue) move(ctx context.Context, p *planner, entries []Entry) error {
	now := q.now()
	for _, e := range entries {
		due := p.next(e, now, latest(latest(now, e.Article.Published), notBefore(e)))
		_, err := q.Store.Update(ctx, e.ID, func(is Entry) (Entry, error) {
			if is.Status != Queued || !is.DueAt.Equal(e.DueAt) || is.Attempts != e.Attempts {
				return is, ErrNotDue
			}
			is.DueAt = ceilMilli(due)
			return is, nil
		})
		if err != nil && !lost(err) {
			return err
		}
	}
	return nil
}
