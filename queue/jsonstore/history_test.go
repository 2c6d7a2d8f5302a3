package jsonstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// A run over many sources looks for more than is remembered, a part at a time.
func TestMoreIsLookedForThanIsRemembered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n, part = remembered + 5000, 3000
	dir := t.TempDir()
	_, err := Init(dir, jan(1))
	require.NoError(t, err)
	webhook := dedupe.Fingerprint("https://hook.example/")
	candidates := make([]queue.Candidate, n)
	var posted strings.Builder
	for i := range candidates {
		key := dedupe.Key{Webhook: webhook, URL: fmt.Sprintf("https://example.jp/%d", i)}
		guid := fmt.Sprint("guid", i)
		candidates[i] = queue.Candidate{
			Entry:   &queue.Entry{ID: key.ID(), Key: key, Status: queue.Skipped, Article: queue.Article{URL: key.URL, Source: "blog", GUID: guid}},
			Origins: []dedupe.Origin{{Webhook: webhook, Source: "blog", GUID: guid}},
		}
		if i%2 == 0 {
			fmt.Fprintf(&posted, ",\n{\"id\":%q,\"webhook\":%q,\"url\":%q,\"source\":\"blog\",\"status\":\"posted\"}", key.ID(), webhook, key.URL)
		} else if i%3 == 0 {
			renamed := dedupe.Key{Webhook: webhook, URL: key.URL + "/renamed"}
			fmt.Fprintf(&posted, ",\n{\"id\":%q,\"webhook\":%q,\"url\":%q,\"source\":\"blog\",\"guid\":%q,\"status\":\"posted\"}", renamed.ID(), webhook, renamed.URL, guid)
		}
	}
	require.NoError(t, os.WriteFile(filesOf(dir).posted, []byte("["+posted.String()[1:]+"\n]\n"), 0o600))
	s, err := Open(ctx, Options{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()

	check := func(from int, known []queue.Known) {
		for i, k := range known {
			i += from
			require.Equal(t, i%2 != 0 && i%3 != 0, k.New(), i)
			require.Equal(t, i%2 != 0 && i%3 == 0, k.RenamedFrom != "", i)
		}
	}
	for from := 0; from < n; from += part {
		some := candidates[from:min(from+part, n)]
		known, err := s.Lookup(ctx, some)
		require.NoError(t, err)
		check(from, known)
		require.LessOrEqual(t, len(s.history.answers), remembered)
	}
	// Nothing of what one step asks for is forgotten on the way.
	known, err := s.Insert(ctx, candidates)
	require.NoError(t, err)
	check(0, known)
}

func TestARecordThatWasLookedForCanBeHadWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	_, err := Init(dir, jan(1))
	require.NoError(t, err)
	e := entry("https://example.jp/a")
	e.Status = queue.Posted
	record, err := queue.MarshalRecord(e)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filesOf(dir).posted, []byte("[\n"+string(record)+"\n]\n"), 0o600))
	s, err := Open(ctx, Options{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	known, err := s.Lookup(ctx, []queue.Candidate{{Entry: &e}})
	require.NoError(t, err)
	require.Equal(t, queue.KnownAs(e, false), known[0])
	got, err := s.Get(ctx, e.ID)
	require.NoError(t, err)
	require.Equal(t, e.Article.URL, got.Article.URL)
	known, err = s.Lookup(ctx, []queue.Candidate{{Entry: &e}})
	require.NoError(t, err)
	require.Equal(t, queue.KnownAs(e, false), known[0])
}
