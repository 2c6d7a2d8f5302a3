package jsonstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"bot/queue"
)

// Get implements queue.Store.
func (s *Store) Get(ctx context.Context, id string) (queue.Entry, error) {
	var found queue.Entry
	err := s.entry(ctx, id, func(_ *batch, e *queue.Entry, _ bool) error {
		found = clone(e)
		return nil
	})
	return found, err
}

// entry runs apply on the entry with this ID, which it must not change. old says
// that it stands in posted.json.
func (s *Store) entry(ctx context.Context, id string, apply func(b *batch, e *queue.Entry, old bool) error) error {
	// If the view was settled once, an entry in memory needs no look at the two
	// arrays: should another process fold them, the journal says so.
	done, inMemory := false, false
	o := &op{quick: true}
	o.apply = func(b *batch) error {
		i := b.item(id)
		inMemory = i != nil
		if done = s.wasSettled && inMemory; !done {
			return nil
		}
		if !i.live() {
			return notFound(id)
		}
		return apply(b, &i.entry, i.posted)
	}
	if err := s.do(ctx, o); err != nil || done {
		return err
	}
	for {
		var wants []want
		if !inMemory {
			wants = []want{{id: id, whole: true}}
		}
		again := false
		err := s.with(ctx, step{wants: wants, apply: func(b *batch, answer func(string) *hit) error {
			i := b.item(id)
			switch {
			case i.live():
				return apply(b, &i.entry, i.posted)
			case i == nil && inMemory:
				// Another process has just moved it to posted.json.
				inMemory, again = false, true
				return nil
			case i == nil && answer(id) != nil:
				e, err := queue.ParseRecord(answer(id).raw, queue.InPosted)
				if err != nil {
					return err
				}
				return apply(b, &e, true)
			default:
				return notFound(id)
			}
		}})
		if err != nil || !again {
			return err
		}
	}
}

func notFound(id string) error { return fmt.Errorf("%w: %s", queue.ErrNotFound, id) }

// Due implements queue.Store. It yields the entries as they stand when it begins.
func (s *Store) Due(ctx context.Context, until time.Time) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		due, err := s.collect(ctx, func(e *queue.Entry) bool {
			at := e.Due()
			return !at.IsZero() && !at.After(until)
		})
		slices.SortFunc(due, func(a, b *queue.Entry) int {
			return cmp.Or(a.Due().Compare(b.Due()), a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
		})
		yieldAll(due, err, yield)
	}
}

// Waiting implements queue.Store. It yields the entries as they stand when it
// begins.
func (s *Store) Waiting(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		waiting, err := s.collect(ctx, func(e *queue.Entry) bool { return !e.Status.Final() })
		yieldAll(waiting, err, yield)
	}
}

// collect returns the entries of the view for which take is true, in the view's
// order. They are the view's own, which never change.
func (s *Store) collect(ctx context.Context, take func(*queue.Entry) bool) ([]*queue.Entry, error) {
	var all []*queue.Entry
	err := s.with(ctx, step{apply: func(b *batch, _ func(string) *hit) error {
		for _, slot := range s.view.order {
			if i := b.item(slot.id); i.live() && take(&i.entry) {
				all = append(all, &i.entry)
			}
		}
		return nil
	}})
	return all, err
}

func yieldAll(entries []*queue.Entry, err error, yield func(queue.Entry, error) bool) {
	if err != nil {
		yield(queue.Entry{}, err)
		return
	}
	for _, e := range entries {
		if !yield(clone(e), nil) {
			return
		}
	}
}

// All implements queue.Store. It yields the entries as they stand when it begins:
// the history first, streamed from posted.json, then what is in memory. A record
// that an earlier bot left in posted.json twice is yielded twice.
func (s *Store) All(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		if err := s.all(ctx, yield); err != nil {
			yield(queue.Entry{}, err)
		}
	}
}

func (s *Store) all(ctx context.Context, yield func(queue.Entry, error) bool) error {
	known := map[string]bool{}
	var live []*queue.Entry
	var old *openHistory
	err := s.with(ctx, step{apply: func(b *batch, _ func(string) *hit) error {
		for _, slot := range s.view.order {
			i := b.item(slot.id)
			known[i.id] = true
			if i.live() {
				live = append(live, &i.entry)
			}
		}
		var err error
		old, err = s.openHistory()
		return err
	}})
	if err != nil {
		return err
	}
	defer old.close()
	err = eachRecord(ctx, old.file, old.size, s.files.posted, func(e queue.Entry) error {
		if known[e.ID] || yield(e, nil) {
			return nil
		}
		return errStop
	})
	if errors.Is(err, errStop) {
		return nil
	}
	if err != nil {
		return err
	}
	yieldAll(live, nil, yield)
	return nil
}

// Book implements queue.Store. Every send reads the kill switches, and mostly nobody
// has written since, which takes no lock to see.
func (s *Store) Book(ctx context.Context, name string) (json.RawMessage, error) {
	if value, ok := s.glance(name); ok {
		return value, ctx.Err()
	}
	var value json.RawMessage
	err := s.do(ctx, &op{quick: true, apply: func(b *batch) error {
		value = slices.Clone(b.book(name))
		return nil
	}})
	return value, err
}

// glance reads a small record if what is in memory is all there is: nobody, here or
// in another process, has appended anything since, or put another journal in place.
func (s *Store) glance(name string) (json.RawMessage, bool) {
	s.mu.Lock()
	usable := !s.closed && !s.readOnly && s.broken == nil
	if usable {
		s.running.Add(1)
		defer s.running.Done()
	}
	s.mu.Unlock()
	if !usable {
		return nil, false
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.stale || s.journal == nil {
		return nil, false
	}
	if fresh, err := s.journal.fresh(); fresh || err != nil {
		return nil, false
	}
	return slices.Clone(s.view.books[name]), true
}
