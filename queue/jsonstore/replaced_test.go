package jsonstore_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// twoDays returns a ledger's files as they were on one day and on the next. On the
// second, one more was posted, one was sent and nobody knows how that went, and one
// more waits.
func twoDays(t testing.TB) (first, second map[string]string) {
	t.Helper()
	dir := t.TempDir()
	_, err := jsonstore.Init(dir, now())
	require.NoError(t, err)
	day := func(work func(s queue.Store)) map[string]string {
		s := open(t, dir)
		work(s)
		require.NoError(t, s.Close())
		return contents(t, dir)
	}
	first = day(func(s queue.Store) { insert(t, s, done(1), done(2), storetest.Entry("a", 3), storetest.Entry("a", 4)) })
	second = day(func(s queue.Store) {
		for _, n := range []int{3, 4} {
			_, err := s.Update(t.Context(), storetest.Entry("a", n).ID, claimNow)
			require.NoError(t, err)
		}
		_, err := s.Update(t.Context(), storetest.Entry("a", 3).ID, settleNow)
		require.NoError(t, err)
		insert(t, s, storetest.Entry("a", 5))
	})
	return first, second
}

func TestAnotherFileInThePlaceOfAnArrayIsRefused(t *testing.T) {
	t.Parallel()
	first, second := twoDays(t)
	other := ledgerWith(t, storetest.Entry("b", 9), doneAt("b", 8), doneAt("b", 7))
	waiting, err := queue.MarshalRecord(storetest.Entry("a", 5))
	require.NoError(t, err)
	again, err := queue.MarshalRecord(storetest.Entry("a", 4))
	require.NoError(t, err)
	for _, c := range []struct {
		name, file, content, says string
	}{
		{"yesterday's posted.json", "posted.json", first["posted.json"], "lacks the record that was written to it last"},
		{"a posted.json that was emptied", "posted.json", "[]\n", "bot posted forget"},
		{"another ledger's posted.json", "posted.json", other["posted.json"], "an older copy, or another ledger's"},
		{"yesterday's queue.json", "queue.json", first["queue.json"], "lacks its last record"},
		{"a queue.json that was emptied", "queue.json", "[]\n", "bot queue cancel"},
		{"another ledger's queue.json", "queue.json", other["queue.json"], "an older copy, or another ledger's"},
		{"a queue.json in which what may be out is queued", "queue.json", "[" + string(again) + "," + string(waiting) + "]", "would send"},
		{"a queue.json without what may be out", "queue.json", "[" + string(waiting) + "]", "bot resolve"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(second)
			files[c.file] = c.content
			dir := copied(t, files)
			for _, err := range []error{openReadOnlyErr(dir), openErr(dir)} {
				requireRefused(t, err, c.file, c.says)
			}
			// Whoever goes on all the same is not let, and nothing is changed.
			s := open(t, dir)
			for _, err := range s.Due(t.Context(), now()) {
				require.Error(t, err)
			}
			_, err := s.Update(t.Context(), storetest.Entry("a", 4).ID, claimNow)
			require.Error(t, err)
			require.NoError(t, s.Close(), "it has been said")
			require.Equal(t, files, contents(t, dir))
			// With the right file back all is well.
			write(t, dir, second)
			require.NoError(t, openErr(dir))
		})
	}
}

func doneAt(webhook string, n int) queue.Entry {
	e := storetest.Entry(webhook, n)
	e.Status, e.PostedAt, e.DueAt = queue.Posted, now(), done(n).DueAt
	return e
}

func TestBothArraysOfYesterdayAreRefused(t *testing.T) {
	t.Parallel()
	first, second := twoDays(t)
	second["posted.json"], second["queue.json"] = first["posted.json"], first["queue.json"]
	require.ErrorContains(t, openErr(copied(t, second)), "lacks the record that was written to it last")
}

func TestEditsByHandAreTaken(t *testing.T) {
	t.Parallel()
	_, second := twoDays(t)
	added := `{"webhook":"https://hooks.example/x","url":"https://example.jp/by-hand"}`
	indented := func(text string) string {
		var all []map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &all))
		out, err := json.MarshalIndent(all, "", "  ")
		require.NoError(t, err)
		return string(out)
	}
	lines := strings.Split(strings.TrimSuffix(second["posted.json"], "\n]\n"), "\n")
	five := storetest.Entry("a", 5)
	moved := strings.Replace(second["queue.json"], ",\n{\"id\":\""+five.ID, "\n]\n{\"id\":\""+five.ID, 1)
	moved = moved[:strings.Index(moved, "\n]\n")+3]
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"a record more at the end of posted.json": {map[string]string{"posted.json": strings.TrimSuffix(second["posted.json"], "\n]\n") + ",\n" + added + "]"}, 6},
		"a record more at its beginning":          {map[string]string{"posted.json": "[" + added + "," + second["posted.json"][1:]}, 6},
		"a title that was mended":                 {map[string]string{"posted.json": strings.Replace(second["posted.json"], "題名", "題", 1)}, 5},
		"another tool's indents":                  {map[string]string{"posted.json": indented(second["posted.json"]), "queue.json": indented(second["queue.json"])}, 5},
		"an older record taken out":               {map[string]string{"posted.json": lines[0] + "\n" + strings.Join(lines[2:], "\n") + "]"}, 4},
		"another time":                            {map[string]string{"queue.json": strings.Replace(second["queue.json"], `"due_at":"2026-`, `"due_at":"2027-`, 1)}, 5},
		"what waits was posted by hand":           {map[string]string{"queue.json": strings.Replace(second["queue.json"], `"status":"queued"`, `"status":"posted"`, 1)}, 5},
		"a record moved from one to the other":    {map[string]string{"queue.json": moved, "posted.json": strings.TrimSuffix(second["posted.json"], "\n]\n") + ",\n{\"id\":\"" + five.ID + `","webhook":"` + five.Key.Webhook + `","url":"` + five.Key.URL + `"}]`}, 5},
		"a record more that waits":                {map[string]string{"queue.json": "[" + added + "," + second["queue.json"][1:]}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(second)
			maps.Copy(files, c.files)
			dir := copied(t, files)
			for range 2 {
				require.NoError(t, openReadOnlyErr(dir))
				s := open(t, dir)
				require.Len(t, all(t, s), c.want)
				require.NoError(t, s.Close())
			}
		})
	}
}

func TestALedgerFileThatWasTakenAwayIsLost(t *testing.T) {
	t.Parallel()
	_, second := twoDays(t)
	delete(second, "ledger.json")
	dir := copied(t, second)
	for _, err := range []error{openReadOnlyErr(dir), openErr(dir)} {
		require.ErrorContains(t, err, "put ledger.json back")
	}
	_, err := jsonstore.Init(dir, now())
	require.ErrorContains(t, err, "put ledger.json back")
	require.Equal(t, second, contents(t, dir))
}

func TestATakeOverThatWasKilledGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := jsonstore.Init(dir, now())
	require.NoError(t, err)
	files := contents(t, dir)
	// The file that is made last.
	delete(files, "ledger.json")
	dir = copied(t, files)
	s := open(t, dir)
	insert(t, s, done(1))
	require.NoError(t, s.Close())
	require.Contains(t, contents(t, dir), "ledger.json")
	require.Len(t, all(t, open(t, dir)), 1)
}

func TestTheNewestRecordCanBeForgottenAndMoved(t *testing.T) {
	t.Parallel()
	_, second := twoDays(t)
	dir := copied(t, second)
	step := func(work func(s queue.Store)) {
		t.Helper()
		s := open(t, dir)
		work(s)
		require.NoError(t, s.Close())
		files := contents(t, dir)
		// As if it had been edited, so that it is looked over again.
		files["posted.json"], files["queue.json"] = files["posted.json"]+"\n", files["queue.json"]+"\n"
		require.NoError(t, openErr(copied(t, files)))
	}
	step(func(s queue.Store) { require.NoError(t, s.Delete(t.Context(), storetest.Entry("a", 3).ID)) })
	step(func(s queue.Store) { insert(t, s, done(6)) })
	step(func(s queue.Store) { require.NoError(t, s.Delete(t.Context(), done(6).ID)) })
	step(func(s queue.Store) {
		_, err := s.Update(t.Context(), storetest.Entry("a", 5).ID, queue.Cancel)
		require.NoError(t, err)
	})
	step(func(s queue.Store) {
		_, err := s.Update(t.Context(), storetest.Entry("a", 5).ID, func(e queue.Entry) (queue.Entry, error) { return queue.Retry(e, now()) })
		require.NoError(t, err)
	})
}
