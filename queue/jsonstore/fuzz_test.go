package jsonstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// FuzzOpen lets a ledger be opened whose files hold anything. It is read and goes on
// being readable, or is refused with nothing changed but a torn end.
func FuzzOpen(f *testing.F) {
	first, second := twoDays(f)
	for _, files := range []map[string]string{first, second} {
		f.Add(files["posted.json"], files["queue.json"], files["bookkeeping.json"], files["journal.jsonl"], files["ledger.json"])
	}
	f.Add(olderPosted, olderQueue, "{}", "", "")
	f.Fuzz(func(t *testing.T, posted, queued, books, journal, ledger string) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"posted.json": posted, "queue.json": queued, "bookkeeping.json": books, "journal.jsonl": journal, "ledger.json": ledger,
		} {
			if text != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
		}
		files := contents(t, dir)
		refused := openReadOnlyErr(dir)
		require.Equal(t, files, contents(t, dir))
		s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: dir, Now: now, LockTimeout: time.Second})
		if err != nil {
			require.Error(t, refused)
			for _, name := range []string{"posted.json", "queue.json", "bookkeeping.json", "ledger.json"} {
				require.Equal(t, files[name], contents(t, dir)[name])
			}
			return
		}
		e := storetest.Entry("z", 99)
		_, err = s.Insert(t.Context(), []queue.Candidate{{Entry: &e}})
		require.Equal(t, refused == nil, err == nil, "%v, and to write: %v", refused, err)
		require.NoError(t, s.Close())
		if err != nil {
			return
		}
		s, err = jsonstore.Open(t.Context(), jsonstore.Options{Dir: dir, Now: now})
		require.NoError(t, err)
		_, err = s.Get(t.Context(), e.ID)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	})
}
