package firestore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"bot/dedupe"
	"bot/queue"

	"cloud.google.com/go/firestore"
)

// readChunk is how many documents one call reads by name.
const readChunk = 500

// call runs one call within the time it may take.
func (s *Store) call(ctx context.Context, do func(context.Context) error) error {
	return within(ctx, s.o.Patience.Call, do)
}

func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}

// getAll reads documents by name, in their order. One that is not there has a
// snapshot that does not exist.
func (s *Store) getAll(ctx context.Context, refs []*firestore.DocumentRef) ([]*firestore.DocumentSnapshot, error) {
	all := make([]*firestore.DocumentSnapshot, 0, len(refs))
	for chunk := range slices.Chunk(refs, readChunk) {
		began := s.o.Now()
		err := s.call(ctx, func(ctx context.Context) error {
			snaps, err := s.client.GetAll(ctx, chunk)
			all = append(all, snaps...)
			return err
		})
		if err != nil {
			return nil, s.failed(ctx, err)
		}
		s.compareClocks(began, all[len(all)-1].ReadTime)
	}
	return all, nil
}

// failed returns the context's error if that is why a call failed.
func (s *Store) failed(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return s.explain(err)
}

func (s *Store) get(ctx context.Context, ref *firestore.DocumentRef) (*firestore.DocumentSnapshot, error) {
	snaps, err := s.getAll(ctx, []*firestore.DocumentRef{ref})
	if err != nil {
		return nil, err
	}
	return snaps[0], nil
}

// Get implements queue.Store.
func (s *Store) Get(ctx context.Context, id string) (queue.Entry, error) {
	if err := s.usable(ctx); err != nil {
		return queue.Entry{}, err
	}
	snap, err := s.get(ctx, s.entry(id))
	if err != nil {
		return queue.Entry{}, err
	}
	if !snap.Exists() {
		return queue.Entry{}, notFound(id)
	}
	return decode(snap)
}

func notFound(id string) error { return fmt.Errorf("%w: %s", queue.ErrNotFound, id) }

// wanted is a key that is looked for, under the ID that stands for it.
type wanted struct {
	id  string
	key dedupe.Key
}

// Lookup implements queue.Store.
func (s *Store) Lookup(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	known, _, _, err := s.lookup(ctx, candidates)
	return known, err
}

// lookup tells what is known of each candidate, and which of them are new: for
// each of those that is not like an earlier one, its place. by is what it has read
// of their articles.
func (s *Store) lookup(ctx context.Context, candidates []queue.Candidate) (known []queue.Known, fresh []int, by articles, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, nil, nil, err
	}
	found, err := s.find(ctx, candidates)
	if err != nil {
		return nil, nil, nil, err
	}
	by, err = s.findArticles(ctx, candidates, found)
	if err != nil {
		return nil, nil, nil, err
	}
	known = make([]queue.Known, len(candidates))
	for i, c := range candidates {
		if k, ok := first(c, found); ok {
			known[i] = k
			continue
		}
		if k, ok := by.find(c); ok {
			known[i] = k
			continue
		}
		found[c.Entry.ID] = knownOf(*c.Entry)
		by.add(c)
		fresh = append(fresh, i)
	}
	return known, fresh, by, nil
}

// first returns what is found of a candidate under its ID or an alias.
func first(c queue.Candidate, found map[string]queue.Known) (queue.Known, bool) {
	if k, ok := found[c.Entry.ID]; ok {
		return k, true
	}
	for _, alias := range c.Aliases {
		if k, ok := found[alias.ID()]; ok {
			return k, true
		}
	}
	return queue.Known{}, false
}

// find reads what the ledger has of the candidates: their own documents first, and
// those of their aliases where these are not there. What the cache knows is not
// read.
func (s *Store) find(ctx context.Context, candidates []queue.Candidate) (map[string]queue.Known, error) {
	found := make(map[string]queue.Known)
	asked := make(map[string]bool)
	ask := func(list []wanted) error {
		list = slices.DeleteFunc(list, func(w wanted) bool {
			again := asked[w.id]
			asked[w.id] = true
			return again
		})
		return s.findEach(ctx, list, found)
	}
	var own, aliases []wanted
	for _, c := range candidates {
		if s.cached(c, found) {
			continue
		}
		own = append(own, wanted{c.Entry.ID, c.Entry.Key})
	}
	if err := ask(own); err != nil {
		return nil, err
	}
	for _, c := range candidates {
		if _, ok := first(c, found); ok {
			continue
		}
		for _, alias := range c.Aliases {
			aliases = append(aliases, wanted{alias.ID(), alias})
		}
	}
	return found, ask(aliases)
}

// cached takes what the cache knows of a candidate.
func (s *Store) cached(c queue.Candidate, found map[string]queue.Known) bool {
	ids := []string{c.Entry.ID}
	for _, alias := range c.Aliases {
		ids = append(ids, alias.ID())
	}
	for _, id := range ids {
		if k, ok := s.cache.get(id); ok {
			found[id] = k
			return true
		}
	}
	return false
}

func (s *Store) findEach(ctx context.Context, list []wanted, found map[string]queue.Known) error {
	refs := make([]*firestore.DocumentRef, 0, len(list))
	for _, w := range list {
		refs = append(refs, s.entry(w.id))
	}
	snaps, err := s.getAll(ctx, refs)
	if err != nil {
		return err
	}
	for i, snap := range snaps {
		if !snap.Exists() {
			continue
		}
		e, err := decode(snap)
		if err != nil {
			return err
		}
		if err := compareKey(snap, list[i].key.String()); err != nil {
			return err
		}
		found[list[i].id] = knownOf(e)
		s.cache.add(knownOf(e))
	}
	return nil
}

// Due implements queue.Store.
func (s *Store) Due(ctx context.Context, until time.Time) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		// Those due at the same time are put into their order here.
		var same []queue.Entry
		flush := func() bool {
			slices.SortFunc(same, func(a, b queue.Entry) int {
				return cmp.Or(a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
			})
			for _, e := range same {
				if !yield(e, nil) {
					return false
				}
			}
			same = same[:0]
			return true
		}
		for e, err := range s.entries(ctx, dueQuery(s.fleet.Collection(entriesCollection), until)) {
			if err != nil {
				yield(queue.Entry{}, err)
				return
			}
			if len(same) > 0 && !same[0].Due().Equal(e.Due()) && !flush() {
				return
			}
			same = append(same, e)
		}
		flush()
	}
}

// All implements queue.Store.
func (s *Store) All(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return s.entries(ctx, allQuery(s.fleet.Collection(entriesCollection)))
}

// Waiting implements queue.Store.
func (s *Store) Waiting(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return s.entries(ctx, waitingQuery(s.fleet.Collection(entriesCollection)))
}

// entries yields the entries of a query.
func (s *Store) entries(ctx context.Context, q firestore.Query) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		for snap, err := range s.pages(ctx, q) {
			var e queue.Entry
			if err == nil {
				e, err = decode(snap)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// pages yields the documents of a query, a page with each call.
func (s *Store) pages(ctx context.Context, q firestore.Query) iter.Seq2[*firestore.DocumentSnapshot, error] {
	return func(yield func(*firestore.DocumentSnapshot, error) bool) {
		page := q.Limit(pageSize)
		for {
			if err := s.usable(ctx); err != nil {
				yield(nil, err)
				return
			}
			began := s.o.Now()
			var snaps []*firestore.DocumentSnapshot
			err := within(ctx, s.o.Patience.Page, func(ctx context.Context) (err error) {
				snaps, err = page.Documents(ctx).GetAll()
				return err
			})
			if err != nil {
				yield(nil, s.failed(ctx, err))
				return
			}
			for _, snap := range snaps {
				if !yield(snap, nil) {
					return
				}
			}
			if len(snaps) > 0 {
				s.compareClocks(began, snaps[len(snaps)-1].ReadTime)
			}
			if len(snaps) < pageSize {
				return
			}
			page = q.StartAfter(snaps[len(snaps)-1]).Limit(pageSize)
		}
	}
}
