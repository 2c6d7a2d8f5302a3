package queue

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Recount remembers what the candidates tell of the occurrences that were counted, where
// the ledger does not know. Entries that come from another ledger come without its
// small records: without this, their rules would count from one again, and take what
// is announced already for what they count. What was counted and not announced is in no
// entry, and counts anew if its source still lists it.
func (q *Queue) Recount(ctx context.Context, candidates []Candidate) error {
	found := make(map[string][]recounted)
	var names []string
	for _, c := range candidates {
		d, known := q.occurrenceOf(c.Entry)
		if known == 0 {
			continue
		}
		name := countBook(d.rule.Name, d.keys[0].Webhook)
		if found[name] == nil {
			names = append(names, name)
		}
		found[name] = append(found[name], recounted{d, known})
	}
	for _, name := range names {
		err := ChangeBook(ctx, q.Store, name, func(c *counted) error {
			for _, r := range found[name] {
				c.recount(r.decision, r.known)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recounted is a decision that was made in another ledger, and what its occurrence is
// known as.
type recounted struct {
	decision Decision
	known    int64
}

// occurrenceOf makes the decision anew that led to an entry, and tells what its
// occurrence is known as. Zero: it is of nothing that is remembered.
func (q *Queue) occurrenceOf(e *Entry) (d Decision, known int64) {
	if e.Key.Bucket == "" {
		return d, 0
	}
	rule, to := q.rule(e.Rule), q.DestinationOf(e.Key.Webhook)
	if rule == nil || to == nil {
		return d, 0
	}
	a := e.Article
	if label, ok := strings.CutPrefix(e.Key.URL, "rule/"+rule.Name+"/category/"); ok {
		// Its labels are not kept but for the one that counts.
		if label, err := url.PathUnescape(label); err == nil {
			a.Categories = []string{label}
		}
	}
	d = q.decision(a, rule, *to, q.sourceNamed(a.Source))
	if d.occurrence == "" || !slices.Contains(urlsOf(d), e.Key.URL) {
		return d, 0
	}
	if rule.Cadence.Counts() {
		text, _ := strings.CutPrefix(e.Key.Bucket, "every ")
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return d, 0
		}
		return d, int64(n)
	}
	if e.QueuedAt.IsZero() {
		return d, 0
	}
	return d, e.QueuedAt.UnixMilli()
}

// urlsOf returns the second parts of the decision's keys.
func urlsOf(d Decision) []string {
	var all []string
	for _, k := range d.keys {
		all = append(all, k.URL)
	}
	return all
}

// recount remembers an occurrence that another ledger counted.
func (c *counted) recount(d Decision, known int64) {
	if c.Seen == nil {
		c.Seen = make(map[string]int64)
	}
	for _, name := range []string{d.occurrence, d.twin} {
		if name != "" && c.Seen[name] == 0 {
			c.Seen[name] = known
		}
	}
	if d.rule.Cadence.Counts() {
		if c.Ordinals == nil {
			c.Ordinals = make(map[string]int)
		}
		thing := hashOf(d.keys[0].URL)
		c.Ordinals[thing] = max(c.Ordinals[thing], int(known))
	}
}
