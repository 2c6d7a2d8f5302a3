package firestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
)

// scratchCollection holds a document only while Probe runs.
const scratchCollection = "bot_scratch"

// Probe tries on a scratch document what the ledger rests on: that it can be read,
// is created only if it is absent, and is updated only if it is as it was. It
// removes the document.
func (s *Store) Probe(ctx context.Context) (err error) {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ref := s.fleet.Collection(scratchCollection).Doc(docName(s.o.Token()))
	do := func(call func(context.Context) error) error {
		if err := s.call(ctx, call); err != nil {
			return s.failed(ctx, err)
		}
		return nil
	}
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Patience.Call)
		defer cancel()
		_, deleteErr := ref.Delete(cleaning)
		if deleteErr != nil {
			err = errors.Join(err, fmt.Errorf("remove the scratch document %s: %w", ref.Path, s.explain(deleteErr)))
		}
	}()
	create := func(ctx context.Context) error {
		_, err := ref.Create(ctx, map[string]any{fieldKey: "scratch", fieldWrite: "1"})
		return err
	}
	if err := do(create); err != nil {
		return err
	}
	if s.call(ctx, create) == nil {
		return &Error{Err: errors.New("a document that was there was created again"), Mend: "this is no Firestore that can be used"}
	}
	snap, err := s.get(ctx, ref)
	if err != nil {
		return err
	}
	update := func(at time.Time, to string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := ref.Update(ctx, []firestore.Update{{Path: fieldWrite, Value: to}}, firestore.LastUpdateTime(at))
			return err
		}
	}
	if err := do(update(snap.UpdateTime, "2")); err != nil {
		return err
	}
	if s.call(ctx, update(snap.UpdateTime, "3")) == nil {
		return &Error{Err: errors.New("a document was updated that had changed"), Mend: "this is no Firestore that can be used"}
	}
	now, err := s.get(ctx, ref)
	if err == nil && text(now, fieldWrite) != "2" {
		err = &Error{Err: errors.New("a write was not seen by the read after it"), Mend: "this is no Firestore that can be used"}
	}
	return err
}
