package queue

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// insertedAtOnce is how many decisions against something are recorded together: what a
// source holds at first sight may be a lot.
const insertedAtOnce = 2000

// insert records the new decisions, and lets the ledger overrule each that
// another run has made since. What is to be announced goes first and together. It lists
// them in the space of list.
func (q *Queue) insert(ctx context.Context, decisions []Decision, list []Candidate) error {
	var fresh, skipped []*Decision
	for i := range decisions {
		switch d := &decisions[i]; d.Entry.Status {
		case "":
		case Skipped:
			skipped = append(skipped, d)
		default:
			fresh = append(fresh, d)
		}
	}
	if err := q.insertPart(ctx, fresh, list); err != nil {
		return err
	}
	for part := range slices.Chunk(skipped, insertedAtOnce) {
		if err := q.insertPart(ctx, part, list); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) insertPart(ctx context.Context, fresh []*Decision, list []Candidate) error {
	for _, d := range fresh {
		list = append(list, d.candidate())
	}
	if len(list) == 0 {
		return nil
	}
	known, err := q.Store.Insert(ctx, list)
	if err != nil {
		return err
	}
	for i, k := range known {
		if !k.New() {
			fresh[i].known(k)
		}
	}
	return nil
}

// known gives the verdict on what the ledger has already.
func (d *Decision) known(k Known) {
	d.Entry.ID = k.ID
	d.Entry.Status, d.Entry.DueAt, d.Entry.QueuedAt = "", time.Time{}, time.Time{}
	switch {
	case k.URLOnly:
		d.Verdict, d.Reason = AlreadyLegacy, "an older record without a webhook has this address"
	case d.rule != nil && (!d.rule.perArticle() || d.rule.Cadence.Counts()):
		d.Verdict, d.Reason = AlreadyCounted, cmp.Or(d.Entry.Key.Bucket, "announced once")+" is taken"
	case k.Status == Posted:
		d.Verdict, d.Reason = AlreadyPosted, "posted"
	case k.Status == Skipped:
		d.Verdict, d.Reason = AlreadySkipped, "skipped"
	default:
		d.Verdict, d.Reason = AlreadyQueued, string(k.Status)
	}
	if k.Rule != "" && k.Rule != d.Entry.Rule {
		d.Reason += " by rule " + k.Rule
	}
	if k.RenamedFrom != "" {
		d.Reason += ", as " + k.RenamedFrom + ", which has the same guid"
	}
}
