package jsonstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
)

// Lookup implements queue.Store.
func (s *Store) Lookup(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	return s.insert(ctx, candidates, false)
}

// Insert implements queue.Store. posted.json is searched before the lock is taken,
// and an Insert after a Lookup of the same candidates does not search it again.
func (s *Store) Insert(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	return s.insert(ctx, candidates, true)
}

func (s *Store) insert(ctx context.Context, candidates []queue.Candidate, add bool) ([]queue.Known, error) {
	if len(candidates) == 0 {
		return nil, ctx.Err()
	}
	n := len(candidates)
	for _, c := range candidates {
		n += len(c.Aliases) + len(c.Origins)
	}
	wants := make([]want, 0, n)
	keys := make([][]want, len(candidates)) // of each candidate, its own first
	for n, c := range candidates {
		from := len(wants)
		wants = append(wants, want{id: c.Entry.ID, key: c.Entry.Key})
		for _, alias := range c.Aliases {
			wants = append(wants, wantKey(alias))
		}
		keys[n] = wants[from:len(wants):len(wants)]
	}
	for _, c := range candidates {
		for i := range c.Origins {
			wants = append(wants, want{origin: &c.Origins[i]})
		}
	}
	known := make([]queue.Known, len(candidates))
	err := s.with(ctx, step{wants: wants, apply: func(b *batch, answer func(string) *hit) error {
		earlier := map[string]queue.Known{}
		articles := articles{batch: b}
		for n, c := range candidates {
			if known[n] = find(b, answer, earlier, keys[n]); known[n].New() {
				known[n] = articles.find(candidates, n)
			}
			if !known[n].New() {
				continue
			}
			earlier[c.Entry.ID] = knownOf(*c.Entry)
			articles.add(candidates[n].Entry)
			if add {
				if _, err := b.put(c.Entry, false); err != nil {
					return err
				}
				b.mustSync()
			}
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return known, nil
}

// find tells what the ledger knows under any of the keys. The zero value: nothing.
func find(b *batch, answer func(string) *hit, earlier map[string]queue.Known, keys []want) queue.Known {
	for _, k := range keys {
		if known, ok := earlier[k.id]; ok {
			return known
		}
		if i := b.item(k.id); i.live() {
			return knownOf(i.entry)
		} else if i != nil {
			continue // forgotten, whatever posted.json still has
		}
		if h := answer(k.id); h != nil {
			return h.known
		}
	}
	return queue.Known{}
}

func knownOf(e queue.Entry) queue.Known { return queue.KnownAs(e, false) }

// Update implements queue.Store.
func (s *Store) Update(ctx context.Context, id string, change func(queue.Entry) (queue.Entry, error)) (queue.Entry, error) {
	var updated *item
	err := s.entry(ctx, id, func(b *batch, old *queue.Entry, inPosted bool) error {
		e, err := change(clone(old))
		if err != nil {
			return err
		}
		if e.ID != id {
			return fmt.Errorf("update entry %s: an entry keeps its ID", id)
		}
		updated, err = b.put(&e, inPosted)
		return err
	})
	if err != nil {
		return queue.Entry{}, err
	}
	return clone(&updated.entry), nil
}

// Delete implements queue.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.entry(ctx, id, func(b *batch, _ *queue.Entry, old bool) error {
		b.forget(id, old)
		return nil
	})
}

// UpdateBook implements queue.Store.
func (s *Store) UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	if name == "" || !utf8.ValidString(name) {
		return fmt.Errorf("small record %q: this is no name", name)
	}
	return s.with(ctx, step{apply: func(b *batch, _ func(string) *hit) error {
		value, err := change(slices.Clone(json.RawMessage(b.book(name))))
		if err != nil {
			return err
		}
		line := jsontext.Value(slices.Clone(value))
		if value != nil {
			if err := line.Compact(); err != nil {
				return fmt.Errorf("small record %s: %w", name, err)
			}
		}
		if line.Kind() == 'n' {
			line = nil
		}
		b.putBook(name, line)
		return nil
	}})
}
