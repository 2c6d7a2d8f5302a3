package jsonstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// A ledger moves to a shared store in two steps. While it is frozen nobody changes
// it, so that it can be compared with its copy; whoever moves it opens it with
// Options.MovingTo. Then it has moved, and is refused to everybody.

// frozenError: the ledger is being moved.
type frozenError struct{ to string }

func (e frozenError) Error() string {
	return fmt.Sprintf("the ledger is being moved to %s; if no `bot migrate firestore` is running, run it again to finish", e.to)
}

// Is makes a frozen ledger an ErrMoved: it is refused in the same way.
func (e frozenError) Is(target error) bool { return target == ErrMoved }

// mayUse returns an error if the ledger is being moved by somebody else.
func (s *Store) mayUse(l ledger) error {
	if l.MovingTo != "" && l.MovingTo != s.movingTo {
		return frozenError{l.MovingTo}
	}
	return nil
}

// Place tells where a ledger has moved, or is being moved, if so.
func Place(dir string) (moved, moving string, err error) {
	l, err := readLedger(filesOf(dir).ledger)
	if errors.Is(err, ErrMoved) {
		err = nil
	}
	return l.MovedTo, l.MovingTo, err
}

// Freeze says that the ledger is being moved. From then on every other process is
// refused.
func (s *Store) Freeze(ctx context.Context, to string) error {
	s.movingTo = to
	return s.mark(ctx, func(l *ledger) { l.MovingTo = to })
}

// Thaw undoes Freeze.
func (s *Store) Thaw(ctx context.Context) error {
	return s.mark(ctx, func(l *ledger) { l.MovingTo = "" })
}

// Leave says that the ledger has moved for good, and closes it.
func (s *Store) Leave(ctx context.Context, to string) error {
	if err := s.mark(ctx, func(l *ledger) { l.MovingTo, l.MovedTo = "", to }); err != nil {
		return err
	}
	s.mu.Lock()
	s.closing, s.closed = true, true
	s.mu.Unlock()
	s.running.Wait()
	s.letGo()
	return nil
}

var errBusy = errors.New("the ledger changes all the time: stop what runs, and try again")

// mark changes ledger.json. All is folded before, and the journal replaced after, so
// that every process that has the ledger open looks at ledger.json again.
func (s *Store) mark(ctx context.Context, change func(*ledger)) error {
	const tries = 20
	for range tries {
		if err := s.Fold(ctx); err != nil {
			return err
		}
		err := s.do(ctx, &op{apply: func(*batch) error { return nil }, after: func() error {
			if s.journal.next != 1 {
				return errBusy
			}
			l := s.ledger
			change(&l)
			line, err := jsonv2.Marshal(l)
			if err != nil {
				return err
			}
			if err := replace(s.files.ledger, writeBytes(append(line, '\n'))); err != nil {
				return err
			}
			return s.newJournal(s.marks(false))
		}})
		if !errors.Is(err, errBusy) {
			return err
		}
	}
	return errBusy
}

// Books returns all small records, by name.
func (s *Store) Books(ctx context.Context) (map[string]json.RawMessage, error) {
	all := make(map[string]json.RawMessage)
	err := s.do(ctx, &op{apply: func(*batch) error {
		for name, value := range s.view.books {
			all[name] = append(json.RawMessage(nil), value...)
		}
		return nil
	}})
	return all, err
}
