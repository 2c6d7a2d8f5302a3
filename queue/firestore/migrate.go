package firestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"bot/queue"

	"cloud.google.com/go/firestore"
)

// Copied is what one Copy did.
type Copied struct {
	// Created, Replaced and Same count the entries by what became of them.
	Created, Replaced, Same int
}

// Copy makes the ledger hold these entries just as they are: those it lacks are
// created, and those it has otherwise are replaced. It is for a ledger that is not
// open yet, and may be done again.
func (s *Store) Copy(ctx context.Context, entries []queue.Entry) (Copied, error) {
	var done Copied
	if err := s.usable(ctx); err != nil {
		return done, err
	}
	snaps, err := s.read(ctx, entries)
	if err != nil {
		return done, err
	}
	var lacking, there []queue.Entry
	for i, e := range entries {
		if !snaps[i].Exists() {
			lacking = append(lacking, e)
			continue
		}
		there = append(there, e)
		difference, err := compare(snaps[i], e)
		switch {
		case err != nil:
			return done, err
		case difference == "":
			done.Same++
			continue
		}
		if err := s.overwrite(ctx, snaps[i], e); err != nil {
			return done, err
		}
		done.Replaced++
	}
	inTheWay, err := s.create(ctx, lacking, nil)
	done.Created += len(lacking) - len(inTheWay)
	done.Same += len(inTheWay)
	if err != nil {
		return done, err
	}
	return done, s.noteArticles(ctx, there)
}

// overwrite replaces a document whatever becomes of it meanwhile.
func (s *Store) overwrite(ctx context.Context, snap *firestore.DocumentSnapshot, e queue.Entry) error {
	for snap != nil {
		next, err := s.replace(ctx, snap, e)
		if err != nil {
			return fmt.Errorf("copy entry %s: %w", e.ID, err)
		}
		snap = next
	}
	return nil
}

// Differences compares entries with what the ledger has, and says of each that it
// has not, or otherwise, what is wrong.
func (s *Store) Differences(ctx context.Context, entries []queue.Entry) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	snaps, err := s.read(ctx, entries)
	if err != nil {
		return nil, err
	}
	var all []string
	for i, e := range entries {
		difference, err := compare(snaps[i], e)
		if err != nil {
			difference = err.Error()
		}
		if difference != "" {
			all = append(all, fmt.Sprintf("%s (%s): %s", e.ID, e.Key, difference))
		}
	}
	unnoted, err := s.unnoted(ctx, entries)
	return append(all, unnoted...), err
}

func (s *Store) read(ctx context.Context, entries []queue.Entry) ([]*firestore.DocumentSnapshot, error) {
	refs := make([]*firestore.DocumentRef, 0, len(entries))
	for _, e := range entries {
		refs = append(refs, s.entry(e.ID))
	}
	return s.getAll(ctx, refs)
}

// compare says in what a document is not this entry. An error: it is another's.
func compare(snap *firestore.DocumentSnapshot, e queue.Entry) (string, error) {
	if !snap.Exists() {
		return "it is not in Firestore", nil
	}
	if err := compareKey(snap, e.Key.String()); err != nil {
		return "", err
	}
	has, err := decode(snap)
	if errors.Is(err, errOtherKey) {
		return "", err
	}
	if err != nil {
		return err.Error(), nil
	}
	there, err := queue.MarshalRecord(has)
	if err != nil {
		return "", err
	}
	here, err := queue.MarshalRecord(e)
	if err != nil {
		return "", err
	}
	switch {
	case has.Status != e.Status:
		return fmt.Sprintf("it is %s in Firestore and %s here", has.Status, e.Status), nil
	case string(there) != string(here):
		return "its record in Firestore is another", nil
	}
	return "", nil
}

// Count returns how many entries the ledger holds.
func (s *Store) Count(ctx context.Context) (int64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	// Counting may take much longer than any other call.
	for range 3 {
		counting, cancel := context.WithTimeout(ctx, 20*s.o.Patience.Call)
		answer, err := s.fleet.Collection(entriesCollection).NewAggregationQuery().WithCount("n").GetResponse(counting)
		cancel()
		if err != nil {
			if ctx.Err() != nil || definite(err) {
				return 0, s.failed(ctx, err)
			}
			continue
		}
		if value, ok := answer.Result["n"]; ok {
			return countOf(value)
		}
	}
	return 0, &Error{Err: errors.New("the entries could not be counted"), Mend: "try again"}
}

// CopyBook makes a small record what it is here.
func (s *Store) CopyBook(ctx context.Context, name string, record json.RawMessage) error {
	return s.UpdateBook(ctx, name, func(json.RawMessage) (json.RawMessage, error) { return record, nil })
}
