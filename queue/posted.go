package queue

import (
	"context"
	"slices"
	"time"

	"bot/poster"
)

// AddPosted records the addresses as announced at the named destinations (empty:
// at all) without announcing them. What the ledger knows already stays as it is.
func (q *Queue) AddPosted(ctx context.Context, urls, to []string) (Added, error) {
	now := q.Now().UTC().Truncate(time.Millisecond)
	var added Added
	for _, url := range urls {
		for _, d := range q.Destinations {
			if len(to) > 0 && !slices.Contains(to, d.Name) {
				continue
			}
			dec := q.decision(Article{URL: url}, nil, d, q.siteOf(url))
			if dec.Verdict == "" {
				dec.Verdict = VerdictQueued
				dec.Entry = posted(dec.Entry, now, poster.Receipt{})
				dec.Entry.Reason = "recorded by hand"
			}
			added.Decisions = append(added.Decisions, dec)
		}
	}
	if err := q.insert(ctx, added.Decisions); err != nil {
		return Added{}, err
	}
	added.count()
	return added, nil
}
