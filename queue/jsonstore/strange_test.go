//go:build unix

package jsonstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	kinds := map[string]func(path string) error{
		"a pipe":                          func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a folder":                        func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to a device without end":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to itself":                func(path string) error { return os.Symlink(path, path) },
		"a link to a file that is absent": func(path string) error { return os.Symlink(outside, path) },
	}
	for name, put := range kinds {
		for _, file := range []string{"posted.json", "queue.json", "bookkeeping.json", "journal.jsonl", "ledger.json"} {
			t.Run(file+" is "+name, func(t *testing.T) {
				t.Parallel()
				_, second := twoDays(t)
				dir := copied(t, second)
				require.NoError(t, os.Remove(filepath.Join(dir, file)))
				require.NoError(t, put(filepath.Join(dir, file)))
				done := make(chan [3]error, 1)
				go func() {
					_, err := jsonstore.Init(dir, now())
					done <- [3]error{openReadOnlyErr(dir), openErr(dir), err}
				}()
				select {
				case errs := <-done:
					for _, err := range errs {
						require.Error(t, err)
						// A link is followed, and then what it leads to is named.
						require.Regexp(t, file+"|/dev/zero", err.Error())
					}
				case <-time.After(20 * time.Second):
					t.Fatal("it waits for ever")
				}
				require.NoFileExists(t, outside)
			})
		}
	}
}
