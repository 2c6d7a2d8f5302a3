package jsonstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

const (
	hookA = "https://hooks.example/T1/secret-a"
	hookB = "https://hooks.example/T2/secret-b"
)

// What an earlier bot wrote: two-space indents, records over several lines, all
// generations of records, and members this program does not know.
const olderPosted = `[
  "https://www.example.jp/bare/",
  {
    "url": "http://example.jp/url-only?utm_source=feed",
    "x_note": {
      "kept": [1, 2.50, "\u3042"]
    }
  },
  {
    "webhook": "` + hookA + `",
    "url": "https:\/\/example.jp\/with-webhook",
    "id": 12,
    "title": "題名 } ] \" \\ ,"
  },
  {"webhook":null,"url":"https://example.jp/null","posted":true},
  {
    "webhook": "` + hookB + `",
    "url": "https://other.example/x"
  }
]`

const olderQueue = `[
  {
    "webhook": "` + hookB + `",
    "url": "https://example.jp/queued",
    "scheduledAt": "2026-08-03T18:00:00+09:00",
    "x_unknown": 1
  },
  {
    "webhook": "` + hookB + `",
    "url": "https://example.jp/queued-ms",
    "scheduled_at": 1785747600000
  },
  { "url": "https://example.jp/no-destination" },
  { "webhook": "` + hookB + `", "url": "https://example.jp/no-time" },
  { "webhook": "` + hookB + `", "url": "https://example.jp/queued-posted", "posted": true },
  { "webhook": "` + hookB + `", "url": "https://www.example.jp/queued/", "again": "twice" }
]
`

func keyOf(hook, url string) dedupe.Key {
	return dedupe.Key{Webhook: dedupe.Fingerprint(hook), URL: url}
}

func candidate(hook, url string) queue.Candidate {
	k := keyOf(hook, url)
	return queue.Candidate{
		Entry:   &queue.Entry{ID: k.ID(), Key: k, Status: queue.Queued, DueAt: now(), QueuedAt: now(), Article: queue.Article{URL: url}},
		Aliases: []dedupe.Key{k.URLOnly()},
	}
}

func TestWhatAnEarlierBotAnnouncedIsKnown(t *testing.T) {
	t.Parallel()
	for _, journal := range []bool{false, true} {
		dir := copied(t, map[string]string{"posted.json": olderPosted, "queue.json": olderQueue})
		s := open(t, dir)
		if journal { // everything stands in the arrays, or some of it in the journal
			insert(t, s, storetest.Entry("a", 1))
		}
		known, err := s.Insert(t.Context(), []queue.Candidate{
			candidate(hookA, "https://example.jp/bare"),
			candidate(hookB, "https://example.jp/url-only"),
			candidate(hookA, "https://example.jp/with-webhook"),
			candidate(hookB, "https://example.jp/with-webhook"), // another destination
			candidate(hookA, "https://example.jp/null"),
			candidate(hookA, "https://other.example/x"), // another destination
			candidate(hookB, "https://other.example/x"),
			candidate(hookB, "https://example.jp/queued"),
			candidate(hookA, "https://example.jp/no-destination"),
			candidate(hookB, "https://example.jp/queued-posted"),
			candidate(hookA, "https://example.jp/new"),
		})
		require.NoError(t, err)
		urlOnly := func(url string, s queue.Status) queue.Known {
			return queue.Known{ID: keyOf("", url).ID(), Status: s, URLOnly: true}
		}
		require.Equal(t, []queue.Known{
			urlOnly("https://example.jp/bare", queue.Posted),
			urlOnly("https://example.jp/url-only", queue.Posted),
			{ID: keyOf(hookA, "https://example.jp/with-webhook").ID(), Status: queue.Posted},
			{},
			urlOnly("https://example.jp/null", queue.Posted),
			{},
			{ID: keyOf(hookB, "https://other.example/x").ID(), Status: queue.Posted},
			{ID: keyOf(hookB, "https://example.jp/queued").ID(), Status: queue.Queued},
			urlOnly("https://example.jp/no-destination", queue.Held),
			{ID: keyOf(hookB, "https://example.jp/queued-posted").ID(), Status: queue.Posted},
			{},
		}, known)
		require.NoError(t, s.Close())
	}
}

func TestARecordWithoutWebhookDoesNotStopWhoDoesNotAskForIt(t *testing.T) {
	t.Parallel()
	s := open(t, copied(t, map[string]string{"posted.json": olderPosted}))
	c := candidate(hookA, "https://example.jp/bare")
	c.Aliases = nil
	known, err := s.Insert(t.Context(), []queue.Candidate{c})
	require.NoError(t, err)
	require.True(t, known[0].New())
}

func TestRecordsOfAnEarlierBotStayByteForByte(t *testing.T) {
	t.Parallel()
	dir := copied(t, map[string]string{"posted.json": olderPosted, "queue.json": olderQueue})
	s := open(t, dir)
	fresh := candidate(hookA, "https://example.jp/new").Entry
	insert(t, s, *fresh, done(1))
	require.NoError(t, s.Close())

	got := contents(t, dir)
	old := strings.TrimSuffix(olderPosted, "\n]")
	require.True(t, strings.HasPrefix(got["posted.json"], old+",\n{\"id\":\""+done(1).ID), got["posted.json"])
	require.True(t, strings.HasSuffix(got["posted.json"], "}\n]\n"))
	for _, record := range []string{
		"{\n    \"webhook\": \"" + hookB + "\",\n    \"url\": \"https://example.jp/queued\",\n    \"scheduledAt\": \"2026-08-03T18:00:00+09:00\",\n    \"x_unknown\": 1\n  }",
		`{ "url": "https://example.jp/no-destination" }`,
		`{ "webhook": "` + hookB + `", "url": "https://example.jp/no-time" }`,
		`{ "webhook": "` + hookB + `", "url": "https://example.jp/queued-posted", "posted": true }`,
		`{ "webhook": "` + hookB + `", "url": "https://www.example.jp/queued/", "again": "twice" }`,
		`"id":"` + fresh.ID + `"`,
	} {
		require.Contains(t, got["queue.json"], record)
	}

	// A change to one record leaves the others alone, and keeps its own members.
	s = open(t, dir)
	id := keyOf(hookB, "https://example.jp/queued").ID()
	_, err := s.Update(t.Context(), id, func(e queue.Entry) (queue.Entry, error) {
		require.Equal(t, time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC), e.DueAt)
		return queue.Reschedule(e, now().Add(time.Hour))
	})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	got = contents(t, dir)
	require.Contains(t, got["queue.json"], `"x_unknown":1`)
	require.Contains(t, got["queue.json"], `"due_at":"2026-08-03T10:00:00.000Z"`)
	require.NotContains(t, got["queue.json"], "again", "the double went with the change")
	require.Contains(t, got["queue.json"], `{ "webhook": "`+hookB+`", "url": "https://example.jp/no-time" }`)
}

func TestADirectoryIsTakenOverByTheFirstCommandThatWrites(t *testing.T) {
	t.Parallel()
	older := map[string]string{"posted.json": olderPosted, "queue.json": olderQueue}
	dir := copied(t, older)
	require.NoError(t, openReadOnlyErr(dir))
	require.Equal(t, older, contents(t, dir))
	require.NoError(t, open(t, dir).Close())
	got := contents(t, dir)
	require.Equal(t, olderPosted, got["posted.json"])
	require.Equal(t, olderQueue, got["queue.json"])
	require.Equal(t, "{}\n", got["bookkeeping.json"])
	require.Contains(t, got["ledger.json"], `"version":1`)

	// From now on a missing file is a lost one.
	require.NoError(t, os.Remove(filepath.Join(dir, "queue.json")))
	require.ErrorContains(t, openErr(dir), "put queue.json back")
}

func TestWhatIsAnnouncedAlreadyIsNotSentFromAnOlderQueue(t *testing.T) {
	t.Parallel()
	dir := copied(t, map[string]string{
		"posted.json": `[{"webhook":"` + hookA + `","url":"https://example.jp/both"}, "https://example.jp/bare"]`,
		"queue.json": `[
  {"webhook":"` + hookA + `","url":"https://www.example.jp/both/","due_at":"2026-08-01T00:00:00Z"},
  {"webhook":"` + hookA + `","url":"https://example.jp/bare","due_at":"2026-08-01T00:00:00Z","x":"y"},
  {"webhook":"` + hookA + `","url":"https://example.jp/fine","due_at":"2026-08-01T00:00:00Z"}
]`,
	})
	check := func(s queue.Store) {
		t.Helper()
		var due []string
		for e, err := range s.Due(t.Context(), now()) {
			require.NoError(t, err)
			due = append(due, e.Article.URL)
		}
		require.Equal(t, []string{"https://example.jp/fine"}, due)
		both, err := s.Get(t.Context(), keyOf(hookA, "https://example.jp/both").ID())
		require.NoError(t, err)
		require.Equal(t, queue.Posted, both.Status)
		bare, err := s.Get(t.Context(), keyOf(hookA, "https://example.jp/bare").ID())
		require.NoError(t, err)
		require.Equal(t, queue.Held, bare.Status)
		require.Contains(t, bare.Reason, "before destinations were recorded")
		require.Len(t, all(t, s), 4)
	}
	s := open(t, dir)
	check(s)
	_, err := s.Update(t.Context(), keyOf(hookA, "https://example.jp/both").ID(), claimNow)
	require.ErrorIs(t, err, queue.ErrNotDue)
	require.NoError(t, s.Close())
	require.NotContains(t, contents(t, dir)["queue.json"], "both")
	for range 2 {
		s = open(t, dir)
		check(s)
		require.NoError(t, s.Close())
	}
}

func TestFilesChangedByHandBetweenRunsAreLookedOverAgain(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t, done(1), storetest.Entry("a", 2), storetest.Entry("a", 3)))
	require.NoError(t, open(t, dir).Close())
	// Somebody records by hand that the second was announced.
	e := done(2)
	raw, err := queue.MarshalRecord(e)
	require.NoError(t, err)
	posted := contents(t, dir)["posted.json"]
	write(t, dir, map[string]string{"posted.json": strings.TrimSuffix(posted, "\n]\n") + ",\n" + string(raw) + "]"})
	s := open(t, dir)
	_, err = s.Update(t.Context(), e.ID, claimNow)
	require.ErrorIs(t, err, queue.ErrNotDue)
	require.NoError(t, s.Close())
	require.Equal(t, 1, strings.Count(contents(t, dir)["queue.json"], "\n{"))
	require.Len(t, all(t, open(t, dir)), 3)
}

func TestHistoryOfEarlierBotsCanBeForgotten(t *testing.T) {
	t.Parallel()
	dir := copied(t, map[string]string{"posted.json": olderPosted})
	for n, key := range []dedupe.Key{
		keyOf(hookA, "https://example.jp/with-webhook"),
		keyOf("", "https://example.jp/bare"),
		keyOf(hookB, "https://other.example/x"),
		keyOf("", "https://example.jp/url-only"),
		keyOf("", "https://example.jp/null"),
	} {
		s := open(t, dir)
		e, err := s.Get(t.Context(), key.ID())
		require.NoError(t, err)
		require.Equal(t, key, e.Key)
		require.NoError(t, s.Delete(t.Context(), key.ID()))
		require.Len(t, all(t, s), 4-n)
		require.NoError(t, s.Close())
		s = open(t, dir)
		require.Len(t, all(t, s), 4-n)
		_, err = s.Get(t.Context(), key.ID())
		require.ErrorIs(t, err, queue.ErrNotFound)
		require.NoError(t, s.Close())
	}
	require.Equal(t, "[]\n", contents(t, dir)["posted.json"])
}
