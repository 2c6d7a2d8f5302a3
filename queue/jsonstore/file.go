package jsonstore

import (
	"io"
	"os"
	"path/filepath"
)

const (
	emptyArray  = "[]\n"
	emptyObject = "{}\n"
)

// replace puts a new file in the place of the one at path, for good: written
// beside it, synced, renamed, and the directory synced, without which a loss of
// power may undo the rename.
func replace(path string, write func(*os.File) error) error {
	if err := stage(path, write); err != nil {
		return err
	}
	if err := commitStaged(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func staged(path string) string { return path + ".tmp" }

// stage writes and syncs what commitStaged puts in the place of the file at path.
// After an error nothing is left of it.
func stage(path string, write func(*os.File) error) (err error) {
	// One that a crash left must not lend its mode.
	if err := os.Remove(staged(path)); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(staged(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(staged(path))
		}
	}()
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func commitStaged(path string) error { return os.Rename(staged(path), path) }

// unstage removes what stage wrote.
func unstage(path string) { os.Remove(staged(path)) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func writeBytes(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		n, err := f.Write(data)
		if err == nil && n != len(data) {
			err = io.ErrShortWrite
		}
		return err
	}
}
