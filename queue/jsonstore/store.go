package jsonstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"bot/queue"

	"golang.org/x/sys/unix"
)

const (
	fileMode = 0o600
	dirMode  = 0o700

	// lockTimeout is how long a locked ledger is waited for, unless Options says
	// otherwise.
	lockTimeout = 10 * time.Second
)

// Options say which ledger is opened, and how.
type Options struct {
	// Dir is the directory of the ledger.
	Dir string
	// Now is the program's clock. Nil: time.Now. It is asked for labels only; nothing
	// is ordered by it.
	Now func() time.Time
	// LockTimeout is how long to wait for another process that holds the lock. Zero:
	// 10 s, which is far longer than any step takes.
	LockTimeout time.Duration
	// MovingTo lets a ledger be opened that is being moved there. Empty: none.
	MovingTo string
}

// Store is a ledger in a directory. It implements queue.Store.
type Store struct {
	dir      string
	now      func() time.Time
	readOnly bool
	movingTo string
	files    files
	lock     *lock
	warnings []string

	// mu guards who leads and what waits. In a store for reading only it guards
	// everything.
	mu      sync.Mutex
	pending []*op
	leading bool
	// alone counts the steps since somebody last led for others as well.
	alone   int
	closing bool
	closed  bool
	// running counts the steps that were begun.
	running sync.WaitGroup

	// unreadable: posted.json was found to be no good, and somebody was told.
	unreadable atomic.Bool

	// reading lets a small record be read while nobody leads: whoever leads holds it
	// whole.
	reading sync.RWMutex

	// All below belongs to whoever leads, and is valid while the lock is held.

	ledger  ledger
	adopted bool // ledger.json is there
	whole   bool // all files have to be there
	journal *journal
	view    *view
	// queueID is the queue.json that was read into view, held open by queueFile.
	queueID   identity
	queueFile *os.File
	history   *history
	base      base
	// settledFor are the two arrays that are known to share no entry, or whose
	// shared entries were settled in view.
	settledFor struct{ posted, queue identity }
	// wasSettled: they were, when somebody last looked.
	wasSettled bool
	// unwritten: view holds what neither queue.json nor the journal says.
	unwritten bool
	// stale: what is in memory has to be read again.
	stale bool
	// broken is why nothing can be done any more. Nil: something can.
	broken error
	// records and lines are space for what a batch writes.
	records, lines []byte
}

var _ queue.Store = (*Store)(nil)

// files are the paths of a ledger's files, with symbolic links followed, so that
// what is replaced is the file and not the link.
type files struct{ posted, queue, books, journal, torn, ledger, lock string }

func filesOf(dir string) files {
	at := func(name string) string {
		path := filepath.Join(dir, name)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		return path
	}
	return files{
		posted: at("posted.json"), queue: at("queue.json"), books: at("bookkeeping.json"),
		journal: at("journal.jsonl"), torn: at("journal.torn"), ledger: at("ledger.json"), lock: at(".lock"),
	}
}

// Open opens a ledger for reading and writing. Any number of processes may have it
// open. A directory that an earlier bot left is taken over with the first change,
// or with Close.
//
// It returns queue.ErrNoLedger if there is none, queue.ErrLocked if another
// process does not let go of the lock, ErrMoved if the ledger is elsewhere by now,
// and a *FileError for a file that is missing or cannot be read.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := newStore(o)
	if err := s.exists(); err != nil {
		return nil, err
	}
	l, err := openLock(s.files.lock, true, cmp.Or(o.LockTimeout, lockTimeout))
	if err != nil {
		return nil, err
	}
	s.lock = l
	// The first step loads.
	s.stale = true
	if err := s.do(ctx, &op{apply: func(*batch) error { return nil }}); err != nil {
		s.letGo()
		return nil, err
	}
	return s, nil
}

// OpenReadOnly opens a ledger to look at it as it stands now. It writes nothing,
// needs no right to write, and shows nothing of what is changed later. It returns
// the errors of Open, and the store's methods that change something return
// ErrReadOnly.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s := newStore(Options{Dir: dir})
	s.readOnly = true
	if err := s.exists(); err != nil {
		return nil, err
	}
	l, err := openLock(s.files.lock, false, lockTimeout)
	switch {
	case err == nil:
		// Once all is read and open there is nothing left to be locked.
		defer l.close()
		if err := l.acquire(ctx, unix.LOCK_SH); err != nil {
			return nil, err
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		// Nobody has ever written here with this program, or nobody may.
	default:
		return nil, err
	}
	if err := s.loadSnapshot(err == nil); err != nil {
		s.letGo()
		return nil, err
	}
	return s, nil
}

func newStore(o Options) *Store {
	s := &Store{dir: o.Dir, now: o.Now, movingTo: o.MovingTo, files: filesOf(o.Dir)}
	if s.now == nil {
		s.now = time.Now
	}
	s.warnings = s.inspect()
	return s
}

// Warnings are what a person should know of where the ledger is, if anything: one
// sentence each.
func (s *Store) Warnings() []string { return s.warnings }

func (s *Store) inspect() []string {
	var all []string
	if kind := remoteKind(s.dir); kind != "" {
		all = append(all, fmt.Sprintf("%s is on a network file system (%s), where locks and syncs may not hold: keep state.dir on a local disk", s.dir, kind))
	}
	for _, path := range []string{s.files.posted, s.files.queue, s.files.books, s.files.journal} {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			all = append(all, fmt.Sprintf("%s can be read by other users of this machine (mode %04o): chmod 600 it", path, info.Mode().Perm()))
		}
	}
	return all
}

// Close makes everything durable, brings queue.json and posted.json up to date,
// and lets go. With a very large posted.json the records that came last may stay
// in the journal until there are more of them. If the files cannot be written, the
// journal has everything, and the error is returned. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	s.mu.Unlock()
	if again {
		return nil
	}
	var err error
	if !s.readOnly {
		err = s.finish(context.Background())
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	s.letGo()
	return err
}

// finish folds, or at least makes the journal durable.
func (s *Store) finish(ctx context.Context) error {
	var err error
	// What cannot be read has been reported, and a fold would only say so again.
	if !s.unreadable.Load() {
		if err = s.fold(ctx, true); err == nil {
			return nil
		}
	}
	jerr := s.do(ctx, &op{apply: func(*batch) error { return nil }, after: s.settleJournal})
	return cmp.Or(err, jerr)
}

// settleJournal leaves the journal as it is, durable and without reserved space.
func (s *Store) settleJournal() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.sync(); err != nil {
		return err
	}
	return s.journal.trim()
}

func (s *Store) letGo() {
	if s.journal != nil {
		s.journal.close()
	}
	if s.queueFile != nil {
		s.queueFile.Close()
	}
	s.history.close()
	if s.lock != nil {
		s.lock.close()
	}
}
