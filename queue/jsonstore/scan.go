package jsonstore

import (
	"errors"
	"fmt"
	"io"

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
