//go:build unix && !linux

package jsonstore

import "os"

// reserve does nothing: appends make the file grow.
func reserve(*os.File, int64, int64) (bool, error) { return false, nil }

// seekData returns the first offset from at on at which the file may hold anything
// but zeros.
func seekData(_ *os.File, at int64) (int64, error) { return at, nil }

// syncData makes the file's bytes durable.
func syncData(f *os.File) error { return f.Sync() }

// remoteKind names the file system under dir if it is another machine's. It is
// told apart on Linux only.
func remoteKind(string) string { return "" }
