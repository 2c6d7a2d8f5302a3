package jsonstore_test

import (
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		dir := t.TempDir()
		_, err := jsonstore.Init(dir, storetest.Now())
		require.NoError(t, err)
		return func(t *testing.T) queue.Store { return open(t, dir) }
	})
}

func now() time.Time { return storetest.Now() }

func open(t testing.TB, dir string) *jsonstore.Store {
	t.Helper()
	s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: dir, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
