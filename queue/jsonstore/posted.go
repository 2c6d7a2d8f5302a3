package jsonstore

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"bot/queue"

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

func (h *openHistory) reader() io.Reader { return io.NewSectionReader(h.file, 0, h.size) }

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
	var keep []span
	if len(p.gone) == 0 {
		keep, err = wholeArray(old.file, old.size, s.files.posted)
	} else {
		keep, err = arrayWithout(old.reader(), s.files.posted, p.gone)
	}
	if err != nil {
		return err
	}
	return splice(f, old.file, keep, p.done)
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

// wholeArray returns the one span, from the file's beginning, that has all of the
// array but its end: up to behind its last record. None if it has no records. The
// file has been found valid before.
func wholeArray(f *os.File, size int64, path string) ([]span, error) {
	const window = 4096
	closed := false
	for end := size; end > 0; {
		start := max(end-window, 0)
		buf := make([]byte, end-start)
		if _, err := f.ReadAt(buf, start); err != nil {
			return nil, err
		}
		for i := len(buf) - 1; i >= 0; i-- {
			switch c := buf[i]; {
			case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			case c == ']' && !closed:
				closed = true
			case c == '[' && closed && start == 0 && len(bytes.TrimSpace(buf[:i])) == 0:
				return nil, nil
			case (c == '}' || c == '"') && closed:
				return []span{{0, start + int64(i) + 1}}, nil
			default:
				return nil, fileErrorf(path, start+int64(i), "it does not end like an array of records")
			}
		}
		end = start
	}
	return nil, fileErrorf(path, 0, "it is empty")
}

// arrayWithout returns the runs of records that are left of the array when those
// of gone are taken out.
func arrayWithout(r io.Reader, path string, gone []want) ([]span, error) {
	out := map[string]bool{}
	for _, w := range gone {
		out[w.id] = true
	}
	var keep []span
	open := false // the last span goes on
	err := eachValue(r, path, func(raw jsontext.Value, at span) error {
		e, err := queue.ParseRecord(raw, queue.InPosted)
		switch {
		case err != nil:
			return err
		case out[e.ID]:
			open = false
		case open:
			keep[len(keep)-1].end = at.end
		default:
			keep, open = append(keep, at), true
		}
		return nil
	})
	return keep, err
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
