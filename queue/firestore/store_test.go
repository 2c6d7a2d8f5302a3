package firestore_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/firestoretest"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// options are those of a ledger of the test's own, on the emulator.
func options(t testing.TB) firestore.Options {
	t.Helper()
	return firestore.Options{
		Project: firestoretest.Project(), Emulator: firestoretest.Host(t), Now: time.Now, Token: rand.Text,
		// The emulator may be busy with the other tests.
		Patience: firestore.Patience{Call: 20 * time.Second, Claim: 60 * time.Second, Write: 60 * time.Second},
	}
}

// opened opens the ledger for use.
func opened(t testing.TB, o firestore.Options) {
	t.Helper()
	s, err := firestore.Connect(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, s.OpenFleet(t.Context()))
	require.NoError(t, s.Close())
}

func open(t testing.TB, o firestore.Options) *firestore.Store {
	t.Helper()
	s, err := firestore.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func insert(t testing.TB, s queue.Store, entries ...queue.Entry) {
	t.Helper()
	var list []queue.Candidate
	for _, e := range entries {
		list = append(list, queue.Candidate{Entry: &e})
	}
	known, err := s.Insert(t.Context(), list)
	require.NoError(t, err)
	for _, k := range known {
		require.True(t, k.New())
	}
}

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		o := options(t)
		opened(t, o)
		return func(t *testing.T) queue.Store { return open(t, o) }
	})
}

func TestStoreKeepsTheContractWithACache(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		o := options(t)
		opened(t, o)
		o.Cache = filepath.Join(t.TempDir(), "cache")
		return func(t *testing.T) queue.Store { return open(t, o) }
	})
}
