package queue

import (
	"context"
	"slices"
	"time"
)

// planner gives entries their due times, so that those of one destination are at
// least its spacing apart. It only plans: spacing is enforced when a send is
// about to happen, whatever was planned.
type planner struct {
	spacing map[string]time.Duration
	// taken holds, by destination, the times already given, ascending.
	taken map[string][]time.Time
}

// planner returns one that knows what waits already.
func (q *Queue) planner(ctx context.Context) (*planner, error) {
	p := &planner{spacing: make(map[string]time.Duration), taken: make(map[string][]time.Time)}
	for _, d := range q.Destinations {
		if d.MinInterval == 0 {
			continue
		}
		p.spacing[d.Name] = d.MinInterval
		pacing, err := ReadBook[Pacing](ctx, q.Store, DestinationBook(d.Name))
		if err != nil {
			return nil, err
		}
		if !pacing.LastSentAt.IsZero() {
			p.taken[d.Name] = append(p.taken[d.Name], pacing.LastSentAt)
		}
	}
	if len(p.spacing) == 0 {
		return p, nil
	}
	for e, err := range q.Store.Waiting(ctx) {
		if err != nil {
			return nil, err
		}
		if d := q.DestinationOf(e.Key.Webhook); d != nil && p.spacing[d.Name] > 0 && e.Status == Queued {
			p.taken[d.Name] = append(p.taken[d.Name], e.DueAt)
		}
	}
	for _, times := range p.taken {
		slices.SortFunc(times, time.Time.Compare)
	}
	return p, nil
}

// next returns the first free time for the destination that is not before
// earliest, and takes it.
func (p *planner) next(destination string, earliest time.Time) time.Time {
	spacing := p.spacing[destination]
	if spacing == 0 {
		return earliest
	}
	times := p.taken[destination]
	at, i := earliest, 0
	for ; i < len(times); i++ {
		if times[i].Sub(at) >= spacing {
			break
		}
		at = latest(at, times[i].Add(spacing))
	}
	p.taken[destination] = slices.Insert(times, i, at)
	return at
}
