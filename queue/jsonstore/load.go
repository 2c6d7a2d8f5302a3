package jsonstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
)

// refresh brings the view up to what other processes did. It is called first
// thing under the lock. With quick it trusts that this program is the only one that
// replaces files, which it announces in the journal: then one byte is all that is
// read.
func (s *Store) refresh(quick bool) error {
	if s.stale || s.journal == nil {
		return s.reload()
	}
	fresh, err := s.journal.fresh()
	if err != nil {
		return err
	}
	if !fresh && quick {
		return nil
	}
	id, err := statBrief(s.files.journal)
	if err != nil {
		return absentOr(err, s.files.journal)
	}
	if id.ino != s.journal.ino || id.size < s.journal.end {
		return s.reload()
	}
	s.journal.size = id.size
	if fresh {
		if err := s.catchUp(false); err != nil {
			s.stale = true
			return err
		}
	}
	if quick {
		return nil
	}
	queueID, err := statFull(s.files.queue)
	if err != nil {
		return absentOr(err, s.files.queue)
	}
	if queueID != s.queueID {
		return s.reload()
	}
	return nil
}

func (s *Store) reload() error {
	s.stale = true
	if err := s.load(); err != nil {
		return err
	}
	s.stale = false
	return nil
}

// load reads everything but posted.json anew.
func (s *Store) load() error {
	l, err := readLedger(s.files.ledger)
	s.adopted = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = s.exists()
	}
	if err == nil {
		err = s.mayUse(l)
	}
	if err != nil {
		return err
	}
	s.ledger = l
	// A journal is made after the files it stands upon.
	s.whole = s.adopted || present(s.files.journal)
	if _, err := statFull(s.files.posted); err != nil {
		return absentOr(err, s.files.posted)
	}
	view := newView()
	queueFile, queueID, err := s.loadQueue(view)
	if err != nil {
		return err
	}
	if s.queueFile != nil {
		s.queueFile.Close()
	}
	s.queueFile, s.queueID = queueFile, queueID
	if err := s.loadBooks(view); err != nil {
		return err
	}
	s.view, s.unwritten, s.wasSettled = view, false, false
	s.settledFor.posted, s.settledFor.queue = identity{}, identity{}
	return s.loadJournal()
}

// loadSnapshot loads for reading only, and sees to it that the files belong
// together even where they could not be locked.
func (s *Store) loadSnapshot(locked bool) error {
	const tries = 20
	for range tries {
		before := s.stands()
		s.history.close()
		s.history = nil
		if err := s.load(); err != nil {
			return err
		}
		f, err := openState(s.files.posted)
		if err != nil {
			return err
		}
		id, err := statOpen(f)
		if err != nil {
			f.Close()
			return err
		}
		s.history = newHistory(id, f, 0)
		if locked || s.stands() == before {
			return nil
		}
	}
	return fmt.Errorf("%s changes all the time and has no lock that can be opened: try again, or as the user who runs the bot", s.dir)
}

// stands are the versions of the files that belong together.
func (s *Store) stands() [4]identity {
	var all [4]identity
	for i, path := range []string{s.files.posted, s.files.queue, s.files.books, s.files.journal} {
		all[i], _ = statFull(path)
	}
	return all
}

// loadQueue reads queue.json. Before a directory is taken over it may be missing.
func (s *Store) loadQueue(v *view) (*os.File, identity, error) {
	path := s.files.queue
	f, err := openState(path)
	if err != nil {
		if !s.whole && !present(path) {
			return nil, identity{}, nil
		}
		return nil, identity{}, err
	}
	id, err := statOpen(f)
	if err == nil {
		err = eachValue(bufio.NewReader(f), path, func(raw jsontext.Value, _ span) error {
			raw = bytes.Clone(raw)
			e, err := queue.ParseRecord(raw, queue.InQueue)
			if err != nil {
				return err
			}
			v.putQueued(&item{id: e.ID, raw: raw, entry: e, queued: true})
			return nil
		})
	}
	if err != nil {
		f.Close()
		return nil, identity{}, err
	}
	return f, id, nil
}

// putQueued adds a record of queue.json. Of several with one ID the first counts,
// unless another says that the entry is done.
func (v *view) putQueued(i *item) {
	first := v.item(i.id)
	if first == nil {
		v.put(i)
		return
	}
	if i.entry.Status.Final() && !first.entry.Status.Final() {
		i, first = first, i
		first.doubles = i.doubles
	} else {
		copied := *first
		first = &copied
	}
	first.doubles = append(slices.Clone(first.doubles), i.raw)
	v.put(first)
}

func (s *Store) loadBooks(v *view) error {
	f, err := openState(s.files.books)
	if err != nil {
		if !s.whole && !present(s.files.books) {
			return nil
		}
		return err
	}
	defer f.Close()
	return eachMember(bufio.NewReader(f), s.files.books, func(name string, value jsontext.Value) {
		v.putBook(name, bytes.Clone(value))
	})
}

// loadJournal opens the journal and applies all of it to the view.
func (s *Store) loadJournal() error {
	if s.journal != nil {
		s.journal.close()
		s.journal = nil
	}
	s.base = base{}
	path := s.files.journal
	if !s.whole {
		return nil
	}
	if err := regular(path); err != nil {
		return err
	}
	flags := os.O_RDWR
	if s.readOnly {
		flags = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return absentOr(err, path)
	}
	j, err := s.readHead(f)
	if err != nil {
		f.Close()
		return err
	}
	s.journal = j
	s.base = j.head.Base
	if err := s.catchUp(true); err != nil {
		return err
	}
	return s.orphaned()
}

func (s *Store) readHead(f *os.File) (*journal, error) {
	path := s.files.journal
	id, err := statOpen(f)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, id.size)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	h, ok := parseHead(text)
	switch {
	case !ok || !ended:
		return nil, fileErrorf(path, 0, "its first line cannot be read; put the directory back from a backup, or see docs/local-state.md")
	case h.Head > version:
		return nil, fileErrorf(path, 0, "a newer program wrote it: use a newer bot")
	case s.adopted && h.Fleet != s.ledger.Fleet:
		return nil, fileErrorf(path, 0, "it is the journal of another ledger (%s) than ledger.json names (%s)", h.Fleet, s.ledger.Fleet)
	}
	end := int64(len(line))
	return newJournal(path, f, id, end, h), nil
}

// catchUp applies the journal's lines that were not read yet. A torn end is cut
// off, unless the store is for reading only.
func (s *Store) catchUp(whole bool) error {
	torn, err := s.journal.readTail(whole, s.apply)
	if err != nil || torn == 0 || s.readOnly {
		return err
	}
	return s.journal.cut(torn, s.files.torn)
}

// apply brings one event of the journal into the view.
func (s *Store) apply(e event) error {
	switch e.kind {
	case anEntry:
		entry, err := queue.ParseRecord(e.value, queue.InQueue)
		if err != nil {
			return err
		}
		next := successor(s.view.item(entry.ID), entry.ID, e.over)
		next.entry = entry
		s.view.put(next)
	case aForgotten:
		next := successor(s.view.item(e.name), e.name, e.over)
		next.forgotten = true
		s.view.put(next)
	case aBook:
		s.view.putBook(e.name, bytes.Clone(e.value))
	case aBase:
		s.base = e.base
	}
	return nil
}

func absentOr(err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missing(path)
	}
	return err
}
