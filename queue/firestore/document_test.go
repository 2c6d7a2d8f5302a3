package firestore_test

import (
	"testing"
	"time"

	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/storetest"

	raw "cloud.google.com/go/firestore"
	"github.com/stretchr/testify/require"
)

func TestOptionsThatLeadAstrayAreRefused(t *testing.T) {
	t.Parallel()
	o := firestore.Options{Project: "my-project", Emulator: "127.0.0.1:1"}
	require.ErrorContains(t, o.Check(), "FIRESTORE_EMULATOR_HOST is set and would turn project my-project aside")
	require.ErrorContains(t, firestore.Options{}.Check(), "no project is named; set state.project")
	require.NoError(t, firestore.Options{Project: "my-project"}.Check())
	require.NoError(t, firestore.Options{Project: "demo-x", Emulator: "127.0.0.1:1"}.Check())
}

func TestALedgerThatWasNotOpenedIsNone(t *testing.T) {
	t.Parallel()
	_, err := firestore.Open(t.Context(), options(t))
	require.ErrorIs(t, err, queue.ErrNoLedger)
	require.ErrorContains(t, err, "run `bot migrate firestore` once")
}

func TestFleetsInOneDatabaseDoNotMeet(t *testing.T) {
	t.Parallel()
	a, e := options(t), storetest.Entry("a", 1)
	b := a
	b.Fleet = "other"
	opened(t, a)
	opened(t, b)
	insert(t, open(t, a), e)
	insert(t, open(t, b), e)
}

func TestADocumentWithAnotherKeyIsAnError(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o)
	s, e := open(t, o), storetest.Entry("a", 1)
	insert(t, s, e)
	s.Tamper(t, e.ID, []raw.Update{{Path: "key", Value: "another"}})
	_, err := s.Lookup(t.Context(), []queue.Candidate{{Entry: &e}})
	require.ErrorContains(t, err, "the document holds another key")
	_, err = claim(t.Context(), s, e.ID, "worker")
	require.ErrorContains(t, err, "the document holds another key")
}

func TestClocks(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o)
	for want, off := range map[string]time.Duration{"ahead of": 3 * time.Hour, "behind": -3 * time.Hour, "": time.Second} {
		o.Now = func() time.Time { return time.Now().Add(off) }
		s := open(t, o)
		if want == "" {
			require.Empty(t, s.Warnings())
			continue
		}
		require.Len(t, s.Warnings(), 1)
		require.Contains(t, s.Warnings()[0], "this machine's clock is "+want+" the server's by ")
		require.InDelta(t, off.Seconds(), s.Skew().Seconds(), 30)
	}
}

func TestProbeLeavesNothing(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := firestore.Connect(t.Context(), o)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Probe(t.Context()))
	require.Zero(t, s.Scratch(t))
}
