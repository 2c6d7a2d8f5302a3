// Package memstore is a ledger in memory, which ends with the process: for trying
// rules out, never for announcing.
package memstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"bot/dedupe"
	"bot/queue"
)

// Store implements queue.Store. Closing it does nothing.
type Store struct {
	mu      sync.Mutex
	entries map[string]queue.Entry
	// origins has the IDs of the entries of each origin, of some that are no more too.
	origins map[dedupe.Origin][]string
	books   map[string]json.RawMessage
}

// New returns an empty ledger.
func New() *Store {
	return &Store{
		entries: make(map[string]queue.Entry),
		origins: make(map[dedupe.Origin][]string),
		books:   make(map[string]json.RawMessage),
	}
}

// Lookup implements queue.Store.
func (s *Store) Lookup(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	return s.insert(ctx, candidates, false)
}

// Insert implements queue.Store.
func (s *Store) Insert(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	return s.insert(ctx, candidates, true)
}

func (s *Store) insert(ctx context.Context, candidates []queue.Candidate, add bool) ([]queue.Known, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make([]queue.Known, len(candidates))
	earlier := make(map[string]queue.Entry)
	earlierBy := make(map[dedupe.Origin][]queue.Entry)
	for n, c := range candidates {
		if e, ok := s.find(earlier, c.Entry.ID, c.Aliases); ok {
			known[n] = queue.KnownAs(e, false)
			continue
		}
		if e, ok := s.renamed(earlierBy, c); ok {
			known[n] = queue.KnownAs(e, true)
			continue
		}
		earlier[c.Entry.ID] = *c.Entry
		o := c.Entry.Origin()
		if o != (dedupe.Origin{}) {
			earlierBy[o] = append(earlierBy[o], *c.Entry)
		}
		if add {
			s.entries[c.Entry.ID] = clone(*c.Entry)
			if o != (dedupe.Origin{}) && !slices.Contains(s.origins[o], c.Entry.ID) {
				s.origins[o] = append(s.origins[o], c.Entry.ID)
			}
		}
	}
	return known, nil
}

func (s *Store) find(earlier map[string]queue.Entry, id string, aliases []dedupe.Key) (queue.Entry, bool) {
	for n := range len(aliases) + 1 {
		if n > 0 {
			id = aliases[n-1].ID()
		}
		if e, ok := earlier[id]; ok {
			return e, true
		}
		if e, ok := s.entries[id]; ok {
			return e, true
		}
	}
	return queue.Entry{}, false
}

// renamed finds an entry that has the candidate's article under another address.
func (s *Store) renamed(earlier map[dedupe.Origin][]queue.Entry, c queue.Candidate) (queue.Entry, bool) {
	for _, o := range c.Origins {
		for _, e := range earlier[o] {
			if queue.Renamed(e.Article.Published, c.Entry.Article.Published) {
				return e, true
			}
		}
		for _, id := range s.origins[o] {
			if e, ok := s.entries[id]; ok && queue.Renamed(e.Article.Published, c.Entry.Article.Published) {
				return e, true
			}
		}
	}
	return queue.Entry{}, false
}

// clone keeps what callers do to an entry from the ledger.
func clone(e queue.Entry) queue.Entry {
	e.Article.Categories = slices.Clone(e.Article.Categories)
	e.Message.Body = slices.Clone(e.Message.Body)
	e.Extra = slices.Clone(e.Extra)
	return e
}

// Get implements queue.Store.
func (s *Store) Get(ctx context.Context, id string) (queue.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.entries[id]; ok || ctx.Err() != nil {
		return clone(e), ctx.Err()
	}
	return queue.Entry{}, queue.ErrNotFound
}

// Due implements queue.Store.
func (s *Store) Due(ctx context.Context, until time.Time) iter.Seq2[queue.Entry, error] {
	return s.each(ctx, func(e queue.Entry) bool { return !e.Due().IsZero() && !e.Due().After(until) })
}

// Update implements queue.Store.
func (s *Store) Update(ctx context.Context, id string, change func(queue.Entry) (queue.Entry, error)) (queue.Entry, error) {
	if err := ctx.Err(); err != nil {
		return queue.Entry{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[id]
	if !ok {
		return queue.Entry{}, queue.ErrNotFound
	}
	next, err := change(clone(e))
	if err != nil {
		return queue.Entry{}, err
	}
	s.entries[id] = clone(next)
	return next, nil
}

// Delete implements queue.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[id]; !ok {
		return queue.ErrNotFound
	}
	delete(s.entries, id)
	return nil
}

// All implements queue.Store.
func (s *Store) All(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return s.each(ctx, func(queue.Entry) bool { return true })
}

// Waiting implements queue.Store.
func (s *Store) Waiting(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return s.each(ctx, func(e queue.Entry) bool { return !e.Status.Final() })
}

// each yields the entries of that kind, as they were when it began, earliest due
// first.
func (s *Store) each(ctx context.Context, is func(queue.Entry) bool) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(queue.Entry{}, err)
			return
		}
		s.mu.Lock()
		all := slices.DeleteFunc(slices.Collect(maps.Values(s.entries)), func(e queue.Entry) bool { return !is(e) })
		s.mu.Unlock()
		slices.SortFunc(all, func(a, b queue.Entry) int {
			return cmp.Or(a.Due().Compare(b.Due()), a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
		})
		for _, e := range all {
			if err := ctx.Err(); err != nil {
				yield(queue.Entry{}, err)
				return
			}
			s.mu.Lock()
			now, ok := s.entries[e.ID]
			s.mu.Unlock()
			if ok && is(now) && !yield(clone(now), nil) {
				return
			}
		}
	}
}

// Book implements queue.Store.
func (s *Store) Book(ctx context.Context, name string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.books[name]), ctx.Err()
}

// UpdateBook implements queue.Store.
func (s *Store) UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := change(slices.Clone(s.books[name]))
	if err != nil {
		return err
	}
	if next == nil {
		delete(s.books, name)
		return nil
	}
	if !json.Valid(next) {
		return fmt.Errorf("record %s: not JSON", name)
	}
	s.books[name] = slices.Clone(next)
	return nil
}

// Close implements queue.Store.
func (s *Store) Close() error { return nil }
