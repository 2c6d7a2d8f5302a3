package firestore_test

import (
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

// guided returns the nth article's entry with a guid.
func guided(n int, guid string) queue.Entry {
	e := storetest.Entry("a", n)
	e.Article.GUID = guid
	return e
}

func byGUID(e queue.Entry) []queue.Candidate {
	return []queue.Candidate{{Entry: &e, Origins: []dedupe.Origin{e.Origin()}}}
}

func TestWhatIsCopiedIsKnownByItsGUID(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o)
	s := open(t, o)
	first, second := guided(1, "1"), guided(2, "2")
	renamed := func(guid string) queue.Known {
		known, err := s.Lookup(t.Context(), byGUID(guided(9, guid)))
		require.NoError(t, err)
		return known[0]
	}
	for range 2 {
		_, err := s.Copy(t.Context(), []queue.Entry{first, storetest.Entry("a", 3)})
		require.NoError(t, err)
		require.Equal(t, queue.KnownAs(first, true), renamed("1"))
	}
	// One that was there already, and is another now.
	_, err := s.Copy(t.Context(), []queue.Entry{guided(2, "")})
	require.NoError(t, err)
	different, err := s.Differences(t.Context(), []queue.Entry{second})
	require.NoError(t, err)
	require.Len(t, different, 2)
	require.Contains(t, different[1], "it is not known by its guid in Firestore")
	_, err = s.Copy(t.Context(), []queue.Entry{first, second})
	require.NoError(t, err)
	require.Equal(t, queue.KnownAs(second, true), renamed("2"))
	different, err = s.Differences(t.Context(), []queue.Entry{first, second})
	require.NoError(t, err)
	require.Empty(t, different)
}

func TestALostAnswerToAnInsertWithAGUIDIsFoundToHaveBeenAWrite(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.Internal, codes.DeadlineExceeded, codes.Aborted} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			s, f, _ := faulty(t)
			first, second := guided(1, "g"), guided(2, "g")
			second.Article.Published = first.Article.Published.Add(31 * 24 * time.Hour)
			for _, e := range []queue.Entry{first, second} {
				f.next(1, lostAnswer(code))
				known, err := s.Insert(t.Context(), byGUID(e))
				require.NoError(t, err)
				require.True(t, known[0].New())
			}
			f.next(1, lostRequest)
			known, err := s.Insert(t.Context(), byGUID(guided(3, "another")))
			require.NoError(t, err)
			require.True(t, known[0].New())
			for _, guid := range []string{"g", "another"} {
				known, err = s.Insert(t.Context(), byGUID(guided(9, guid)))
				require.NoError(t, err)
				require.NotEmpty(t, known[0].RenamedFrom)
			}
		})
	}
}
