package firestore

import (
	"context"
	"fmt"
	"time"

	"bot/dedupe"
	"bot/queue"

	"cloud.google.com/go/firestore"
)

const (
	// insertChunk and insertBytes bound one commit. The service takes 10 MiB in one
	// request, the emulator 4.
	insertChunk = 100
	insertBytes = 2 << 20
)

// Insert implements queue.Store. That an entry's own document is not there is
// decided by the write that creates it, and that its article is not there under
// another address, by a write of the same commit; that no alias is there, by a read
// just before.
func (s *Store) Insert(ctx context.Context, candidates []queue.Candidate) ([]queue.Known, error) {
	known, fresh, by, err := s.lookup(ctx, candidates)
	if err != nil || len(fresh) == 0 {
		return known, err
	}
	entries := make([]queue.Entry, 0, len(fresh))
	for _, i := range fresh {
		entries = append(entries, *candidates[i].Entry)
	}
	inTheWay, err := s.create(ctx, entries, by)
	if err != nil {
		return nil, err
	}
	for _, i := range fresh {
		known[i] = inTheWay[candidates[i].Entry.ID]
	}
	return known, nil
}

// creation is a document that is to be created.
type creation struct {
	id  string
	ref *firestore.DocumentRef
	doc document
	// entry is what the document holds, and origin that entry's.
	entry  queue.Entry
	origin dedupe.Origin
}

// create creates the entries' documents, each unless it is there, and returns those
// that were. An entry whose article is among by is not created either if that has
// changed since and has the entry's article by now.
func (s *Store) create(ctx context.Context, entries []queue.Entry, by articles) (map[string]queue.Known, error) {
	token := s.o.Token()
	inTheWay := make(map[string]queue.Known)
	var chunk []creation
	bytes := 0
	flush := func() error {
		err := s.createChunk(ctx, chunk, token, by, inTheWay)
		chunk, bytes = chunk[:0], 0
		return err
	}
	for _, e := range entries {
		doc, err := encode(e, token)
		if err != nil {
			return nil, err
		}
		if len(chunk) == insertChunk || len(chunk) > 0 && bytes+doc.size() > insertBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		chunk = append(chunk, creation{e.ID, s.entry(e.ID), doc, e, e.Origin()})
		bytes += doc.size()
	}
	if len(chunk) > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return inTheWay, nil
}

// createChunk creates documents in one commit, which is taken whole or not at all.
// After an error it reads which of them are there, and by whose hand.
func (s *Store) createChunk(ctx context.Context, chunk []creation, token string, by articles, inTheWay map[string]queue.Known) error {
	end := time.Now().Add(s.o.Patience.Write)
	for try := 0; len(chunk) > 0; try++ {
		err := s.call(ctx, func(ctx context.Context) error { return s.commitNew(ctx, chunk, token, by) })
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rest, readErr := s.unmade(ctx, chunk, token, inTheWay)
		other := false
		if readErr == nil {
			rest, other, readErr = s.overtaken(ctx, rest, by, inTheWay)
		}
		switch {
		case readErr == nil && (other || len(rest) < len(chunk)):
			chunk, try = rest, 0
			continue
		case definite(err), time.Now().After(end):
			return fmt.Errorf("insert: %w: %w", ErrUndecided, s.explain(err))
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return nil
}

// commitNew creates all or nothing. The transaction reads nothing, so that it locks
// nothing.
func (s *Store) commitNew(ctx context.Context, chunk []creation, token string, by articles) error {
	return s.client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		for _, c := range chunk {
			if err := tx.Create(c.ref, c.doc.made(token)); err != nil {
				return err
			}
		}
		return by.write(tx, s, chunk)
	})
}

// unmade returns those of the chunk that are not there, and notes those that
// somebody else made.
func (s *Store) unmade(ctx context.Context, chunk []creation, token string, inTheWay map[string]queue.Known) ([]creation, error) {
	refs := make([]*firestore.DocumentRef, 0, len(chunk))
	for _, c := range chunk {
		refs = append(refs, c.ref)
	}
	snaps, err := s.getAll(ctx, refs)
	if err != nil {
		return nil, err
	}
	var rest []creation
	for i, snap := range snaps {
		switch {
		case !snap.Exists():
			rest = append(rest, chunk[i])
		case text(snap, fieldMade) != token:
			e, err := decode(snap)
			if err != nil {
				return nil, err
			}
			if err := compareKey(snap, chunk[i].doc.key); err != nil {
				return nil, err
			}
			inTheWay[chunk[i].id] = knownOf(e)
		}
	}
	return rest, nil
}
