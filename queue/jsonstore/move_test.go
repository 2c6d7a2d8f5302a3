package jsonstore_test

import (
	"context"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

func TestALedgerThatMoves(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	_, err := jsonstore.Init(dir, time.Now())
	require.NoError(t, err)
	o := jsonstore.Options{Dir: dir, Now: time.Now}
	other, err := jsonstore.Open(ctx, o)
	require.NoError(t, err)
	e := storetest.Entry("a", 1)
	_, err = other.Insert(ctx, []queue.Candidate{{Entry: &e}})
	require.NoError(t, err)

	o.MovingTo = "there"
	s, err := jsonstore.Open(ctx, o)
	require.NoError(t, err)
	require.NoError(t, s.Freeze(ctx, "there"))
	_, err = other.Insert(ctx, []queue.Candidate{{Entry: new(storetest.Entry("a", 2))}})
	require.ErrorIs(t, err, jsonstore.ErrMoved, "a process that has it open is refused")
	got, err := s.Get(ctx, e.ID)
	require.NoError(t, err, "whoever moves it may look at it")
	require.Equal(t, e, got)
	_, err = jsonstore.Open(ctx, jsonstore.Options{Dir: dir, Now: time.Now, MovingTo: "elsewhere"})
	require.ErrorIs(t, err, jsonstore.ErrMoved)

	require.NoError(t, s.Thaw(ctx))
	_, err = other.Insert(ctx, []queue.Candidate{{Entry: new(storetest.Entry("a", 2))}})
	require.NoError(t, err)

	require.NoError(t, s.Leave(ctx, "there"))
	_, err = jsonstore.Open(ctx, o)
	require.ErrorIs(t, err, jsonstore.ErrMoved)
	_, err = other.Get(ctx, e.ID)
	require.ErrorIs(t, err, jsonstore.ErrMoved)
	_, err = jsonstore.OpenReadOnly(context.Background(), dir)
	require.ErrorIs(t, err, jsonstore.ErrMoved)
	moved, moving, err := jsonstore.Place(dir)
	require.NoError(t, err)
	require.Equal(t, "there", moved)
	require.Empty(t, moving)
}
