package jsonstore

import (
	"errors"
	"fmt"
	"path/filepath"
)

// What callers test for with errors.Is, beside the errors of package queue.
var (
	// ErrMoved: the ledger has been moved to a shared store, and what is left here
	// must not be used any more.
	ErrMoved = errors.New("the ledger has moved")
	// ErrReadOnly: the store was opened with OpenReadOnly.
	ErrReadOnly = errors.New("the ledger was opened for reading only")
)

var errClosed = errors.New("the ledger is closed")

// FileError is a state file that cannot be used as it is. Nothing was changed
// because of it.
type FileError struct {
	// Path is the file.
	Path string
	// Offset is the byte at which it goes wrong. Negative: the file as a whole.
	Offset int64
	// Err says what is wrong and, where a person has to mend it, what to do.
	Err error
}

// Error names the file, the byte and what is wrong.
func (e *FileError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("state file %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("state file %s, byte %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

func fileErrorf(path string, offset int64, format string, args ...any) *FileError {
	return &FileError{Path: path, Offset: offset, Err: fmt.Errorf(format, args...)}
}

// missing is the error for a file of the ledger that is not there any more.
func missing(path string) *FileError {
	return fileErrorf(path, -1, "it is missing, and a lost file is not an empty one: put %s back (from a backup, if need be)",
		filepath.Base(path))
}
