package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
)

// span is where a record stands in its file: from its first byte to behind its
// last.
type span struct{ start, end int64 }

// eachValue reads a JSON array strictly from r and hands each of its values to
// visit, which must not keep it. Its errors, and visit's, carry the byte offset as
// *FileError for the file at path.
func eachValue(r io.Reader, path string, visit func(jsontext.Value, span) error) error {
	d := jsontext.NewDecoder(r)
	if err := begin(d, path, '['); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return syntaxError(d, path, err)
		}
		end := d.InputOffset()
		at := span{end - int64(len(value)), end}
		if err := visit(value, at); err != nil {
			return &FileError{Path: path, Offset: at.start, Err: err}
		}
	}
	return finish(d, path)
}

// eachMember reads a JSON object strictly from r and hands each of its members to
// visit.
func eachMember(r io.Reader, path string, visit func(name string, value jsontext.Value)) error {
	d := jsontext.NewDecoder(r)
	if err := begin(d, path, '{'); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return syntaxError(d, path, err)
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return syntaxError(d, path, err)
		}
		visit(text, value)
	}
	return finish(d, path)
}

func begin(d *jsontext.Decoder, path string, want jsontext.Kind) error {
	token, err := d.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return fileErrorf(path, 0, "it is empty, and a ledger with nothing in it would be %s; put the file back from a backup",
			map[jsontext.Kind]string{'[': "[]", '{': "{}"}[want])
	case err != nil:
		return syntaxError(d, path, err)
	case token.Kind() != want:
		return fileErrorf(path, 0, "this is no file of a ledger: it should begin with %c", want)
	}
	return nil
}

func finish(d *jsontext.Decoder, path string) error {
	if _, err := d.ReadToken(); err != nil {
		return syntaxError(d, path, err)
	}
	if _, err := d.ReadToken(); err == nil {
		return fileErrorf(path, d.InputOffset(), "there is more behind its end")
	} else if !errors.Is(err, io.EOF) {
		return syntaxError(d, path, err)
	}
	return nil
}

// syntaxError tells where the file goes wrong.
func syntaxError(d *jsontext.Decoder, path string, err error) error {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(s.Err, io.ErrUnexpectedEOF) {
			return fileErrorf(path, s.ByteOffset, "it ends in the middle; put the file back from a backup")
		}
		return fileErrorf(path, s.ByteOffset, "not valid JSON: %w; nothing was changed", s.Err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fileErrorf(path, d.InputOffset(), "it ends in the middle; put the file back from a backup")
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// findRecords looks through the array of records in src, of which nothing is left
// unread, for those that m wants. They come in the order in which they stand.
func findRecords(ctx context.Context, src io.ReaderAt, size int64, path string, m *matcher) ([]found, error) {
	all, err := findFast(ctx, src, size, m)
	if !errors.Is(err, errDoubt) {
		return all, err
	}
	f := finder{matcher: m}
	err = eachValue(&contextReader{ctx, io.NewSectionReader(src, 0, size)}, path, func(raw jsontext.Value, at span) error {
		e, err := queue.ParseRecord(raw, queue.InPosted)
		if err == nil {
			f.note(e, raw, at)
		}
		return err
	})
	return f.found, err
}

// eachRecord hands each entry of the array of records in src to visit, in the
// order in which they stand.
func eachRecord(ctx context.Context, src io.ReaderAt, size int64, path string, visit func(queue.Entry) error) error {
	var visited int
	var verr error
	err := newScanner(ctx, src, 0, size, windowSize).run(size, func(r *record) error {
		e, err := queue.ParseRecord(jsontext.Value(r.raw), queue.InPosted)
		if err != nil {
			return errDoubt
		}
		visited++
		verr = visit(e)
		return verr
	})
	if verr != nil || !errors.Is(err, errDoubt) {
		return err
	}
	// jsontext goes over it again, and on from there.
	again := 0
	return eachValue(&contextReader{ctx, io.NewSectionReader(src, 0, size)}, path, func(raw jsontext.Value, _ span) error {
		if again++; again <= visited {
			return nil
		}
		e, err := queue.ParseRecord(raw, queue.InPosted)
		if err != nil {
			return err
		}
		return visit(e)
	})
}

// splitSize is from which size a file is read by several processors at once.
const splitSize = 8 << 20

// findFast is findRecords, unless it returns errDoubt.
func findFast(ctx context.Context, src io.ReaderAt, size int64, m *matcher) ([]found, error) {
	cuts := []int64{0}
	if parts := min(runtime.GOMAXPROCS(0), 8); size >= splitSize {
		for n := 1; n < parts; n++ {
			if cut := guessCut(src, size/int64(parts)*int64(n)); cut > cuts[len(cuts)-1] {
				cuts = append(cuts, cut)
			}
		}
	}
	finders := make([]finder, len(cuts))
	errs := make([]error, len(cuts))
	var all sync.WaitGroup
	for n, from := range cuts {
		stop := size
		if n+1 < len(cuts) {
			stop = cuts[n+1]
		}
		finders[n].matcher = m
		all.Go(func() { errs[n] = newScanner(ctx, src, from, size, windowSize).run(stop, finders[n].visit) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		if len(cuts) > 1 && errors.Is(err, errDoubt) {
			f := finder{matcher: m}
			err = newScanner(ctx, src, 0, size, windowSize).run(size, f.visit)
			return f.found, err
		}
		return nil, err
	}
	var in []found
	for _, f := range finders {
		in = append(in, f.found...)
	}
	return in, nil
}

// guessCut returns an offset, from near on, that is likely to be behind the comma
// of an array's record, or zero. Whether it is, the reader of what stands before
// finds out: since no string holds a bare newline, and a file that is cut in a
// wrong place does not read as an array up to there.
func guessCut(src io.ReaderAt, near int64) int64 {
	buf := make([]byte, 64<<10)
	n, err := src.ReadAt(buf, near)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	for from := 0; ; {
		i := bytes.Index(buf[from:n], []byte(",\n"))
		if i < 0 {
			return 0
		}
		from += i
		if from > 0 && buf[from-1] == '}' {
			// A record, and not the end of an object in one, if the next begins likewise.
			if rest := bytes.TrimLeft(buf[from+2:n], " \t"); len(rest) > 0 && rest[0] == '{' {
				return near + int64(from) + 1
			}
		}
		from += 2
	}
}
