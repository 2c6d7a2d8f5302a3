package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"bot/poster"
)

// AddPosted records the addresses as announced at the named destinations (empty:
// at all) without announcing them. What waits to be announced there is so no more;
// what is posted or skipped stays as it is.
func (q *Queue) AddPosted(ctx context.Context, urls, to []string) (Added, error) {
	now := q.Now().UTC().Truncate(time.Millisecond)
	var added Added
	for _, url := range urls {
		for _, d := range q.Destinations {
			if len(to) > 0 && !slices.Contains(to, d.Name) {
				continue
			}
			dec := q.decision(Article{URL: url}, nil, d, Source{Site: q.siteOf(url)})
			if dec.Verdict == "" {
				dec.Verdict = VerdictQueued
				dec.Entry = posted(dec.Entry, now, poster.Receipt{})
				dec.Entry.Reason = recordedByHand
			}
			added.Decisions = append(added.Decisions, dec)
		}
	}
	if err := q.insert(ctx, added.Decisions, nil); err != nil {
		return Added{}, err
	}
	for i := range added.Decisions {
		if err := q.record(ctx, &added.Decisions[i], now); err != nil {
			return Added{}, err
		}
	}
	added.count()
	return added, nil
}

// record makes a posted entry of one that waits. One that is being sent at this
// moment is left to whoever sends it.
func (q *Queue) record(ctx context.Context, d *Decision, now time.Time) error {
	if d.Verdict != AlreadyQueued {
		return nil
	}
	e, err := q.Store.Update(ctx, d.Entry.ID, func(e Entry) (Entry, error) { return Record(e, now) })
	switch {
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	d.Entry, d.Verdict, d.Reason = e, VerdictQueued, "it was waiting"
	return nil
}
