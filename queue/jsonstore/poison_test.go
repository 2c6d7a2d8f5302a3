package jsonstore

import (
	"context"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

func TestAWriteThatCannotBeUndoneEndsTheStore(t *testing.T) {
	t.Parallel()
	s := opened(t)
	first := entry("https://example.jp/1")
	_, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &first}})
	require.NoError(t, err)

	// A file that can be read and not written stands for a disk that has gone.
	readable, err := openState(s.files.journal)
	require.NoError(t, err)
	s.journal.file.Close()
	s.journal.file = readable
	_, err = s.Insert(t.Context(), []queue.Candidate{{Entry: new(entry("https://example.jp/2"))}})
	require.Error(t, err)
	_, err = s.Get(context.Background(), first.ID)
	require.ErrorContains(t, err, "cannot be trusted until it is opened again")
	require.ErrorContains(t, s.Close(), "cannot be trusted")

	s, err = Open(t.Context(), Options{Dir: s.dir})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), first.ID)
	require.NoError(t, err)
	_, err = s.Get(t.Context(), entry("https://example.jp/2").ID)
	require.ErrorIs(t, err, queue.ErrNotFound)
	require.NoError(t, s.Close())
}

func TestASyncThatFailsEndsTheStore(t *testing.T) {
	t.Parallel()
	s := opened(t)
	s.journal.durable = 0
	s.journal.file.Close()
	require.Error(t, s.noted(s.journal.sync()))
	_, err := s.Book(t.Context(), "a")
	require.ErrorContains(t, err, "cannot be trusted until it is opened again")
	require.Error(t, s.Close())
}

// opened is a store on a new ledger.
func opened(t *testing.T) *Store {
	t.Helper()
	dir := t.TempDir()
	_, err := Init(dir, jan(1))
	require.NoError(t, err)
	s, err := Open(t.Context(), Options{Dir: dir})
	require.NoError(t, err)
	return s
}

func jan(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }

func entry(url string) queue.Entry {
	key := dedupe.Key{Webhook: dedupe.Fingerprint("a"), URL: url}
	return queue.Entry{ID: key.ID(), Key: key, Status: queue.Queued, DueAt: jan(2), Article: queue.Article{URL: url}}
}
