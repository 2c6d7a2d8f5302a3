//go:build unix && !linux

package jsonstore

import (
	"os"
	"syscall"
)

// statBrief tells which file a path names, and its size.
func statBrief(path string) (identity, error) {
	id, err := statFull(path)
	id.mtime = 0
	return id, err
}

// statFull tells also when the file was last changed.
func statFull(path string) (identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}, err
	}
	return identify(info), nil
}

func statOpen(f *os.File) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	return identify(info), nil
}

func identify(info os.FileInfo) identity {
	id := identity{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.ino = st.Ino
	}
	return id
}
