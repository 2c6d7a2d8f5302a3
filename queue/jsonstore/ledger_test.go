package jsonstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// write puts files into a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
}

// contents returns what is in a directory's files, but for the lock.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ".lock" {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			all[e.Name()] = string(data)
		}
	}
	return all
}

func copied(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

// ledgerWith returns the files of a closed ledger with these entries.
func ledgerWith(t testing.TB, entries ...queue.Entry) map[string]string {
	t.Helper()
	dir := t.TempDir()
	_, err := jsonstore.Init(dir, now())
	require.NoError(t, err)
	s := open(t, dir)
	insert(t, s, entries...)
	require.NoError(t, s.Close())
	return contents(t, dir)
}

func insert(t testing.TB, s queue.Store, entries ...queue.Entry) {
	t.Helper()
	var all []queue.Candidate
	for _, e := range entries {
		all = append(all, queue.Candidate{Entry: &e})
	}
	known, err := s.Insert(t.Context(), all)
	require.NoError(t, err)
	for _, k := range known {
		require.Zero(t, k)
	}
}

func all(t testing.TB, s queue.Store) []queue.Entry {
	t.Helper()
	var all []queue.Entry
	for e, err := range s.All(t.Context()) {
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

func done(n int) queue.Entry {
	e := storetest.Entry("a", n)
	e.Status, e.PostedAt, e.DueAt = queue.Posted, now(), time.Time{}
	return e
}

func openErr(dir string) error {
	s, err := jsonstore.Open(context.Background(), jsonstore.Options{Dir: dir, Now: now})
	if err == nil {
		_, err = s.Lookup(context.Background(), []queue.Candidate{{Entry: new(storetest.Entry("z", 99))}})
		s.Close()
	}
	return err
}

func openReadOnlyErr(dir string) error {
	s, err := jsonstore.OpenReadOnly(context.Background(), dir)
	if err == nil {
		_, err = s.Lookup(context.Background(), []queue.Candidate{{Entry: new(storetest.Entry("z", 99))}})
		s.Close()
	}
	return err
}

// requireRefused requires that an error names a file, and says something of it.
func requireRefused(t *testing.T, err error, name, says string) *jsonstore.FileError {
	t.Helper()
	var file *jsonstore.FileError
	require.ErrorAs(t, err, &file)
	require.Equal(t, name, filepath.Base(file.Path))
	require.ErrorContains(t, err, says)
	return file
}

func TestInitMakesAnEmptyLedger(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "state")
	report, err := jsonstore.Init(dir, now())
	require.NoError(t, err)
	require.False(t, report.Adopted)
	var names []string
	for _, path := range report.Created {
		names = append(names, filepath.Base(path))
	}
	require.Equal(t, []string{"posted.json", "queue.json", "bookkeeping.json", "journal.jsonl", "ledger.json"}, names)
	files := contents(t, dir)
	require.Equal(t, "[]\n", files["posted.json"])
	require.Equal(t, "[]\n", files["queue.json"])
	require.Equal(t, "{}\n", files["bookkeeping.json"])
	var ledger struct {
		Version  int
		Fleet    string
		OpenedAt time.Time `json:"opened_at"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["ledger.json"]), &ledger))
	require.Equal(t, 1, ledger.Version)
	require.Len(t, ledger.Fleet, 36)
	require.Equal(t, now(), ledger.OpenedAt)
	require.Contains(t, files["journal.jsonl"], ledger.Fleet)

	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	for name := range files {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
	}
	s := open(t, dir)
	require.Empty(t, all(t, s))
	require.Empty(t, s.Warnings())
}

func TestInitLeavesALedgerAlone(t *testing.T) {
	t.Parallel()
	files := ledgerWith(t, done(1), storetest.Entry("a", 2))
	dir := copied(t, files)
	for range 2 {
		report, err := jsonstore.Init(dir, now().Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, jsonstore.Report{}, report)
		now := contents(t, dir)
		// Only the journal's note of how the files stand may differ, since these are
		// copies.
		for _, name := range []string{"posted.json", "queue.json", "bookkeeping.json", "ledger.json"} {
			require.Equal(t, files[name], now[name])
		}
	}
}

func TestAllowedToBeMissing(t *testing.T) {
	t.Parallel()
	full := ledgerWith(t, done(1), storetest.Entry("a", 2))
	const nothing, refused, lost, fine = "made by Init only", "no ledger, and Init refuses", "a lost file", "fine"
	for have, want := range map[string]string{
		"":                                  nothing,
		"queue":                             refused,
		"journal":                           refused,
		"books":                             refused,
		"queue books":                       refused,
		"queue books journal":               refused,
		"posted":                            fine,
		"posted queue":                      fine,
		"posted books":                      fine,
		"posted journal":                    lost,
		"posted queue journal":              lost,
		"posted queue books":                fine,
		"posted queue books journal":        lost,
		"posted queue books journal ledger": fine,
		"queue books journal ledger":        lost,
		"posted books journal ledger":       lost,
		"posted queue journal ledger":       lost,
		"posted queue books ledger":         lost,
		"ledger":                            lost,
	} {
		t.Run("with "+have, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for short, name := range map[string]string{
				"posted": "posted.json", "queue": "queue.json", "books": "bookkeeping.json", "journal": "journal.jsonl", "ledger": "ledger.json",
			} {
				if slices.Contains(strings.Fields(have), short) {
					files[name] = full[name]
				}
			}
			dir := copied(t, files)
			for _, err := range []error{openReadOnlyErr(dir), openErr(dir)} {
				switch want {
				case fine:
					require.NoError(t, err)
					continue
				case lost:
					var file *jsonstore.FileError
					require.ErrorAs(t, err, &file)
					require.ErrorContains(t, err, "put "+filepath.Base(file.Path)+" back")
				case nothing:
					require.ErrorIs(t, err, queue.ErrNoLedger)
					require.ErrorContains(t, err, "bot init")
				case refused:
					require.ErrorIs(t, err, queue.ErrNoLedger)
					require.ErrorContains(t, err, "put the old files back")
				}
				require.Equal(t, files, contents(t, dir), "nothing is made, nothing is changed")
			}
			report, err := jsonstore.Init(dir, now())
			switch want {
			case fine:
				require.NoError(t, err)
				require.Len(t, contents(t, dir), 5)
			case nothing:
				require.NoError(t, err)
				require.Len(t, report.Created, 5)
			default:
				require.Error(t, err)
				require.Equal(t, files, contents(t, dir))
			}
		})
	}
}

func TestADirectoryThatIsNotThereIsNoLedger(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	require.ErrorIs(t, openErr(dir), queue.ErrNoLedger)
	require.ErrorIs(t, openReadOnlyErr(dir), queue.ErrNoLedger)
	_, err := os.Stat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestFilesThatCannotBeReadAreNotEmpty(t *testing.T) {
	t.Parallel()
	whole := ledgerWith(t, done(1), done(2), storetest.Entry("a", 3), storetest.Entry("a", 4))
	cut := func(name string) string { return whole[name][:len(whole[name])-20] }
	for _, c := range []struct {
		name, file, content string
		offset              int64 // -2: any
		says                string
	}{
		{"an empty posted.json", "posted.json", "", 0, "it is empty"},
		{"a posted.json of blanks", "posted.json", " \n\n", -2, "it is empty"},
		{"a posted.json cut short", "posted.json", cut("posted.json"), int64(len(cut("posted.json"))), "ends in the middle"},
		{"a posted.json with a hole of zeros", "posted.json", whole["posted.json"][:100] + strings.Repeat("\x00", 200), -2, "not valid JSON"},
		{"a posted.json with zeros at its end", "posted.json", whole["posted.json"] + "\x00\x00", int64(len(whole["posted.json"])), "not valid JSON"},
		{"a posted.json with more behind its end", "posted.json", "[]\n[]\n", -2, "more behind its end"},
		{"a posted.json with a comma too many", "posted.json", "[\n\"https://example.jp/a\",\n]\n", -2, "not valid JSON"},
		{"a posted.json that is an object", "posted.json", `{"posted":[]}`, 0, "should begin with ["},
		{"a posted.json that is null", "posted.json", `null`, 0, "should begin with ["},
		{"a posted.json that is a page", "posted.json", "<!DOCTYPE html><p>503", 0, "not valid JSON"},
		{"a posted.json with a record without address", "posted.json", "[\n{\"title\":\"x\"}\n]\n", 2, "has no url"},
		{"a posted.json with a number", "posted.json", `[1]`, 1, "an object or a string"},
		{"a posted.json with a member twice in a record", "posted.json", `[{"url":"https://a.example/","url":"https://b.example/"}]`, -2, "duplicate"},
		{"a posted.json with bytes that are no UTF-8", "posted.json", "[\"https://a.example/\xff\"]", -2, "UTF-8"},
		{"a posted.json with half a surrogate pair", "posted.json", `[{"url":"https://a.example/","title":"\ud83d"}]`, -2, "surrogate"},
		{"a posted.json with a byte order mark", "posted.json", "\ufeff[]", 0, "not valid JSON"},
		{"an empty queue.json", "queue.json", "", 0, "it is empty"},
		{"a queue.json cut short", "queue.json", cut("queue.json"), int64(len(cut("queue.json"))), "ends in the middle"},
		{"a queue.json that is a page", "queue.json", "<html>", 0, "not valid JSON"},
		{"a queue.json with a record without address", "queue.json", "[\n{\"webhook\":\"x\"}\n]\n", 2, "has no url"},
		{"an empty bookkeeping.json", "bookkeeping.json", "", 0, "it is empty"},
		{"a bookkeeping.json that is an array", "bookkeeping.json", "[]", 0, "should begin with {"},
		{"an empty journal", "journal.jsonl", "", 0, "first line cannot be read"},
		{"a journal whose head is damaged", "journal.jsonl", strings.Replace(whole["journal.jsonl"], `"head"`, `"heap"`, 1), 0, "first line cannot be read"},
		{"the journal of another ledger", "journal.jsonl", ledgerWith(t)["journal.jsonl"], 0, "another ledger"},
		{"an empty ledger.json", "ledger.json", "", 0, "it is empty"},
		{"a ledger.json cut short", "ledger.json", `{"version":1,`, -2, "not what ledger.json holds"},
		{"a ledger.json of something else", "ledger.json", `{"name":"x"}`, 0, "names no version and fleet"},
		{"a ledger.json of a newer program", "ledger.json", `{"version":2,"fleet":"x"}`, 0, "use a newer bot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(whole)
			files[c.file] = c.content
			dir := copied(t, files)
			for _, err := range []error{openReadOnlyErr(dir), openErr(dir)} {
				file := requireRefused(t, err, c.file, c.says)
				require.ErrorContains(t, err, c.file)
				if c.offset != -2 {
					require.Equal(t, c.offset, file.Offset)
					require.ErrorContains(t, err, fmt.Sprintf("byte %d", c.offset))
				}
				require.Equal(t, files, contents(t, dir), "nothing is changed")
			}
		})
	}
}

func TestNothingIsSentOnAHistoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	files := ledgerWith(t, done(1), storetest.Entry("a", 3))
	files["posted.json"] = "[\n"
	dir := copied(t, files)
	s := open(t, dir)
	var file *jsonstore.FileError
	for _, err := range s.Due(t.Context(), now().Add(time.Hour)) {
		require.ErrorAs(t, err, &file)
	}
	_, err := s.Update(t.Context(), storetest.Entry("a", 3).ID, func(e queue.Entry) (queue.Entry, error) { return e, nil })
	require.ErrorAs(t, err, &file)
	require.NoError(t, s.Close(), "it has been said")
	require.Equal(t, files, contents(t, dir))
}

func TestALedgerThatHasMovedIsRefused(t *testing.T) {
	t.Parallel()
	files := ledgerWith(t)
	files["ledger.json"] = strings.Replace(files["ledger.json"], "}", `,"moved_to":"Firestore (project p, fleet default)"}`, 1)
	dir := copied(t, files)
	for _, err := range []error{openReadOnlyErr(dir), openErr(dir)} {
		require.ErrorIs(t, err, jsonstore.ErrMoved)
		require.ErrorContains(t, err, "moved to Firestore (project p, fleet default)")
	}
	_, err := jsonstore.Init(dir, now())
	require.ErrorIs(t, err, jsonstore.ErrMoved)
}

func TestReadOnlyWritesNothing(t *testing.T) {
	t.Parallel()
	whole := ledgerWith(t, done(1), storetest.Entry("a", 2))
	older := map[string]string{"posted.json": `["https://example.jp/9"]`, "queue.json": whole["queue.json"]}
	for name, files := range map[string]map[string]string{"a ledger": whole, "an earlier bot's directory": older} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, files)
			require.NoError(t, os.Chmod(dir, 0o500))
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			s, err := jsonstore.OpenReadOnly(t.Context(), dir)
			require.NoError(t, err)
			require.Len(t, all(t, s), 2)
			e := storetest.Entry("a", 2)
			got, err := s.Get(t.Context(), e.ID)
			require.NoError(t, err)
			require.Equal(t, e, got)
			known, err := s.Lookup(t.Context(), []queue.Candidate{{Entry: &e}, {Entry: new(storetest.Entry("a", 5))}})
			require.NoError(t, err)
			require.Equal(t, []bool{false, true}, []bool{known[0].New(), known[1].New()})
			for _, err := range s.Due(t.Context(), now()) {
				require.NoError(t, err)
			}
			_, err = s.Insert(t.Context(), []queue.Candidate{{Entry: new(storetest.Entry("a", 5))}})
			require.ErrorIs(t, err, jsonstore.ErrReadOnly)
			_, err = s.Update(t.Context(), e.ID, func(e queue.Entry) (queue.Entry, error) { return e, nil })
			require.ErrorIs(t, err, jsonstore.ErrReadOnly)
			require.ErrorIs(t, s.Delete(t.Context(), e.ID), jsonstore.ErrReadOnly)
			require.ErrorIs(t, s.UpdateBook(t.Context(), "a/b", func(json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage("1"), nil
			}), jsonstore.ErrReadOnly)
			require.NoError(t, s.Close())
			require.Equal(t, files, contents(t, dir))
			_, err = os.Stat(filepath.Join(dir, ".lock"))
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

func TestReadOnlyShowsTheLedgerAsItWasWhenOpened(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, done(1)))
	writer := open(t, dir)
	insert(t, writer, storetest.Entry("a", 2))
	reader, err := jsonstore.OpenReadOnly(t.Context(), dir)
	require.NoError(t, err)
	insert(t, writer, done(3))
	require.NoError(t, writer.Close())
	require.Len(t, all(t, reader), 2)
	require.NoError(t, reader.Close())
}

func TestALockedLedger(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, storetest.Entry("a", 1)))
	s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: dir, Now: now, LockTimeout: 20 * time.Millisecond})
	require.NoError(t, err)
	other, err := os.Open(filepath.Join(dir, ".lock"))
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))

	_, err = s.Get(t.Context(), storetest.Entry("a", 1).ID)
	require.ErrorIs(t, err, queue.ErrLocked)

	ctx, cancel := context.WithCancel(t.Context())
	patient, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: dir, Now: now, LockTimeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, queue.ErrLocked)
	require.Nil(t, patient)
	cancel()
	_, err = jsonstore.Open(ctx, jsonstore.Options{Dir: dir, Now: now})
	require.True(t, errors.Is(err, context.Canceled))

	// What was given up does not get in the way when the lock is free again.
	require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_UN))
	for range 10 {
		_, err = s.Get(t.Context(), storetest.Entry("a", 1).ID)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, done(1)))
	require.NoError(t, os.Chmod(filepath.Join(dir, "posted.json"), 0o644))
	s := open(t, dir)
	require.Len(t, s.Warnings(), 1)
	require.Contains(t, s.Warnings()[0], "posted.json can be read by other users")
	insert(t, s, done(2))
	require.NoError(t, s.Close())
	require.Empty(t, open(t, dir).Warnings(), "the fold has mended it")
}

func TestSymbolicLinksAreFollowedAndStay(t *testing.T) {
	t.Parallel()
	real, dir := copied(t, ledgerWith(t, done(1))), t.TempDir()
	for name := range contents(t, real) {
		require.NoError(t, os.Symlink(filepath.Join(real, name), filepath.Join(dir, name)))
	}
	s := open(t, dir)
	insert(t, s, done(2), storetest.Entry("a", 3))
	require.NoError(t, s.Close())
	for _, name := range []string{"posted.json", "queue.json", "journal.jsonl"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&fs.ModeSymlink, name)
	}
	require.Len(t, all(t, open(t, dir)), 3)
}
