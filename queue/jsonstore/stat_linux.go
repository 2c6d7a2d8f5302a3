package jsonstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// statBrief tells which file a path names, and its size, and asks for nothing
// else: since Linux 6.13 whoever asks for a file's time makes the next write to it
// take a new one, and the fdatasync after it slower.
func statBrief(path string) (identity, error) {
	return statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_SIZE)
}

// statFull tells also when the file was last changed.
func statFull(path string) (identity, error) {
	return statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_SIZE|unix.STATX_MTIME)
}

func statOpen(f *os.File) (identity, error) {
	return statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_SIZE|unix.STATX_MTIME)
}

func statx(dir int, path string, flags, mask int) (identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(dir, path, flags, mask, &st); err != nil {
		return identity{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	id := identity{ino: st.Ino, size: int64(st.Size)}
	if mask&unix.STATX_MTIME != 0 {
		id.mtime = st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec)
	}
	return id, nil
}
