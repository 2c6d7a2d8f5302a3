package jsonstore_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// mustMount says that a test which cannot mount what it needs fails, rather than being
// skipped.
const mustMount = "BOT_TEST_MOUNTS"

// smallDisk mounts a disk of so many bytes in memory, or skips the test.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)); err != nil {
		if os.Getenv(mustMount) != "" {
			t.Fatal("a small disk cannot be mounted: ", err)
		}
		t.Skip("skipped: a small disk cannot be mounted here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func growDisk(dir string, size int) error {
	return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size))
}
