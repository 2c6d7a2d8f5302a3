package firestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"bot/queue"

	"cloud.google.com/go/firestore"
)

// write is one write on a document as it was read. It may be made several times.
type write struct {
	base *firestore.DocumentSnapshot
	// budget is how long it is tried.
	budget time.Duration
	// send makes the write, on the condition that the document is as it was read.
	send func(context.Context) error
	// ours reports whether the document shows that the write was made.
	ours func(*firestore.DocumentSnapshot) bool
}

// commit makes a write and finds out whether it was made. If not, since somebody
// else was faster, it returns what stands there now. A write that has begun is
// brought to its end even if the context ends: half known is worse than late.
func (s *Store) commit(ctx context.Context, w write) (now *firestore.DocumentSnapshot, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	budget := w.budget
	if end, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(end))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
	defer cancel()
	for try := 0; ; try++ {
		err := s.call(ctx, w.send)
		if err == nil {
			return nil, nil
		}
		now, readErr := s.get(ctx, w.base.Ref)
		if readErr == nil {
			switch {
			case w.ours(now):
				return nil, nil
			case changed(w.base, now):
				return now, nil
			case definite(err):
				return nil, s.explain(err)
			}
		}
		if pause(ctx, try) != nil {
			return nil, fmt.Errorf("%w: %w", ErrUndecided, s.explain(errors.Join(err, readErr)))
		}
	}
}

// changed reports whether a document is another than it was.
func changed(base, now *firestore.DocumentSnapshot) bool {
	if !base.Exists() || !now.Exists() {
		return base.Exists() != now.Exists()
	}
	return !base.UpdateTime.Equal(now.UpdateTime)
}

// pause waits before the next try, longer each time and never as long as another
// does.
func pause(ctx context.Context, try int) error {
	most := 50 * time.Millisecond << min(try, 5)
	timer := time.NewTimer(most/2 + rand.N(most/2))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Update implements queue.Store.
func (s *Store) Update(ctx context.Context, id string, change func(queue.Entry) (queue.Entry, error)) (queue.Entry, error) {
	if err := s.usable(ctx); err != nil {
		return queue.Entry{}, err
	}
	s.cache.drop(id)
	snap, err := s.get(ctx, s.entry(id))
	for {
		if err != nil {
			return queue.Entry{}, err
		}
		if !snap.Exists() {
			return queue.Entry{}, notFound(id)
		}
		e, err := decode(snap)
		if err != nil {
			return queue.Entry{}, err
		}
		next, err := change(e)
		if err != nil {
			return queue.Entry{}, err
		}
		if snap, err = s.replace(ctx, snap, next); err != nil {
			return queue.Entry{}, fmt.Errorf("update entry %s: %w", id, err)
		}
		if snap == nil {
			return reread(next)
		}
	}
}

// replace puts an entry in the place of a document as it was read. It returns what
// stands there if somebody else was faster.
func (s *Store) replace(ctx context.Context, base *firestore.DocumentSnapshot, next queue.Entry) (*firestore.DocumentSnapshot, error) {
	token := s.o.Token()
	doc, err := encode(next, token)
	if err != nil {
		return nil, err
	}
	if docName(next.ID) != base.Ref.ID {
		return nil, fmt.Errorf("%w: %s", errOtherKey, next.ID)
	}
	if err := compareKey(base, doc.key); err != nil {
		return nil, err
	}
	budget := s.o.Patience.Write
	if next.Status == queue.Sending {
		budget = s.o.Patience.Claim
	}
	return s.commit(ctx, write{
		base: base, budget: budget,
		send: func(ctx context.Context) error {
			_, err := base.Ref.Update(ctx, doc.updates(), firestore.LastUpdateTime(base.UpdateTime))
			return err
		},
		ours: func(now *firestore.DocumentSnapshot) bool { return now.Exists() && text(now, fieldWrite) == token },
	})
}

// reread returns an entry as it is when it is read back.
func reread(e queue.Entry) (queue.Entry, error) {
	record, err := queue.MarshalRecord(e)
	if err != nil {
		return queue.Entry{}, err
	}
	return queue.ParseRecord(record, e.Status.Final())
}

// Delete implements queue.Store. It lets every machine's cache begin anew first,
// since what is forgotten there must not be known here.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	snap, err := s.get(ctx, s.entry(id))
	if err != nil {
		return err
	}
	if !snap.Exists() {
		return notFound(id)
	}
	if err := s.forget(ctx); err != nil {
		return err
	}
	for snap != nil && snap.Exists() {
		base := snap
		snap, err = s.commit(ctx, write{
			base: base, budget: s.o.Patience.Write,
			send: func(ctx context.Context) error {
				_, err := base.Ref.Delete(ctx, firestore.LastUpdateTime(base.UpdateTime))
				return err
			},
			ours: func(now *firestore.DocumentSnapshot) bool { return !now.Exists() },
		})
		if err != nil {
			return fmt.Errorf("delete entry %s: %w", id, err)
		}
	}
	return nil
}

// Book implements queue.Store.
func (s *Store) Book(ctx context.Context, name string) (json.RawMessage, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	snap, err := s.get(ctx, s.book(name))
	if err != nil || !snap.Exists() {
		return nil, err
	}
	return bookRecord(snap, name)
}

func bookRecord(snap *firestore.DocumentSnapshot, name string) (json.RawMessage, error) {
	if err := compareKey(snap, name); err != nil {
		return nil, err
	}
	if record := text(snap, fieldRecord); record != "" {
		return json.RawMessage(record), nil
	}
	return nil, nil
}

// UpdateBook implements queue.Store. A change that changes nothing is not written.
func (s *Store) UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	snap, err := s.get(ctx, s.book(name))
	for try := 0; ; try++ {
		if err != nil {
			return err
		}
		var old json.RawMessage
		if snap.Exists() {
			if old, err = bookRecord(snap, name); err != nil {
				return err
			}
		}
		next, err := change(slices.Clone(old))
		if err != nil {
			return err
		}
		if string(next) == string(old) {
			return nil
		}
		if next != nil && !json.Valid(next) {
			return fmt.Errorf("record %s: what is to be written is not JSON", name)
		}
		if snap, err = s.replaceBook(ctx, snap, name, next); err != nil {
			return fmt.Errorf("update record %s: %w", name, err)
		}
		if snap == nil {
			return nil
		}
		if err := pause(ctx, min(try, 2)); err != nil {
			return err
		}
	}
}

// keptWrites is how many write tokens a small record keeps, so that a write is
// found to have been made even if others followed it.
const keptWrites = 16

// replaceBook puts a small record in the place of its document as it was read.
func (s *Store) replaceBook(ctx context.Context, base *firestore.DocumentSnapshot, name string, next json.RawMessage) (*firestore.DocumentSnapshot, error) {
	token := s.o.Token()
	writes := append(writesOf(base), token)
	writes = writes[max(0, len(writes)-keptWrites):]
	return s.commit(ctx, write{
		base: base, budget: s.o.Patience.Write,
		send: func(ctx context.Context) error {
			if !base.Exists() {
				_, err := base.Ref.Create(ctx, map[string]any{
					fieldVersion: version, fieldKey: name, fieldRecord: string(next), fieldWrites: writes,
				})
				return err
			}
			_, err := base.Ref.Update(ctx, []firestore.Update{
				{Path: fieldRecord, Value: string(next)}, {Path: fieldWrites, Value: writes},
			}, firestore.LastUpdateTime(base.UpdateTime))
			return err
		},
		ours: func(now *firestore.DocumentSnapshot) bool {
			return now.Exists() && slices.Contains(writesOf(now), token)
		},
	})
}

func writesOf(snap *firestore.DocumentSnapshot) []string {
	if !snap.Exists() {
		return nil
	}
	list, _ := snap.Data()[fieldWrites].([]any)
	var all []string
	for _, one := range list {
		if token, ok := one.(string); ok {
			all = append(all, token)
		}
	}
	return all
}
