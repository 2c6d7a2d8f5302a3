package jsonstore_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

func skipped(n int) queue.Entry {
	e := storetest.Entry("a", n)
	e.Status, e.Reason, e.DueAt = queue.Skipped, "old", time.Time{}
	return e
}

// beforeAndAfterAFold returns the files of a ledger in which everything happened
// that a fold has to do with, and those that the fold made of them.
func beforeAndAfterAFold(t *testing.T) (before, after map[string]string, st ledgerState) {
	t.Helper()
	dir := copied(t, ledgerWith(t, done(1), skipped(2), done(3), storetest.Entry("a", 4), storetest.Entry("a", 5), storetest.Entry("a", 6)))
	s := open(t, dir)
	update := func(n int, change func(queue.Entry) (queue.Entry, error)) {
		t.Helper()
		_, err := s.Update(t.Context(), storetest.Entry("a", n).ID, change)
		require.NoError(t, err)
	}
	update(2, func(e queue.Entry) (queue.Entry, error) { return queue.Retry(e, now()) })
	update(2, claimNow)
	update(2, settleNow)
	update(4, claimNow)
	update(4, settleNow)
	update(5, claimNow)
	require.NoError(t, s.Delete(t.Context(), done(1).ID))
	require.NoError(t, s.Delete(t.Context(), storetest.Entry("a", 6).ID))
	insert(t, s, done(7), storetest.Entry("a", 8))
	require.NoError(t, s.Delete(t.Context(), done(3).ID))
	insert(t, s, storetest.Entry("a", 3)) // announced again
	require.NoError(t, s.UpdateBook(t.Context(), "source/a", func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[1]`), nil }))
	st, before = stateOf(t, s), contents(t, dir)
	require.NoError(t, s.Close())
	return before, contents(t, dir), st
}

func TestAFoldMakesTheFilesComplete(t *testing.T) {
	t.Parallel()
	_, after, st := beforeAndAfterAFold(t)
	delete(after, "journal.jsonl")
	states := map[queue.Status]int{}
	for _, e := range st.entries {
		states[e.Status]++
	}
	require.Equal(t, map[queue.Status]int{queue.Posted: 3, queue.Sending: 1, queue.Queued: 2}, states)
	require.Equal(t, 3, strings.Count(after["posted.json"], `"status":"posted"`))
	require.Equal(t, 3, strings.Count(after["posted.json"], "\n{"))
	require.Equal(t, 3, strings.Count(after["queue.json"], "\n{"))
	require.Equal(t, "{\n\"source/a\":[1]\n}\n", after["bookkeeping.json"])
	// Without ledger and journal, as a directory to be taken over, it says the same.
	delete(after, "ledger.json")
	require.Equal(t, st, stateOf(t, open(t, copied(t, after))))
}

func TestACrashBetweenAnyTwoStepsOfAFoldLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	before, after, st := beforeAndAfterAFold(t)
	replaced := []string{"posted.json", "queue.json", "bookkeeping.json"}
	for set := range 1 << len(replaced) {
		for _, leftover := range []bool{false, true} {
			files := maps.Clone(before)
			for i, name := range replaced {
				if set&(1<<i) != 0 {
					files[name] = after[name]
				} else if leftover {
					files[name+".tmp"] = after[name][:len(after[name])/2]
				}
			}
			if leftover {
				files["journal.jsonl.tmp"] = "{"
			}
			dir := copied(t, files)
			reader, err := jsonstore.OpenReadOnly(t.Context(), dir)
			require.NoError(t, err)
			require.Equal(t, st, stateOf(t, reader))
			require.NoError(t, reader.Close())

			s := open(t, dir)
			require.Equal(t, st, stateOf(t, s))
			for _, e := range st.entries {
				known, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &e}})
				require.NoError(t, err)
				require.Equal(t, e.ID, known[0].ID)
			}
			require.NoError(t, s.Close())
			got := contents(t, dir)
			require.Equal(t, st, stateOf(t, open(t, dir)))
			for id, e := range st.entries {
				inPosted, inQueue := strings.Count(got["posted.json"], id), strings.Count(got["queue.json"], `"id":"`+id)
				require.Equal(t, 1, inPosted+inQueue, "%s %s", id, e.Status)
				require.Equal(t, e.Status.Final(), inPosted == 1)
			}
			require.Equal(t, after["queue.json"], got["queue.json"])
		}
	}
}

func TestAFoldThatCannotWriteLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"posted.json", "queue.json", "bookkeeping.json", "journal.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, ledgerWith(t, done(1)))
			s := open(t, dir)
			insert(t, s, done(2), storetest.Entry("a", 3))
			require.NoError(t, s.UpdateBook(t.Context(), "a", func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage("1"), nil }))
			want := stateOf(t, s)
			// A directory that is not empty is in the way of the temporary file.
			way := filepath.Join(dir, name+".tmp", "x")
			require.NoError(t, os.MkdirAll(way, 0o700))
			require.Error(t, s.Fold(t.Context()))
			require.Equal(t, want, stateOf(t, s), "the store can still be used")
			require.Error(t, s.Close())
			require.NoError(t, os.RemoveAll(filepath.Dir(way)))
			for file := range contents(t, dir) {
				require.NotContains(t, file, ".tmp")
			}
			require.Equal(t, want, stateOf(t, open(t, dir)))
		})
	}
}

func TestCloseWithoutAChangeTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, done(1), storetest.Entry("a", 2)))
	require.NoError(t, open(t, dir).Close()) // the copies are looked over once
	before := times(t, dir)
	s := open(t, dir)
	require.Len(t, all(t, s), 2)
	_, err := s.Update(t.Context(), done(1).ID, claimNow)
	require.ErrorIs(t, err, queue.ErrNotDue)
	require.NoError(t, s.Close())
	require.Equal(t, before, times(t, dir))
}

func times(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for name := range contents(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		all[name] = info.ModTime()
	}
	return all
}

func TestAStoreGoesOnAfterAFold(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t))
	s, other := open(t, dir), open(t, dir)
	for n := range 5 {
		insert(t, s, done(2*n), storetest.Entry("a", 2*n+1))
		require.NoError(t, s.Fold(t.Context()))
		require.Len(t, all(t, other), 2*n+2)
		_, err := other.Update(t.Context(), storetest.Entry("a", 2*n+1).ID, claimNow)
		require.NoError(t, err)
	}
	require.Equal(t, stateOf(t, s), stateOf(t, other))
	require.Equal(t, 5, strings.Count(contents(t, dir)["posted.json"], "\n{"))
}

// large returns a posted.json of more than 4 MiB.
func large() string {
	var b strings.Builder
	b.WriteString("[\n")
	for n := 0; b.Len() < 5<<20; n++ {
		key := dedupe.Key{Webhook: dedupe.Fingerprint("old"), URL: fmt.Sprintf("https://example.jp/old/%d", n)}
		fmt.Fprintf(&b, "{\"id\":%q,\"webhook\":%q,\"url\":%q,\"title\":%q},\n", key.ID(), key.Webhook, key.URL, strings.Repeat("題名", 50))
	}
	b.WriteString("\"https://example.jp/last\"\n]\n")
	return b.String()
}

func TestALargePostedFileIsFoldedLater(t *testing.T) {
	t.Parallel()
	posted := large()
	dir := copied(t, map[string]string{"posted.json": posted})
	s := open(t, dir)
	insert(t, s, done(1), storetest.Entry("a", 2))
	require.NoError(t, s.Close())

	got := contents(t, dir)
	require.True(t, got["posted.json"] == posted, "it is left for later")
	require.Equal(t, 1, strings.Count(got["queue.json"], "\n{"), "the queue is complete")
	require.NotContains(t, got["journal.jsonl"], "\x00")

	before := times(t, dir)
	s = open(t, dir)
	known, err := s.Insert(t.Context(), []queue.Candidate{{Entry: new(done(1))}, {Entry: new(storetest.Entry("a", 2))}})
	require.NoError(t, err)
	require.Equal(t, []string{done(1).ID, storetest.Entry("a", 2).ID}, []string{known[0].ID, known[1].ID})
	require.NoError(t, s.Close())
	require.Equal(t, before, times(t, dir), "no change, no fold")

	s = open(t, dir)
	_, err = s.Update(t.Context(), storetest.Entry("a", 2).ID, claimNow)
	require.NoError(t, err)
	_, err = s.Update(t.Context(), storetest.Entry("a", 2).ID, settleNow)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, "[]\n", contents(t, dir)["queue.json"])

	s = open(t, dir)
	big := done(3)
	big.Article.Title = strings.Repeat("長", 500_000) // more than a quarter of it
	insert(t, s, big)
	require.NoError(t, s.Close())
	got = contents(t, dir)
	require.True(t, strings.HasPrefix(got["posted.json"], strings.TrimSuffix(posted, "\n]\n")))
	require.Equal(t, 3, strings.Count(got["posted.json"][len(posted)-4:], "\n{"))
	require.Equal(t, 1, strings.Count(got["journal.jsonl"], "\n"))
}
