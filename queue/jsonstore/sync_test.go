package jsonstore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASyncCoversAllThatWasWrittenBeforeIt(t *testing.T) {
	t.Parallel()
	s := opened(t)
	j := s.journal
	write := func() int64 {
		require.NoError(t, j.add(event{kind: aBook, name: "source/manga", value: []byte("1")}))
		j.hold()
		return j.end
	}
	first := write()
	second := write()
	require.NoError(t, j.finish(first))
	require.Equal(t, second, j.onDisk())
	third := write()
	require.NoError(t, j.finish(second))
	require.Equal(t, second, j.onDisk(), "what is on the disk is not synced again")
	require.NoError(t, j.finish(third))
	require.Equal(t, third, j.onDisk())
	require.NoError(t, s.Close())
}
