package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

var errStop = errors.New("stop")

// openHistory is posted.json, opened for one reading.
type openHistory struct {
	file   *os.File
	size   int64
	shared bool
}

// openHistory opens posted.json as it stands. It is called under the lock.
func (s *Store) openHistory() (*openHistory, error) {
	if s.readOnly {
		return &openHistory{s.history.file, s.history.id.size, true}, nil
	}
	f, err := openState(s.files.posted)
	if err != nil {
		return nil, err
	}
	id, err := statOpen(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &openHistory{f, id.size, false}, nil
}

func (h *openHistory) close() {
	if !h.shared {
		h.file.Close()
	}
}

// writePosted writes to f what posted.json becomes by the plan. What stays is
// copied byte for byte.
func (s *Store) writePosted(f *os.File, p plan) error {
	old, err := s.openHistory()
	if err != nil {
		return err
	}
	defer old.close()
	var out []found
	if len(p.gone) > 0 {
		if out, err = findRecords(context.Background(), old.file, old.size, s.files.posted, newMatcher(p.gone)); err != nil {
			return err
		}
	}
	keep, err := without(old.file, old.size, out)
	if err != nil {
		return err
	}
	return splice(f, old.file, keep, p.done)
}

// without returns the runs of records that are left of an array in a file, which
// has been found valid, when those of out are taken from it. The first run has the
// array's beginning if its first record stays.
func without(f *os.File, size int64, out []found) ([]span, error) {
	var runs []span
	from := int64(0)
	for n := range len(out) + 1 {
		run := span{from, size}
		if n < len(out) {
			run.end, from = out[n].at.start, out[n].at.end
		}
		run, err := tighten(f, run)
		if err != nil {
			return nil, err
		}
		if run.start == run.end {
			continue
		}
		if n == 0 {
			run.start = 0
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// tighten makes a part of an array's text begin and end with a record. It is empty
// if there is none.
func tighten(f *os.File, run span) (span, error) {
	const between = " \t\r\n,[]"
	var space [4096]byte
	for run.start < run.end {
		text := space[:min(run.end-run.start, int64(len(space)))]
		if _, err := f.ReadAt(text, run.start); err != nil {
			return run, err
		}
		left := len(bytes.TrimLeft(text, between))
		run.start += int64(len(text) - left)
		if left > 0 {
			break
		}
	}
	for run.start < run.end {
		text := space[:min(run.end-run.start, int64(len(space)))]
		if _, err := f.ReadAt(text, run.end-int64(len(text))); err != nil {
			return run, err
		}
		left := len(bytes.TrimRight(text, between))
		run.end -= int64(len(text) - left)
		if left > 0 {
			break
		}
	}
	return run, nil
}

// splice writes an array of the records in the spans of old, which are each a run
// of records, and those of more.
func splice(f, old *os.File, keep []span, more [][]byte) error {
	separator := "[\n"
	next := func() error {
		_, err := f.WriteString(separator)
		separator = ",\n"
		return err
	}
	for _, run := range keep {
		if run.start == 0 {
			separator = "" // the run has the array's beginning
		}
		if err := next(); err != nil {
			return err
		}
		if _, err := old.Seek(run.start, io.SeekStart); err != nil {
			return err
		}
		// The kernel copies this, without a way through this process.
		if _, err := io.CopyN(f, old, run.end-run.start); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(more, 512) {
		if err := next(); err != nil {
			return err
		}
		if err := writeBytes(bytes.Join(chunk, []byte(",\n")))(f); err != nil {
			return err
		}
	}
	if separator == "[\n" {
		return writeBytes([]byte(emptyArray))(f)
	}
	return writeBytes([]byte("\n]\n"))(f)
}

// object returns a JSON object with one member on each line.
func object(members map[string][]byte) []byte {
	if len(members) == 0 {
		return []byte(emptyObject)
	}
	var lines [][]byte
	for _, name := range slices.Sorted(maps.Keys(members)) {
		// A name that is no UTF-8 was refused when it was recorded.
		line, _ := jsontext.AppendQuote(nil, name)
		lines = append(lines, append(append(line, ':'), members[name]...))
	}
	return slices.Concat([]byte("{\n"), bytes.Join(lines, []byte(",\n")), []byte("\n}\n"))
}
