package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	// smallPosted is up to which size posted.json is rewritten by every fold.
	smallPosted = 4 << 20
	// largeJournal is from which size the journal is folded in any case, so that it
	// is read quickly.
	largeJournal = 16 << 20
	// growth is what part of a larger posted.json the journal may reach, so that a
	// large file is not rewritten for a few records.
	growth = 4
)

// Fold brings posted.json, queue.json and bookkeeping.json up to date with the
// journal, and empties that. Close does it too, so this is for whoever wants the
// files while the store is open. If a file cannot be written they all stay as they
// were, and the journal has everything.
func (s *Store) Fold(ctx context.Context) error {
	return s.fold(ctx, false)
}

// fold folds. With lazily a large posted.json is left for later.
func (s *Store) fold(ctx context.Context, lazily bool) error {
	return s.with(ctx, step{
		apply: func(*batch, func(string) *hit) error { return nil },
		after: func() error {
			if err := s.adopt(); err != nil {
				return err
			}
			return s.foldNow(lazily)
		},
	})
}

// foldNow folds under the lock, with the two arrays settled.
//
// The three files are staged and synced before any is renamed, and the journal is
// replaced only when their new names are on the disk. So at every moment the
// journal, applied to whatever stands there, gives the same ledger.
func (s *Store) foldNow(lazily bool) error {
	if err := s.journal.sync(); err != nil {
		return err
	}
	if s.journal.next == 1 && !s.unwritten {
		return s.noteCheck()
	}
	p, err := s.plan()
	if err != nil {
		return err
	}
	posted := len(p.done)+len(p.gone) > 0
	deferred := posted && lazily && !s.unwritten && s.deferrable()
	var staging []string
	defer func() {
		for _, path := range staging {
			unstage(path)
		}
	}()
	if posted && !deferred {
		staging = append(staging, s.files.posted)
		if err := stage(s.files.posted, func(f *os.File) error { return s.writePosted(f, p) }); err != nil {
			return err
		}
	}
	for _, file := range []struct {
		path    string
		content []byte
	}{{s.files.queue, p.queue}, {s.files.books, p.books}} {
		same, err := holds(file.path, file.content)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		staging = append(staging, file.path)
		if err := stage(file.path, writeBytes(file.content)); err != nil {
			return err
		}
	}
	if err := s.putInPlace(staging); err != nil {
		return err
	}
	staging = nil
	if deferred {
		return s.noteBase(s.marks(false))
	}
	return s.newJournal(s.marks(posted))
}

// noteCheck records, where nothing else has changed, that the two arrays were found
// to be in order after somebody else wrote them, so that it need not be found out
// again.
func (s *Store) noteCheck() error {
	now, err := s.standing()
	if err != nil {
		return err
	}
	if !now.stands(s.base) {
		return s.newJournal(s.marks(false))
	}
	return s.journal.trim()
}

// deferrable reports whether a fold of posted.json can wait.
func (s *Store) deferrable() bool {
	size := s.history.id.size
	return size > smallPosted && s.journal.end < min(size/growth, largeJournal)
}

// plan is what a fold writes.
type plan struct {
	// done are the records that posted.json lacks.
	done [][]byte
	// gone are the entries whose records in posted.json no longer count.
	gone []want
	// queue and books are the contents of the other two files.
	queue, books []byte
}

func (s *Store) plan() (plan, error) {
	var p plan
	var waiting [][]byte
	for _, slot := range s.view.order {
		i := slot.item
		if i.over {
			p.gone = append(p.gone, want{id: i.id, key: i.entry.Key})
		}
		if !i.live() || i.posted {
			continue
		}
		raw, err := i.record()
		if err != nil {
			return p, err
		}
		if i.entry.Status.Final() && !i.queued {
			p.done = append(p.done, raw)
			continue
		}
		waiting = append(waiting, raw)
		waiting = append(waiting, i.doubles...)
	}
	p.queue = array(waiting)
	p.books = object(s.view.books)
	return p, nil
}

// array returns a JSON array with one record on each line.
func array(records [][]byte) []byte {
	if len(records) == 0 {
		return []byte(emptyArray)
	}
	return slices.Concat([]byte("[\n"), bytes.Join(records, []byte(",\n")), []byte("\n]\n"))
}

// holds reports whether the file at path has just this content.
func holds(path string, content []byte) (bool, error) {
	id, err := statFull(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, missing(path)
	case err != nil:
		return false, err
	case id.size != int64(len(content)):
		return false, nil
	}
	now, err := os.ReadFile(path)
	return bytes.Equal(now, content), err
}

// putInPlace renames what was staged, and makes that durable.
func (s *Store) putInPlace(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	// From here on what is in memory and what is in the files may differ.
	s.stale = true
	var dirs []string
	for _, path := range paths {
		if err := commitStaged(path); err != nil {
			return err
		}
		if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// standing returns the base that the two arrays make as they stand.
func (s *Store) standing() (base, error) {
	posted, err := statFull(s.files.posted)
	if err != nil {
		return base{}, absentOr(err, s.files.posted)
	}
	queued, err := statFull(s.files.queue)
	if err != nil {
		return base{}, absentOr(err, s.files.queue)
	}
	return base{Posted: posted.stand(), Queue: queued.stand()}, nil
}

// newJournal begins an empty journal upon the files as they stand, with these marks.
func (s *Store) newJournal(m marks) error {
	now, err := s.standing()
	if err != nil {
		return err
	}
	now.Marks = m
	line, err := appendHead(nil, head{Fleet: s.journal.head.Fleet, Base: now})
	if err != nil {
		return err
	}
	s.stale = true
	if err := s.journal.add(event{kind: anEnd}); err != nil {
		return err
	}
	return replace(s.files.journal, bareJournal(line))
}

// noteBase records in the journal that it stands upon the files as they are, with
// these marks.
func (s *Store) noteBase(m marks) error {
	now, err := s.standing()
	if err != nil {
		return err
	}
	now.Marks = m
	if !now.stands(s.base) {
		if err := s.journal.add(event{kind: aBase, base: now}); err != nil {
			return err
		}
		if err := s.journal.sync(); err != nil {
			return err
		}
	}
	return s.journal.trim()
}
