package firestore

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
)

// Fleet is what the ledger says of itself.
type Fleet struct {
	// ID tells this ledger from any other, one under the same name too. Empty: there
	// is none.
	ID string
	// OpenedAt is when it was opened by `bot migrate firestore`. Zero: it was not.
	OpenedAt time.Time
	// Epoch counts how often something was forgotten.
	Epoch int64
}

// Opened reports whether the ledger was opened for use.
func (f Fleet) Opened() bool { return !f.OpenedAt.IsZero() }

// openedBy is what the fleet's document says of who opened it.
const openedBy = "bot migrate firestore"

// Fleet returns what the ledger said of itself when it was last read.
func (s *Store) Fleet() Fleet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *Store) readFleet(ctx context.Context) error {
	snap, err := s.get(ctx, s.fleet)
	if err != nil {
		return err
	}
	return s.noteFleet(snap)
}

func (s *Store) noteFleet(snap *firestore.DocumentSnapshot) error {
	var f Fleet
	if snap.Exists() {
		if err := compareKey(snap, s.o.Fleet); err != nil {
			return err
		}
		data := snap.Data()
		if v, ok := data[fieldVersion].(int64); !ok || v > version {
			return fmt.Errorf("the ledger is of version %v, and this program knows version %d: use a newer bot", data[fieldVersion], version)
		}
		f.ID, _ = data["id"].(string)
		f.Epoch, _ = data["epoch"].(int64)
		if data["opened_by"] == openedBy {
			f.OpenedAt, _ = data["opened_at"].(time.Time)
		}
	}
	s.mu.Lock()
	s.state = f
	s.mu.Unlock()
	return nil
}

// changeFleet changes the fleet's document, making it if need be. next returns nil
// if nothing is to be done.
func (s *Store) changeFleet(ctx context.Context, next func(Fleet) map[string]any) error {
	for {
		snap, err := s.get(ctx, s.fleet)
		if err != nil {
			return err
		}
		if err := s.noteFleet(snap); err != nil {
			return err
		}
		fields := next(s.Fleet())
		if fields == nil {
			return nil
		}
		token := s.o.Token()
		fields[fieldWrite] = token
		faster, err := s.commit(ctx, write{
			base: snap, budget: s.o.Patience.Write,
			send: func(ctx context.Context) error {
				if !snap.Exists() {
					fields[fieldVersion], fields[fieldKey], fields["id"] = version, s.o.Fleet, token
					_, err := snap.Ref.Create(ctx, fields)
					return err
				}
				var updates []firestore.Update
				for name, value := range fields {
					updates = append(updates, firestore.Update{Path: name, Value: value})
				}
				_, err := snap.Ref.Update(ctx, updates, firestore.LastUpdateTime(snap.UpdateTime))
				return err
			},
			ours: func(now *firestore.DocumentSnapshot) bool { return now.Exists() && text(now, fieldWrite) == token },
		})
		if err != nil {
			return err
		}
		if faster == nil {
			return s.readFleet(ctx)
		}
	}
}

// OpenFleet opens the ledger for use by every machine. One that is open stays as it
// is.
func (s *Store) OpenFleet(ctx context.Context) error {
	return s.changeFleet(ctx, func(f Fleet) map[string]any {
		if f.Opened() {
			return nil
		}
		return map[string]any{"opened_by": openedBy, "opened_at": s.o.Now().UTC()}
	})
}

// forget begins a new epoch, with which every cache is out of date.
func (s *Store) forget(ctx context.Context) error {
	err := s.changeFleet(ctx, func(f Fleet) map[string]any { return map[string]any{"epoch": f.Epoch + 1} })
	s.cache.clear(s.Fleet())
	return err
}
