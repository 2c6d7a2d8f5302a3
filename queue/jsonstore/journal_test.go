package jsonstore_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// ledgerState is all that a ledger says.
type ledgerState struct {
	entries map[string]queue.Entry
	book    string
}

func stateOf(t *testing.T, s queue.Store) ledgerState {
	t.Helper()
	st := ledgerState{entries: map[string]queue.Entry{}}
	for _, e := range all(t, s) {
		st.entries[e.ID] = e
	}
	book, err := s.Book(t.Context(), "source/a")
	require.NoError(t, err)
	st.book = string(book)
	return st
}

// story is a ledger that was left by a crash, with its history.
type story struct {
	files   map[string]string
	journal []byte
	// after has the state after the head and after each event, and ends the offset
	// behind each of their lines.
	after []ledgerState
	ends  []int
	// synced is the offset up to which later lines vouch for.
	synced int
}

func tell(t *testing.T) story {
	t.Helper()
	dir := copied(t, ledgerWith(t, done(1), storetest.Entry("a", 2)))
	s := open(t, dir)
	var st story
	chapter := func(err error) {
		t.Helper()
		require.NoError(t, err)
		st.after = append(st.after, stateOf(t, s))
		data, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		require.NoError(t, err)
		st.journal = bytes.TrimRight(data, "\x00")
		st.ends = append(st.ends, len(st.journal))
	}
	two, three := storetest.Entry("a", 2), storetest.Entry("a", 3)
	chapter(nil)
	_, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &three}})
	chapter(err)
	chapter(s.UpdateBook(t.Context(), "source/a", func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{"etag":"1"}`), nil }))
	for _, e := range []queue.Entry{two, three} {
		_, err = s.Update(t.Context(), e.ID, claimNow)
		chapter(err)
		_, err = s.Update(t.Context(), e.ID, settleNow)
		chapter(err)
	}
	chapter(s.Delete(t.Context(), done(1).ID))
	chapter(s.Delete(t.Context(), three.ID))
	st.synced = st.ends[len(st.ends)-4] // the last claim synced itself, and no later line says so
	_, err = s.Insert(t.Context(), []queue.Candidate{{Entry: new(storetest.Entry("a", 4))}})
	chapter(err)
	st.files = contents(t, dir)
	return st
}

func claimNow(e queue.Entry) (queue.Entry, error) {
	c := queue.Claim{Token: "token", By: "worker", At: now().Add(time.Hour), LeaseUntil: now().Add(2 * time.Hour)}
	return queue.TakeClaim(e, c.At, false, 0, c, poster.Message{ID: e.ID, Text: "題名", Body: []byte(`{"text":"題名"}`)})
}

func settleNow(e queue.Entry) (queue.Entry, error) {
	return queue.Settle(e, now().Add(time.Hour), "token", queue.Attempt{})
}

// with returns the files with another journal.
func (st story) with(journal []byte) map[string]string {
	files := maps.Clone(st.files)
	files["journal.jsonl"] = string(journal)
	return files
}

// upTo returns the state after the last event that is whole in n bytes.
func (st story) upTo(n int) ledgerState {
	at := 0
	for i, end := range st.ends {
		if end <= n {
			at = i
		}
	}
	return st.after[at]
}

func TestAJournalCutAtAnyByteHasAllEventsBeforeIt(t *testing.T) {
	t.Parallel()
	st := tell(t)
	tails := map[string][]byte{
		"nothing":          nil,
		"zeros":            make([]byte, 700),
		"garbage":          bytes.Repeat([]byte{0xa5, '{', '"', 0x00, 0xff}, 40),
		"lines of garbage": []byte(strings.Repeat("{\"n\":1,\"b\":99999}\n\n", 20)),
		"an older line":    st.journal[st.ends[0]:st.ends[1]],
	}
	names := slices.Sorted(maps.Keys(tails))
	dir := copied(t, st.files)
	for cut := range len(st.journal) + 1 {
		// Two of the tails at each byte, so that each comes to every kind of place.
		for _, name := range []string{names[cut%len(names)], names[cut/7%len(names)]} {
			tail := tails[name]
			if cut == st.ends[0] && name == "an older line" {
				continue // it is the next one here
			}
			write(t, dir, map[string]string{"journal.jsonl": string(st.journal[:cut]) + string(tail)})
			s, err := jsonstore.OpenReadOnly(t.Context(), dir)
			if cut < st.ends[0] {
				var file *jsonstore.FileError
				require.ErrorAs(t, err, &file, "cut at %d, then %s", cut, name)
				continue
			}
			require.NoError(t, err, "cut at %d, then %s", cut, name)
			require.Equal(t, st.upTo(cut), stateOf(t, s), "cut at %d, then %s", cut, name)
			require.NoError(t, s.Close())
		}
	}
}

func TestATornEndIsPutAsideAndTheWorkGoesOn(t *testing.T) {
	t.Parallel()
	st := tell(t)
	for n, end := range st.ends[1:] {
		start := st.ends[n]
		for _, cut := range []int{start, start + 1, (start + end) / 2, end - 1} {
			dir := copied(t, st.with(append(bytes.Clone(st.journal[:cut]), make([]byte, 300)...)))
			s := open(t, dir)
			want := st.after[n]
			require.Equal(t, want, stateOf(t, s))
			next := storetest.Entry("b", 7)
			insert(t, s, next)
			want.entries = maps.Clone(want.entries)
			want.entries[next.ID] = next
			require.Equal(t, want, stateOf(t, s))
			if cut > start {
				require.Equal(t, string(st.journal[start:cut])+"\n", contents(t, dir)["journal.torn"])
			}
			require.NoError(t, s.Close())
			require.Equal(t, want, stateOf(t, open(t, dir)))
		}
	}
}

func TestAJournalWithOneChangedByteIsRefusedOrEndsThere(t *testing.T) {
	t.Parallel()
	st := tell(t)
	dir := copied(t, st.files)
	for at := range st.journal {
		changed := bytes.Clone(st.journal)
		changed[at] ^= []byte{0x01, 0x80, 0x20, st.journal[at]}[at/3%4]
		write(t, dir, map[string]string{"journal.jsonl": string(changed)})
		s, err := jsonstore.OpenReadOnly(t.Context(), dir)
		var file *jsonstore.FileError
		if at < st.synced {
			require.ErrorAs(t, err, &file, "byte %d", at)
			require.LessOrEqual(t, file.Offset, int64(at))
			require.Equal(t, "journal.jsonl", filepath.Base(file.Path))
			continue
		}
		if err != nil {
			require.ErrorAs(t, err, &file, "byte %d", at)
			continue
		}
		require.Equal(t, st.upTo(at), stateOf(t, s), "byte %d", at)
		require.NoError(t, s.Close())
	}
}

func TestADamagedJournalIsLeftAlone(t *testing.T) {
	t.Parallel()
	st := tell(t)
	changed := bytes.Clone(st.journal)
	changed[st.ends[1]+20] ^= 1
	files := st.with(changed)
	dir := copied(t, files)
	err := openErr(dir)
	var file *jsonstore.FileError
	require.ErrorAs(t, err, &file)
	require.EqualValues(t, st.ends[1], file.Offset)
	require.ErrorContains(t, err, "damaged here, and sound again at byte")
	require.Equal(t, files, contents(t, dir))
}

func TestAnotherProcessCutsOffWhatADeadOneHalfWrote(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, storetest.Entry("a", 1)))
	s, other := open(t, dir), open(t, dir)
	insert(t, s, storetest.Entry("a", 2))
	require.Len(t, all(t, other), 2)

	// As if a third had died within its write.
	path := filepath.Join(dir, "journal.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte(`{"n":2,"b":0,"entr`), int64(len(bytes.TrimRight(data, "\x00"))))
	require.NoError(t, err)
	require.NoError(t, f.Close())

	insert(t, other, storetest.Entry("a", 3))
	insert(t, s, storetest.Entry("a", 4))
	require.Len(t, all(t, other), 4)
	require.Equal(t, `{"n":2,"b":0,"entr`+"\n", contents(t, dir)["journal.torn"])
	require.NoError(t, s.Close())
	require.NoError(t, other.Close())
	require.Len(t, all(t, open(t, dir)), 4)
}

func TestTheJournalIsEmptyAndTrimmedAfterClose(t *testing.T) {
	t.Parallel()
	files := ledgerWith(t, done(1), storetest.Entry("a", 2))
	require.Equal(t, 1, strings.Count(files["journal.jsonl"], "\n"))
	require.NotContains(t, files["journal.jsonl"], "\x00")
}

// The space ahead is written with zeros now and then, by whoever appends: nothing of
// what another worker wrote may go under.
func TestWorkersInTurnWriteOverNothing(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t))
	workers := []*jsonstore.Store{open(t, dir), open(t, dir), open(t, dir)}
	const entries = 300
	for n := range entries {
		e := storetest.Entry("a", n)
		insert(t, workers[n%3], e)
		_, err := workers[n*n%3].Update(t.Context(), e.ID, claimNow)
		require.NoError(t, err)
		_, err = workers[n/100].Update(t.Context(), e.ID, settleNow)
		require.NoError(t, err)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	require.NoError(t, err)
	lines := bytes.TrimRight(journal, "\x00")
	require.Equal(t, 1+3*entries, bytes.Count(lines, []byte("\n")), "the head and an event each")
	require.NotContains(t, string(lines), "\x00")
	require.Greater(t, len(lines), 3*64<<10, "more than is filled at a time")

	crashed := copied(t, contents(t, dir))
	s := open(t, crashed)
	count := 0
	for _, e := range all(t, s) {
		require.Equal(t, queue.Posted, e.Status)
		count++
	}
	require.Equal(t, entries, count)
}
