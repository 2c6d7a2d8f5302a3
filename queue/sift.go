package queue

import (
	"context"
	"slices"
)

// Sift takes the articles out of batches that every rule and destination they meet has
// decided on already, and counts them as Add would. What Add makes of the rest is the
// same, but for its decisions, which do not tell of these. So a run over many sources
// holds what is new to it, and not all that they list.
//
// Left as they are: what was given by hand, sources with rules that count something
// else than articles, and all if o asks for the newest. Not for batches of which
// articles wait for their pages.
func (q *Queue) Sift(ctx context.Context, batches []Batch, o AddOptions) (Added, error) {
	var sifted Added
	if o.Latest > 0 {
		return sifted, nil
	}
	var sieves []sieve
	n := 0
	for i := range batches {
		b := &batches[i]
		if takers := q.takers(b.Source, o); siftable(b.Source, takers) {
			sieves = append(sieves, sieve{batch: b, takers: takers})
			n += len(b.Articles) * len(takers)
		}
	}
	decisions := make([]Decision, 0, n)
	for i := range sieves {
		s := &sieves[i]
		source := q.sourceNamed(s.batch.Source)
		// While the whole document is there.
		s.batch.Articles = Identified(s.batch.Articles, source.Site)
		for _, a := range s.batch.Articles {
			for _, one := range s.takers {
				if one.rule.takes(a) {
					decisions = append(decisions, q.decision(a, one.rule, one.d, source))
				}
			}
			s.ends = append(s.ends, len(decisions))
		}
	}
	list := candidates(decisions)
	if len(list) == 0 {
		return sifted, nil
	}
	known, err := q.Store.Lookup(ctx, list)
	if err != nil {
		return sifted, err
	}
	decided := decidedBefore(decisions, known)
	from := 0
	for _, s := range sieves {
		from = s.sift(&sifted, decided, from)
	}
	return sifted, nil
}

// siftable reports whether what a source lists is told apart by its addresses alone.
func siftable(source string, takers []taker) bool {
	for _, one := range takers {
		if !one.rule.plain() {
			return false
		}
	}
	return source != ""
}

// decidedBefore tells of each decision whether the ledger knew it before this run, and
// not by another article of the run.
func decidedBefore(decisions []Decision, known []Known) []bool {
	decided := make([]bool, len(decisions))
	fresh := make(map[string]bool)
	for i, k := range undecided(decisions, known) {
		if k.New() {
			fresh[decisions[i].Entry.ID] = true
		}
		decided[i] = !k.New() && !fresh[k.ID]
	}
	return decided
}

// sieve is one batch that is sifted.
type sieve struct {
	batch  *Batch
	takers []taker
	// ends are, article by article, where its decisions end among all.
	ends []int
}

// sift keeps the articles of which something is not decided, and counts the others. The
// batch's decisions begin at from; it returns where they end.
func (s *sieve) sift(sifted *Added, decided []bool, from int) int {
	var kept []Article
	for i, a := range s.batch.Articles {
		own := decided[from:s.ends[i]]
		from = s.ends[i]
		if slices.Contains(own, false) {
			kept = append(kept, a)
			continue
		}
		sifted.Matched += len(own)
		sifted.Already += len(own)
		if len(own) < len(s.takers) {
			for _, one := range s.takers {
				if !one.rule.takes(a) {
					sifted.filter(one.rule.Name, 1)
				}
			}
		}
	}
	s.batch.Articles = kept
	return from
}
