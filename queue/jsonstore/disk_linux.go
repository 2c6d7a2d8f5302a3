package jsonstore

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes the file size bytes long, with the space for it taken on the
// disk, and reports whether the file system can do that. Appends into reserved
// space change no file size, which on a journaling file system halves the cost of
// making them durable; and a full disk shows here, before anything is sent.
func reserve(f *os.File, from, size int64) (bool, error) {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, from, size-from)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return false, nil
		default:
			return true, &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}

// seekData returns the first offset from at on at which the file may hold anything
// but zeros. None: one that no file has.
func seekData(f *os.File, at int64) (int64, error) {
	for {
		data, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		switch {
		case err == nil:
			return data, nil
		case errors.Is(err, unix.ENXIO):
			return math.MaxInt64, nil
		case errors.Is(err, unix.EINVAL):
			return at, nil // a file system that cannot tell
		case !errors.Is(err, unix.EINTR):
			return 0, &os.PathError{Op: "seek", Path: f.Name(), Err: err}
		}
	}
}

// syncData makes the file's bytes durable.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

// remoteKind names the file system under dir if it is, or may be, another
// machine's disk, on which locks and syncs may not keep their promises. Else it
// returns "". The numbers are those of linux/magic.h and the kernel's fs/smb.
func remoteKind(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	switch uint32(st.Type) {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xfe534d42, 0xff534d42:
		return "SMB"
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9P"
	case 0x5346414f:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	default:
		return ""
	}
}
