package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// limited is a run of the program that may not make a file longer than so many blocks
// of 512 bytes, as on a disk without room.
func (f *fleet) limited(blocks int, args ...string) *exec.Cmd {
	c := f.command(0, args...)
	c.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, blocks), c.Path}, args...)
	c.Path = "/bin/sh"
	return c
}

func TestWhereNothingMoreCanBeWrittenNothingIsSentTwiceOrLost(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newFleet(t, r.URL, 3)
	acknowledged := f.queued(addresses(0, 40))
	require.Len(t, acknowledged, 120)
	// The queue takes more than that, and the journal not much less.
	for _, blocks := range []int{0, 1, 2, 4, 8, 16, 24, 32, 48} {
		require.Equal(t, 1, exitCode(t, f.limited(blocks, "process", "-q").Run()), "%d blocks", blocks)
		require.Len(t, f.ledger(), 120)
		require.Equal(t, 1, exitCode(t, f.limited(1, "enqueue", "--url", fmt.Sprintf("https://manga.example/no-room-%d", blocks)).Run()))
		if blocks == 0 {
			require.Empty(t, r.received(), "it is found out before anything is sent")
		}
	}
	require.NotEmpty(t, r.received())
	require.Less(t, len(r.received()), 120)
	f.drain()
	found := audit(f.ledger(), r.received())
	require.Empty(t, found.wrong)
	require.Zero(t, found.twice)
	for _, id := range acknowledged {
		require.Contains(t, f.ledger(), id)
	}
}

func TestInADirectoryThatCannotBeWrittenNothingIsSent(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newFleet(t, r.URL, 1)
	f.enqueue(5)
	state := filepath.Join(f.dir, "state")
	writable := readOnly(t, state)
	for _, args := range [][]string{{"process"}, {"enqueue", "--url", "https://manga.example/new"}, {"pause"}, {"run"}} {
		require.Contains(t, f.fails(1, args...), "state")
	}
	require.Contains(t, f.must("", "status"), "queued=5")
	require.Len(t, f.ledger(), 5)
	require.Empty(t, r.received())
	writable()
	f.must("", "process")
	requireEachSentOnce(t, 5, f.ledger(), r.received())
}

// readOnly takes the right to write in a directory away, and returns what gives it
// back. Where root runs the tests, who may write everywhere, it takes a mount.
func readOnly(t *testing.T, dir string) (writable func()) {
	t.Helper()
	if os.Getuid() != 0 {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		modes := func(file, folder os.FileMode) {
			for _, e := range entries {
				require.NoError(t, os.Chmod(filepath.Join(dir, e.Name()), file))
			}
			require.NoError(t, os.Chmod(dir, folder))
		}
		modes(0o400, 0o500)
		t.Cleanup(func() { modes(0o600, 0o700) })
		return func() { modes(0o600, 0o700) }
	}
	if !mountedReadOnly(t, dir) {
		t.Skip("skipped: a directory cannot be mounted here")
	}
	return func() { require.NoError(t, syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT, "")) }
}
