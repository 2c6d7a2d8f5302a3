package cmd_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// playFullDisk fills the disk while the first post is answered.
func playFullDisk(t *testing.T, c dedupeCase, want dedupeWant) {
	s := c.open(t, true)
	state := filepath.Join(s.dir, "state")
	queue := s.read("state/queue.json")
	if !mountedSmall(t, state, 1<<20) {
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
