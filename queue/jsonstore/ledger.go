package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"bot/queue"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// version is the newest format of a ledger that this program knows.
const version = 1

// maxLedgerFile is how much of ledger.json is read, in bytes: far more than it holds.
const maxLedgerFile = 64 << 10

// ledger is what ledger.json says.
type ledger struct {
	Version  int       `json:"version"`
	Fleet    string    `json:"fleet"`
	OpenedAt time.Time `json:"opened_at,omitzero"`
	// MovedTo names where the ledger is by now. Empty: it is here.
	MovedTo string `json:"moved_to,omitzero"`
	// MovingTo names where it is being moved. Empty: it is not.
	MovingTo string `json:"moving_to,omitzero"`
}

// readLedger reads ledger.json. It returns fs.ErrNotExist if it is not there.
func readLedger(path string) (ledger, error) {
	var l ledger
	if err := regular(path); err != nil {
		return l, err
	}
	f, err := os.Open(path)
	if err != nil {
		return l, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLedgerFile))
	if err != nil {
		return l, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return l, fileErrorf(path, 0, "it is empty; put the file back from a backup")
	}
	if err := json.Unmarshal(data, &l); err != nil {
		var at int64
		if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			at = s.ByteOffset
		}
		return l, fileErrorf(path, at, "this is not what ledger.json holds: %w", err)
	}
	switch {
	case l.Version < 1 || l.Fleet == "":
		return l, fileErrorf(path, 0, "this is not what ledger.json holds: it names no version and fleet")
	case l.Version > version:
		return l, fileErrorf(path, 0, "the ledger is of version %d, and this program knows no version after %d: use a newer bot", l.Version, version)
	case l.MovedTo != "":
		return l, fmt.Errorf("%w to %s (so %s says); set state.backend accordingly", ErrMoved, l.MovedTo, path)
	}
	return l, nil
}

// exists returns queue.ErrNoLedger, with what to do, if there is no ledger in the
// directory.
func (s *Store) exists() error {
	if present(s.files.ledger) || present(s.files.posted) {
		return nil
	}
	if err := s.lost(); err != nil {
		return err
	}
	return fmt.Errorf("%w in %s: run `bot init` once if this fleet is new, or put the old files back", queue.ErrNoLedger, s.dir)
}

// lost tells of a directory in which posted.json is missing and was there once.
func (s *Store) lost() error {
	for _, path := range []string{s.files.queue, s.files.journal, s.files.books} {
		if present(path) {
			return fmt.Errorf("%w in %s: %s is there, and posted.json, which says what was announced, is not: put the old files back",
				queue.ErrNoLedger, s.dir, path)
		}
	}
	return nil
}

// present reports whether there is something called path. What cannot be told
// counts as there, so that it is never made anew.
func present(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Report is what Init did.
type Report struct {
	// Created are the files it made.
	Created []string
	// Adopted: it took over what an earlier bot had left.
	Adopted bool
}

// Init opens a ledger for the first time, in dir, which it makes if it is not
// there. It creates what is missing and overwrites nothing: a ledger that is there
// is left alone, and what an earlier bot left is taken over. It never makes a
// file anew that has been lost.
func Init(dir string, now time.Time) (Report, error) {
	ctx := context.Background()
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return Report{}, err
	}
	o := Options{Dir: dir, Now: func() time.Time { return now }}
	s := newStore(o)
	var absent []string
	for _, path := range []string{s.files.posted, s.files.queue, s.files.books, s.files.journal, s.files.ledger} {
		if !present(path) {
			absent = append(absent, path)
		}
	}
	adopted := present(s.files.posted) && !present(s.files.ledger)
	if err := s.begin(ctx); err != nil {
		return Report{}, err
	}
	opened, err := Open(ctx, o)
	if err != nil {
		return Report{}, err
	}
	if err := opened.Close(); err != nil {
		return Report{}, err
	}
	return Report{Created: absent, Adopted: adopted}, nil
}

// orphaned returns an error if the journal stands there without ledger.json and was
// made after it: what that said of the ledger, such as that it has moved, is lost.
func (s *Store) orphaned() error {
	if s.adopted || s.journal.head.First && s.journal.next == 1 {
		return nil
	}
	return missing(s.files.ledger)
}

// begin makes the empty posted.json of a new ledger. What else is missing is made
// by whoever takes the directory over.
func (s *Store) begin(ctx context.Context) error {
	l, err := openLock(s.files.lock, true, lockTimeout)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.acquire(ctx, unix.LOCK_EX); err != nil {
		return err
	}
	if present(s.files.ledger) || present(s.files.posted) {
		return nil
	}
	if err := s.lost(); err != nil {
		return err
	}
	return replace(s.files.posted, writeBytes([]byte(emptyArray)))
}

// adopt takes the directory over from an earlier bot: it makes the files that are
// missing, ledger.json last, since with it the others have to be there. It is
// called under the lock, with the two arrays settled.
func (s *Store) adopt() error {
	if s.adopted {
		return nil
	}
	for path, content := range map[string]string{s.files.queue: emptyArray, s.files.books: emptyObject} {
		if present(path) {
			continue
		}
		if err := replace(path, writeBytes([]byte(content))); err != nil {
			return err
		}
	}
	if err := s.pinQueue(); err != nil {
		return err
	}
	l := ledger{Version: version, Fleet: uuid.NewString(), OpenedAt: s.now().UTC().Truncate(time.Millisecond)}
	if s.journal != nil {
		l.Fleet = s.journal.head.Fleet
	} else if err := s.firstJournal(l.Fleet); err != nil {
		return err
	}
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := replace(s.files.ledger, writeBytes(append(line, '\n'))); err != nil {
		return err
	}
	s.ledger, s.adopted, s.whole = l, true, true
	return nil
}

// pinQueue takes note of a queue.json that was just made.
func (s *Store) pinQueue() error {
	if s.queueFile != nil {
		return nil
	}
	f, err := openState(s.files.queue)
	if err != nil {
		return err
	}
	if s.queueID, err = statOpen(f); err != nil {
		f.Close()
		return err
	}
	s.queueFile, s.settledFor.queue = f, s.queueID
	return nil
}

// firstJournal makes and opens the journal of a ledger that has none.
func (s *Store) firstJournal(fleet string) error {
	var now base
	if !s.unwritten {
		var err error
		if now, err = s.standing(); err != nil {
			return err
		}
	}
	now.Marks = s.marks(false)
	line, err := appendHead(nil, head{Fleet: fleet, Base: now, First: true})
	if err != nil {
		return err
	}
	if err := replace(s.files.journal, bareJournal(line)); err != nil {
		return err
	}
	s.whole = true
	return s.loadJournal()
}
