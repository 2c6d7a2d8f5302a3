package jsonstore_test

import (
	"testing"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

func TestAFullDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 1<<20)
	_, err := jsonstore.Init(dir, now())
	require.NoError(t, err)
	s := open(t, dir)
	var acked []queue.Entry
	for n := 0; ; n++ {
		e := storetest.Entry("a", n)
		if n%2 == 0 {
			e = done(n)
		}
		if _, err = s.Insert(t.Context(), []queue.Candidate{{Entry: &e}}); err != nil {
			break
		}
		acked = append(acked, e)
	}
	require.ErrorContains(t, err, "no space left")
	require.Greater(t, len(acked), 100)
	check := func(s queue.Store) {
		t.Helper()
		require.ElementsMatch(t, acked, all(t, s))
	}
	check(s)
	_, err = s.Update(t.Context(), storetest.Entry("a", 1).ID, claimNow)
	require.ErrorContains(t, err, "no space left", "it is found out before anything is sent")
	require.ErrorContains(t, s.Close(), "no space left", "the fold does not fit either")
	check(open(t, dir))
	for name := range contents(t, dir) {
		require.NotContains(t, name, ".tmp")
	}

	// With space again everything is folded.
	require.NoError(t, growDisk(dir, 8<<20))
	s = open(t, dir)
	check(s)
	require.NoError(t, s.Close())
	check(open(t, dir))
}
