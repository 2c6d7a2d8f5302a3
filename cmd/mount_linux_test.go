package cmd_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mustMount says that a test which cannot mount what it needs fails, rather than being
// skipped.
const mustMount = "BOT_TEST_MOUNTS"

// mounted mounts something over a directory, or tells that it cannot be done here.
func mounted(t *testing.T, what, dir string, flags uintptr, options string) bool {
	t.Helper()
	if err := syscall.Mount(what, dir, what, flags, options); err != nil {
		if os.Getenv(mustMount) != "" {
			t.Fatal("it cannot be mounted: ", err)
		}
		return false
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return true
}

// mountedSmall puts a disk of so many bytes in memory over a directory, or tells that it
// cannot be done here.
func mountedSmall(t *testing.T, dir string, size int) bool {
	t.Helper()
	return mounted(t, "tmpfs", dir, 0, fmt.Sprintf("size=%d,mode=700", size))
}

// mountedReadOnly makes a directory read-only with all that is in it, or tells that it
// cannot be done here.
func mountedReadOnly(t *testing.T, dir string) bool {
	t.Helper()
	if !mounted(t, dir, dir, syscall.MS_BIND, "") {
		return false
	}
	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	return true
}
