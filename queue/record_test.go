package queue_test

import (
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

const (
	hook        = "https://hooks.example/T1/secret"
	articleURL  = "https://www.Example.jp/a/?utm_source=feed"
	canonicalOf = "https://example.jp/a"
)

func TestParseRecordReadsEveryGeneration(t *testing.T) {
	t.Parallel()
	print := dedupe.Fingerprint(hook)
	due := time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)
	full := dedupe.Key{Webhook: print, URL: canonicalOf}
	bare := dedupe.Key{URL: canonicalOf}
	for _, c := range []struct {
		name   string
		posted bool
		raw    string
		want   queue.Entry // ID, Key, Status, DueAt, Reason are compared
	}{
		{"a record with a fingerprint keeps its ID", queue.InPosted,
			`{"id":"the-id","webhook":"` + print + `","url":"` + articleURL + `"}`,
			queue.Entry{ID: "the-id", Key: full, Status: queue.Posted}},
		{"a record with a fingerprint and no ID gets its key's", queue.InPosted,
			`{"webhook":"` + print + `","url":"` + articleURL + `"}`,
			queue.Entry{ID: full.ID(), Key: full, Status: queue.Posted}},
		{"a raw webhook counts as its fingerprint, and the record's own ID says nothing", queue.InPosted,
			`{"id":"7","webhook":"` + hook + `","url":"` + articleURL + `"}`,
			queue.Entry{ID: full.ID(), Key: full, Status: queue.Posted}},
		{"a record without webhook knows the address only", queue.InPosted,
			`{"url":"` + articleURL + `"}`, queue.Entry{ID: bare.ID(), Key: bare, Status: queue.Posted}},
		{"a null webhook is none", queue.InPosted,
			`{"id":7,"webhook":null,"url":"` + articleURL + `"}`, queue.Entry{ID: bare.ID(), Key: bare, Status: queue.Posted}},
		{"an empty webhook is none", queue.InPosted,
			`{"webhook":" ","url":"` + articleURL + `"}`, queue.Entry{ID: bare.ID(), Key: bare, Status: queue.Posted}},
		{"a bare string is an address", queue.InPosted,
			`"` + articleURL + `"`, queue.Entry{ID: bare.ID(), Key: bare, Status: queue.Posted}},
		{"a bare string in the queue is held, since it names no destination", queue.InQueue,
			`"` + articleURL + `"`,
			queue.Entry{ID: bare.ID(), Key: bare, Status: queue.Held, Reason: "its record names no destination"}},
		{"key_url is the key where it is not the address", queue.InPosted,
			`{"webhook":"` + print + `","url":"` + articleURL + `","key_url":"rule/r/source/s","bucket":"2026-08-03"}`,
			queue.Entry{Key: dedupe.Key{Webhook: print, URL: "rule/r/source/s", Bucket: "2026-08-03"}, Status: queue.Posted}},
		{"an address that is none is kept as it is", queue.InPosted,
			`{"url":"not an address"}`, queue.Entry{Key: dedupe.Key{URL: "not an address"}, Status: queue.Posted}},
		{"a skipped record in the history is skipped", queue.InPosted,
			`{"url":"` + articleURL + `","status":"skipped","reason":"old"}`,
			queue.Entry{Key: bare, Status: queue.Skipped, Reason: "old"}},
		{"a record of the queue marked posted is posted", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","posted":true}`,
			queue.Entry{Key: full, Status: queue.Posted}},
		{"due_at is a time", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","due_at":"2026-08-03T09:00:00+09:00"}`,
			queue.Entry{Key: full, Status: queue.Queued, DueAt: due}},
		{"so is scheduled_at", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","status":"pending","scheduled_at":1785715200000}`,
			queue.Entry{Key: full, Status: queue.Queued, DueAt: due}},
		{"so is scheduledAt", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","scheduledAt":"2026-08-03T00:00:00Z"}`,
			queue.Entry{Key: full, Status: queue.Queued, DueAt: due}},
		{"the first time that can be read counts", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","due_at":"soon","scheduledAt":"2026-08-03T00:00:00Z"}`,
			queue.Entry{Key: full, Status: queue.Queued, DueAt: due}},
		{"a queued record without a time is held", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","due_at":"tomorrow"}`,
			queue.Entry{Key: full, Status: queue.Held, Reason: "its record has no due time that can be read"}},
		{"a status that is not known is held", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","status":"waiting","due_at":1785715200000}`,
			queue.Entry{Key: full, Status: queue.Held, DueAt: due, Reason: `its record has the unknown status "waiting"`}},
		{"one that is being sent by nobody is uncertain", queue.InQueue,
			`{"webhook":"` + hook + `","url":"` + articleURL + `","status":"sending"}`,
			queue.Entry{Key: full, Status: queue.Uncertain}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := queue.ParseRecord(jsontext.Value(c.raw), c.posted)
			require.NoError(t, err)
			if c.want.ID == "" {
				c.want.ID = c.want.Key.ID()
			}
			require.Equal(t, c.want.ID, got.ID)
			require.Equal(t, c.want.Key, got.Key)
			require.Equal(t, c.want.Status, got.Status)
			require.Equal(t, c.want.DueAt, got.DueAt)
			require.Equal(t, c.want.Reason, got.Reason)
		})
	}
}

func TestParseRecordRefusesWhatHasNoAddress(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `{"url":""}`, `{"url":null}`, `{"url":7}`, `""`, `7`, `null`, `[]`, `[["https://example.jp/a"]]`} {
		_, err := queue.ParseRecord(jsontext.Value(raw), queue.InPosted)
		require.Error(t, err, raw)
	}
}

func TestParseRecordTakesMembersOfAnotherTypeForAbsent(t *testing.T) {
	t.Parallel()
	got, err := queue.ParseRecord(jsontext.Value(`{"id":[1],"webhook":7,"url":"https://example.jp/a","title":{"ja":"題名"},
		"rule":null,"attempts":"3","shadow":"true","posted_at":[],"categories":["a",7,"","b"],"published_at":true}`), queue.InPosted)
	require.NoError(t, err)
	key := dedupe.Key{URL: canonicalOf}
	require.Equal(t, queue.Entry{
		ID: key.ID(), Key: key, Status: queue.Posted,
		Article: queue.Article{URL: "https://example.jp/a", Categories: []string{"a", "b"}},
	}, got)
}

func TestParseRecordOfAClaimWithoutItsFirstTimeCountsFromTheClaim(t *testing.T) {
	t.Parallel()
	got, err := queue.ParseRecord(jsontext.Value(`{"webhook":"`+hook+`","url":"https://example.jp/a","status":"sending",
		"claim":"token","claimed_by":"worker","claimed_at":"2026-08-03T00:00:00Z","lease_until":"2026-08-03T00:05:00Z"}`), queue.InQueue)
	require.NoError(t, err)
	at := time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)
	require.Equal(t, at, got.Claim.FirstAt)
	// So it is never taken for one that was not sent yet.
	_, err = queue.TakeClaim(got, at.Add(time.Hour), true, 0, queue.Claim{Token: "next", At: at.Add(time.Hour)}, poster.Message{})
	require.ErrorIs(t, err, queue.ErrNotDue)
}

func TestMarshalRecordKeepsTheWholeEntryOnOneLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 3, 1, 2, 3, 4e6, time.UTC)
	key := dedupe.Key{Webhook: dedupe.Fingerprint(hook), URL: canonicalOf, Bucket: "2026-08-03"}
	e := queue.Entry{
		ID: key.ID(), Key: key, Destination: "manga-x", Rule: "manga",
		Article: queue.Article{
			URL: articleURL, Title: "題名\n\u2028\"<b>", Summary: "要約", Author: "著者", Image: "https://example.jp/i.png",
			Categories: []string{"漫画", "b"}, GUID: "g", Source: "manga", Published: at, Updated: at.Add(1e6),
		},
		Status: queue.Sending, QueuedAt: at, DueAt: at, Reason: "reason", Attempts: 3, LastError: "error",
		Claim:   queue.Claim{Token: "token", By: "worker", At: at, FirstAt: at.Add(-1e9), Absent: 2, Again: true, LeaseUntil: at.Add(3e11)},
		Message: poster.Message{ID: key.ID(), Text: "text", Body: []byte(`{"text":"題名"}`)},
		Extra:   jsontext.Value(`{"x_unknown":{"a":[1,2]}}`),
	}
	raw, err := queue.MarshalRecord(e)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "\n")
	require.NotContains(t, string(raw), "secret")
	got, err := queue.ParseRecord(raw, queue.InQueue)
	require.NoError(t, err)
	require.Equal(t, e, got)
}

func TestMarshalRecordIsAsTheContractShowsIt(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)
	key := dedupe.Key{Webhook: dedupe.Fingerprint(hook), URL: canonicalOf}
	raw, err := queue.MarshalRecord(queue.Entry{
		ID: key.ID(), Key: key, Destination: "manga-x", Rule: "manga",
		Article: queue.Article{URL: "https://example.jp/a", Title: "題名", Source: "manga"},
		Status:  queue.Posted, PostedAt: at, Attempts: 1, RemoteID: "r", RemoteURL: "https://social.example/r",
	})
	require.NoError(t, err)
	require.Equal(t, `{"id":"`+key.ID()+`","webhook":"`+key.Webhook+`","url":"https://example.jp/a",`+
		`"destination":"manga-x","rule":"manga","source":"manga","title":"題名","status":"posted",`+
		`"posted_at":"2026-08-03T00:00:00.000Z","attempts":1,"remote_id":"r","remote_url":"https://social.example/r"}`, string(raw))
}

func FuzzParseRecord(f *testing.F) {
	for _, raw := range []string{
		`"https://example.jp/a"`, `{"url":"https://example.jp/a"}`,
		`{"id":"x","webhook":"` + dedupe.Fingerprint(hook) + `","url":"https://example.jp/a","bucket":"b","status":"queued","due_at":1}`,
		`{"webhook":"` + hook + `","url":"http://EXAMPLE.jp:80/%61/?utm_source=x","key_url":"rule/x","scheduledAt":1785715200000,"x":{"y":[]}}`,
		`{"url":"https://example.jp/a","status":"sending","claim":"c","claimed_at":"2026-08-03T00:00:00.5+09:00","lease_until":1785715200000.5}`,
		`{"url":"a","posted_at":"9999-12-31T23:59:59-10:00","due_at":"0000-01-01T00:00:00+10:00"}`,
		`{"url":"\ud83d\ude00","categories":["a","a"],"attempts":-1,"posted":true,"text":"t","body":"b"}`,
	} {
		f.Add(raw, true)
		f.Add(raw, false)
	}
	f.Fuzz(func(t *testing.T, raw string, posted bool) {
		value := jsontext.Value(raw)
		if !value.IsValid() {
			return
		}
		value = jsontext.Value(strings.TrimSpace(raw))
		e, err := queue.ParseRecord(value, posted)
		if err != nil {
			return
		}
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Key.URL)
		again, err := queue.MarshalRecord(e)
		require.NoError(t, err)
		require.NotContains(t, string(again), "\n")
		got, err := queue.ParseRecord(again, posted)
		require.NoError(t, err)
		if e.Extra != nil {
			require.NoError(t, e.Extra.Canonicalize())
			require.NoError(t, got.Extra.Canonicalize())
		}
		require.Equal(t, e, got)
	})
}
