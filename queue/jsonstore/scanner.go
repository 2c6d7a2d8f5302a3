package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads the records of a JSON array as fast as they come from the disk. It
// knows the few members that tell records apart, and checks the rest: whatever it
// accepts, jsontext accepts, with the same records in it. A record of which it is
// not sure it leaves to jsontext, and all else, with errDoubt, to whoever called
// it.
type scanner struct {
	ctx context.Context
	src io.ReaderAt
	// next is the offset from which the window is filled on, size the file's.
	next, size int64
	// buf[:n] is a window of the file, from offset base on. Behind it come padding
	// zeros, which stand nowhere in JSON, so that whatever runs ahead stops there.
	buf  []byte
	n    int
	base int64

	rec record
}

// record is what a scanner found of one record. It is valid until the next.
type record struct {
	// raw is all of it, and at where it stands.
	raw []byte
	at  span
	// slow: it is valid, and its members were not looked at.
	slow bool
	// The members' texts. Nil: there is none, or it is no string. A bare string is
	// its url.
	id, webhook, url, keyURL, guid []byte
	// scratch has the texts that had to be unescaped.
	scratch []byte
}

const (
	// windowSize is how much of a file is read at once.
	windowSize = 64 << 10
	padding    = 16

	// Results other than the index behind what was read.
	needMore = -1 // it goes on behind the window
	doubtful = -2 // it is none, or none for a scanner
)

// errDoubt: the scanner does not take this file. jsontext will tell why.
var errDoubt = errors.New("not sure of this file")

// newScanner returns a scanner for the bytes from offset from on, which reads as
// much as window at once, and more only where a record is larger. It can be used
// once.
func newScanner(ctx context.Context, src io.ReaderAt, from, size int64, window int) *scanner {
	return &scanner{ctx: ctx, src: src, next: from, size: size, base: from, buf: make([]byte, window+padding)}
}

// fill reads on, and moves what stands from keep on to the window's beginning.
func (s *scanner) fill(keep int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.next >= s.size {
		return errDoubt // it ends in the middle
	}
	if s.n-keep > (len(s.buf)-padding)/2 {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	rest := copy(s.buf, s.buf[keep:s.n])
	s.base += int64(keep)
	want := int(min(int64(len(s.buf)-padding-rest), s.size-s.next))
	n, err := s.src.ReadAt(s.buf[rest:rest+want], s.next)
	if n < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = errDoubt // it has become shorter
		}
		return err
	}
	s.next += int64(n)
	s.n = rest + n
	clear(s.buf[s.n : s.n+padding])
	return nil
}

// What may come next at the top level.
const (
	theBeginning = iota
	firstOrEnd
	aRecord
	commaOrEnd
	nothing
)

// run hands each record to visit: from the file's beginning, or else from behind a
// comma of the array, to its end, or to stop, which then has to be behind one of
// its commas. It returns errDoubt if it is not sure, and visit's error.
func (s *scanner) run(stop int64, visit func(*record) error) error {
	expect := aRecord
	if s.base == 0 {
		expect = theBeginning
	}
	for i := 0; ; {
		i = skipSpace(s.buf, i)
		if i >= s.n {
			if expect == nothing && s.next >= s.size {
				return nil
			}
			if err := s.fill(i); err != nil {
				return err
			}
			i = 0
			continue
		}
		c := s.buf[i]
		switch {
		case expect == theBeginning && c == '[':
			i, expect = i+1, firstOrEnd
		case expect == commaOrEnd && c == ',':
			i, expect = i+1, aRecord
			if at := s.base + int64(i); at >= stop && stop < s.size {
				return doubtUnless(at == stop)
			}
		case (expect == commaOrEnd || expect == firstOrEnd) && c == ']' && stop >= s.size:
			i, expect = i+1, nothing
		case expect == firstOrEnd || expect == aRecord:
			end := s.read(i)
			if end == doubtful {
				return errDoubt
			}
			if end == needMore {
				if err := s.fill(i); err != nil {
					return err
				}
				i = 0
				continue
			}
			s.rec.raw = s.buf[i:end:end]
			s.rec.at = span{s.base + int64(i), s.base + int64(end)}
			if err := visit(&s.rec); err != nil {
				return err
			}
			i, expect = end, commaOrEnd
		default:
			return errDoubt
		}
	}
}

func doubtUnless(sure bool) error {
	if sure {
		return nil
	}
	return errDoubt
}

// read reads the record at i and returns the index behind it.
func (s *scanner) read(i int) int {
	r := &s.rec
	r.slow = false
	r.id, r.webhook, r.url, r.keyURL, r.guid, r.scratch = nil, nil, nil, nil, nil, r.scratch[:0]
	end := doubtful
	switch s.buf[i] {
	case '{':
		end = s.object(i)
	case '"':
		end = s.text(i, &r.url)
	}
	if end == doubtful || end > 0 && len(r.url) == 0 {
		return s.readSlowly(i)
	}
	return end
}

// readSlowly has jsontext read the record at i.
func (s *scanner) readSlowly(i int) int {
	value, err := jsontext.NewDecoder(bytes.NewReader(s.buf[i:s.n])).ReadValue()
	switch {
	case err == nil:
		s.rec.slow = true
		return i + len(value)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return needMore
	default:
		return doubtful
	}
}

// object reads the object at i.
func (s *scanner) object(i int) int {
	b := s.buf
	i = skipSpace(b, i+1)
	if b[i] == '}' {
		return i + 1
	}
	var names nameSet
	for {
		if b[i] != '"' {
			return s.stop(i)
		}
		start := i + 1
		end := plainEnd(b, start)
		if b[end] != '"' {
			return s.stop(end)
		}
		if i = skipSpace(b, end+1); b[i] != ':' {
			return s.stop(i)
		}
		if !names.add(b, start, end) {
			return doubtful
		}
		if i = s.value(skipSpace(b, i+1), s.member(b[start:end])); i < 0 {
			return i
		}
		i = skipSpace(b, i)
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return i + 1
		default:
			return s.stop(i)
		}
	}
}

// member returns where the text of the member with this name goes. Nil: nowhere.
func (s *scanner) member(name []byte) *[]byte {
	switch string(name) {
	case "id":
		return &s.rec.id
	case "url":
		return &s.rec.url
	case "webhook":
		return &s.rec.webhook
	case "key_url":
		return &s.rec.keyURL
	case "guid":
		return &s.rec.guid
	default:
		return nil
	}
}

// value reads the value at i. If it is a string its text goes to into.
func (s *scanner) value(i int, into *[]byte) int {
	b := s.buf
	switch c := b[i]; {
	case c == '"':
		return s.text(i, into)
	case c == '-' || '0' <= c && c <= '9':
		return s.number(i)
	case c == 't':
		return s.literal(i, "true")
	case c == 'f':
		return s.literal(i, "false")
	case c == 'n':
		return s.literal(i, "null")
	case c == '[':
		return s.list(i)
	default:
		return s.stop(i) // an object within a record is left to jsontext
	}
}

// list reads the array at i, of anything but arrays and objects.
func (s *scanner) list(i int) int {
	b := s.buf
	i = skipSpace(b, i+1)
	if b[i] == ']' {
		return i + 1
	}
	for {
		if b[i] == '[' {
			return doubtful
		}
		if i = s.value(i, nil); i < 0 {
			return i
		}
		i = skipSpace(b, i)
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return i + 1
		default:
			return s.stop(i)
		}
	}
}

// text reads the string at i. Its text goes to into.
func (s *scanner) text(i int, into *[]byte) int {
	b := s.buf
	escaped := false
	j := i + 1
	for {
		j = plainEnd(b, j)
		c := b[j]
		if c == '"' {
			break
		}
		next := doubtful
		switch {
		case c == '\\':
			escaped = true
			next = skipEscape(b, j)
		case c >= 0x80:
			next = skipUTF8(b, j)
		}
		if next < 0 {
			if j+padding > s.n {
				return needMore
			}
			return doubtful
		}
		j = next
	}
	if into != nil {
		*into = b[i+1 : j]
		if escaped {
			from := len(s.rec.scratch)
			var err error
			if s.rec.scratch, err = jsontext.AppendUnquote(s.rec.scratch, b[i:j+1]); err != nil {
				return doubtful
			}
			*into = s.rec.scratch[from:]
		}
	}
	return j + 1
}

func (s *scanner) literal(i int, text string) int {
	if string(s.buf[i:i+len(text)]) == text {
		return i + len(text)
	}
	if i+len(text) > s.n {
		return needMore
	}
	return doubtful
}

// number reads the number at i (RFC 8259 §6).
func (s *scanner) number(i int) int {
	b := s.buf
	if b[i] == '-' {
		i++
	}
	if b[i] == '0' {
		i++
	} else if i = skipDigits(b, i); i < 0 {
		return s.stop(-i)
	}
	if b[i] == '.' {
		if i = skipDigits(b, i+1); i < 0 {
			return s.stop(-i)
		}
	}
	if b[i] == 'e' || b[i] == 'E' {
		i++
		if b[i] == '+' || b[i] == '-' {
			i++
		}
		if i = skipDigits(b, i); i < 0 {
			return s.stop(-i)
		}
	}
	return i
}

// stop says what it means that there is no JSON at i.
func (s *scanner) stop(i int) int {
	if i >= s.n {
		return needMore
	}
	return doubtful
}
