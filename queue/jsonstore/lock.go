package jsonstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"bot/queue"

	"golang.org/x/sys/unix"
)

// lock is the one lock of a ledger: flock(2) on a file that is never written,
// renamed or removed (removing it would let two processes hold it). The kernel
// lets go of it when its process dies, however it dies.
//
// It is held for short steps only: reading what others appended, one append, one
// fold. Nothing is ever sent under it.
type lock struct {
	path    string
	timeout time.Duration
	file    *os.File
}

// openLock opens the lock file. With create it is made if it is not there.
func openLock(path string, create bool, timeout time.Duration) (*lock, error) {
	flags := os.O_RDONLY
	if create {
		flags = os.O_RDWR | os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, fileMode)
	if err != nil {
		return nil, err
	}
	return &lock{path: path, timeout: timeout, file: f}, nil
}

// acquire takes the lock, how being unix.LOCK_EX or unix.LOCK_SH. It waits until
// ctx ends or the lock's timeout is over, then it returns queue.ErrLocked. It is
// not for concurrent use.
func (l *lock) acquire(ctx context.Context, how int) error {
	err := flock(l.file, how|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	// The wait is left to a descriptor of its own, so that a wait which is given up
	// can run its course without ever touching a lock that is held by then.
	f, err := os.OpenFile(l.path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	granted := make(chan error)
	givenUp := make(chan struct{})
	go func() {
		err := flock(f, how)
		select {
		case granted <- err:
		case <-givenUp:
			f.Close()
		}
	}()
	patience := time.NewTimer(l.timeout)
	defer patience.Stop()
	select {
	case err := <-granted:
		if err != nil {
			f.Close()
			return err
		}
		l.file.Close()
		l.file = f
		return nil
	case <-ctx.Done():
		close(givenUp)
		return ctx.Err()
	case <-patience.C:
		close(givenUp)
		return fmt.Errorf("lock %s: %w (waited %s)", l.path, queue.ErrLocked, l.timeout)
	}
}

func (l *lock) release() error { return flock(l.file, unix.LOCK_UN) }

func (l *lock) close() error { return l.file.Close() }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err == nil || errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
