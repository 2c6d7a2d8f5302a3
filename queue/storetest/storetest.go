// Package storetest is what every queue.Store must pass.
package storetest

import (
	"context"

	"strconv"
	"sync"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// Opener opens one more handle on the same ledger, as another process would. The
// handle is closed with the test, if not before.
type Opener func(t *testing.T) queue.Store

// property is one thing that holds of every store, in a sentence.
type property struct {
	name string
	test func(t *testing.T, open Opener)
}

// Run tests the store whose ledgers fresh makes: each call is to make an empty one
// and return what opens handles on it.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	for _, group := range [][]property{inserting(), renaming(), updating(), reading(), lasting(), racing(), crashing()} {
		for _, p := range group {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.test(t, fresh(t))
			})
		}
	}
}

// Now is the time around which the tests' entries are.
func Now() time.Time { return time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC) }

// Entry returns a queued entry for the nth article of a site, at one destination,
// that is due n seconds after Now.
func Entry(webhook string, n int) queue.Entry {
	url := "https://example.jp/" + strconv.Itoa(n)
	key := dedupe.Key{Webhook: dedupe.Fingerprint(webhook), URL: url}
	return queue.Entry{
		ID: key.ID(), Key: key, Destination: webhook, Rule: "rule",
		Article:  poster.Article{URL: url, Title: "題名 " + strconv.Itoa(n), Source: "source", Published: Now().Add(-time.Hour)},
		Status:   queue.Queued,
		QueuedAt: Now().Add(time.Duration(n) * time.Millisecond),
		DueAt:    Now().Add(time.Duration(n) * time.Second),
	}
}

func candidates(entries ...queue.Entry) []queue.Candidate {
	var all []queue.Candidate
	for _, e := range entries {
		all = append(all, queue.Candidate{Entry: &e})
	}
	return all
}

func several(webhook string, n int) []queue.Entry {
	var all []queue.Entry
	for i := range n {
		all = append(all, Entry(webhook, i))
	}
	return all
}

func insert(t *testing.T, s queue.Store, entries ...queue.Entry) {
	t.Helper()
	known, err := s.Insert(t.Context(), candidates(entries...))
	require.NoError(t, err)
	for _, k := range known {
		require.Zero(t, k)
	}
}

func list(t *testing.T, seq func(yield func(queue.Entry, error) bool)) []queue.Entry {
	t.Helper()
	var all []queue.Entry
	for e, err := range seq {
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

func get(t *testing.T, s queue.Store, id string) queue.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), id)
	require.NoError(t, err)
	return e
}

// claim claims the entry as the processor does.
func claim(ctx context.Context, s queue.Store, id, by string) (queue.Entry, error) {
	now := Now().Add(time.Hour)
	return s.Update(ctx, id, func(e queue.Entry) (queue.Entry, error) {
		c := queue.Claim{Token: "token of " + by, By: by, At: now, LeaseUntil: now.Add(5 * time.Minute)}
		return queue.TakeClaim(e, now, false, 0, c, poster.Message{ID: e.ID, Text: "text", Body: []byte(`{"a":1}`)})
	})
}

func settle(ctx context.Context, s queue.Store, id, by string) (queue.Entry, error) {
	return s.Update(ctx, id, func(e queue.Entry) (queue.Entry, error) {
		return queue.Settle(e, Now().Add(time.Hour), "token of "+by, queue.Attempt{Receipt: poster.Receipt{RemoteID: "r1"}})
	})
}

// inParallel runs f for each n at the same time.
func inParallel(n int, f func(n int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
