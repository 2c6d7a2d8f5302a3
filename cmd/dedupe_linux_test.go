package cmd_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mounted puts a disk in memory over a directory, or tells that it cannot be done here.
func mounted(t *testing.T, dir string, size int) bool {
	t.Helper()
	if os.Getuid() != 0 || syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)) != nil {
		return false
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return true
}

// mountedReadOnly makes a directory read-only with all that is in it, or tells that it cannot be
// done here.
func mountedReadOnly(t *testing.T, dir string) bool {
	t.Helper()
	if os.Getuid() != 0 || syscall.Mount(dir, dir, "", syscall.MS_BIND, "") != nil {
		return false
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil
}

// playFullDisk fills the disk while the first post is answered.
func playFullDisk(t *testing.T, c dedupeCase, want dedupeWant) {
	s := c.open(t, true)
	state := filepath.Join(s.dir, "state")
	queue := s.read("state/queue.json")
	if !mounted(t, state, 1<<20) {
		t.Skip("a small disk cannot be mounted here")
	}
	s.run(0, "init")
	s.write("state/queue.json", queue)
	s.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			fill(t, state)
		}
		w.WriteHeader(http.StatusNoContent)
	}
	code, said := s.exit("process")
	require.NotZero(t, code, said)
	require.NoError(t, os.Remove(filepath.Join(state, "filler")))
	s.now = s.now.Add(time.Hour)
	s.exit("process")
	require.Equal(t, want.PostAttempts, s.attempts())
}

// fill takes all that is left of a disk.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
