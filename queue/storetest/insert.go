package storetest

import (
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

func inserting() []property {
	return []property{
		{"an unknown entry is new, and then in the ledger", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			known, err := s.Insert(t.Context(), candidates(e))
			require.NoError(t, err)
			require.Equal(t, []queue.Known{{}}, known)
			require.True(t, known[0].New())
			require.Equal(t, e, get(t, s, e.ID))
		}},
		{"the same insert again finds the entry and changes nothing", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			insert(t, s, e)
			changed := e
			changed.Article.Title, changed.Rule = "another", "another"
			known, err := s.Insert(t.Context(), candidates(changed))
			require.NoError(t, err)
			require.Equal(t, []queue.Known{{ID: e.ID, Status: queue.Queued, Rule: "rule"}}, known)
			require.Equal(t, e, get(t, s, e.ID))
		}},
		{"candidates are independent, and the answers stand in their order", func(t *testing.T, open Opener) {
			s := open(t)
			insert(t, s, Entry("a", 1), Entry("a", 3))
			known, err := s.Insert(t.Context(), candidates(several("a", 5)...))
			require.NoError(t, err)
			var ids []string
			for _, k := range known {
				ids = append(ids, k.ID)
			}
			require.Equal(t, []string{"", Entry("a", 1).ID, "", Entry("a", 3).ID, ""}, ids)
			require.Len(t, list(t, s.All(t.Context())), 5)
		}},
		{"one address at two destinations is two entries", func(t *testing.T, open Opener) {
			s := open(t)
			insert(t, s, Entry("a", 1), Entry("b", 1))
			require.Len(t, list(t, s.All(t.Context())), 2)
		}},
		{"one address in two buckets is two entries", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			monday := e
			monday.Key.Bucket = "2026-08-03"
			monday.ID = monday.Key.ID()
			insert(t, s, e, monday)
			require.Equal(t, monday, get(t, s, monday.ID))
		}},
		{"of equal candidates in one call the first is inserted, and known to the others", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			second := e
			second.Rule = "second"
			for _, call := range []func() ([]queue.Known, error){
				func() ([]queue.Known, error) { return s.Lookup(t.Context(), candidates(e, second)) },
				func() ([]queue.Known, error) { return s.Insert(t.Context(), candidates(e, second)) },
			} {
				known, err := call()
				require.NoError(t, err)
				require.Equal(t, []queue.Known{{}, {ID: e.ID, Status: queue.Queued, Rule: "rule"}}, known)
			}
			require.Equal(t, e, get(t, s, e.ID))
		}},
		{"a candidate is known by any of its aliases", func(t *testing.T, open Opener) {
			s := open(t)
			former, now := Entry("former webhook", 1), Entry("webhook", 1)
			insert(t, s, former)
			known, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &now, Aliases: []dedupe.Key{Entry("x", 9).Key, former.Key}}})
			require.NoError(t, err)
			require.Equal(t, former.ID, known[0].ID)
			_, err = s.Get(t.Context(), now.ID)
			require.ErrorIs(t, err, queue.ErrNotFound)
		}},
		{"an alias of a later candidate may be an earlier one of the same call", func(t *testing.T, open Opener) {
			s := open(t)
			former, now := Entry("former webhook", 1), Entry("webhook", 1)
			known, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &former}, {Entry: &now, Aliases: []dedupe.Key{former.Key}}})
			require.NoError(t, err)
			require.True(t, known[0].New())
			require.Equal(t, former.ID, known[1].ID)
		}},
		{"aliases are not stored", func(t *testing.T, open Opener) {
			s := open(t)
			former, now := Entry("former webhook", 1), Entry("webhook", 1)
			_, err := s.Insert(t.Context(), []queue.Candidate{{Entry: &now, Aliases: []dedupe.Key{former.Key}}})
			require.NoError(t, err)
			insert(t, s, former)
		}},
		{"an entry without a webhook stands in the way of those that ask for it", func(t *testing.T, open Opener) {
			s := open(t)
			once, daily := Entry("a", 1), Entry("b", 1)
			old := queue.Entry{Key: once.Key.URLOnly(), Status: queue.Posted, Article: queue.Article{URL: once.Article.URL}}
			old.ID = old.Key.ID()
			insert(t, s, old)
			known, err := s.Insert(t.Context(), []queue.Candidate{
				{Entry: &once, Aliases: []dedupe.Key{once.Key.URLOnly()}},
				{Entry: &daily},
			})
			require.NoError(t, err)
			require.Equal(t, []queue.Known{{ID: old.ID, Status: queue.Posted, URLOnly: true}, {}}, known)
		}},
		{"an entry in any state is known by it", func(t *testing.T, open Opener) {
			s := open(t)
			for n, e := range everyStatus() {
				insert(t, s, e)
				known, err := s.Insert(t.Context(), candidates(e))
				require.NoError(t, err)
				require.Equal(t, queue.Known{ID: e.ID, Status: queue.Statuses[n], Rule: "rule"}, known[0])
			}
		}},
		{"a lookup answers like an insert and inserts nothing", func(t *testing.T, open Opener) {
			s := open(t)
			insert(t, s, Entry("a", 1))
			for range 2 {
				known, err := s.Lookup(t.Context(), candidates(several("a", 3)...))
				require.NoError(t, err)
				require.Equal(t, []queue.Known{{}, {ID: Entry("a", 1).ID, Status: queue.Queued, Rule: "rule"}, {}}, known)
			}
			require.Len(t, list(t, s.All(t.Context())), 1)
		}},
		{"an insert after a lookup sees what another handle inserted between", func(t *testing.T, open Opener) {
			s, other := open(t), open(t)
			known, err := s.Lookup(t.Context(), candidates(several("a", 3)...))
			require.NoError(t, err)
			require.True(t, known[1].New())
			insert(t, other, Entry("a", 1))
			known, err = s.Insert(t.Context(), candidates(several("a", 3)...))
			require.NoError(t, err)
			require.Equal(t, []bool{true, false, true}, []bool{known[0].New(), known[1].New(), known[2].New()})
		}},
		{"an insert of nothing answers nothing", func(t *testing.T, open Opener) {
			known, err := open(t).Insert(t.Context(), nil)
			require.NoError(t, err)
			require.Empty(t, known)
		}},
	}
}

// everyStatus returns one entry of each of queue.Statuses, in their order, with
// all that such an entry may carry.
func everyStatus() []queue.Entry {
	var all []queue.Entry
	for n, status := range queue.Statuses {
		e := Entry("a", n)
		e.Status = status
		e.Attempts = n
		if status != queue.Queued && status != queue.Held {
			e.DueAt = time.Time{}
		}
		switch status {
		case queue.Sending, queue.Uncertain:
			e.Claim = queue.Claim{Token: "token", By: "worker", At: Now(), FirstAt: Now(), LeaseUntil: Now().Add(5 * time.Minute)}
			e.Message.ID, e.Message.Text, e.Message.Body = e.ID, "text", []byte(`{"text":"題名"}`)
			e.LastError = "the answer did not come"
		case queue.Posted:
			e.PostedAt, e.RemoteID, e.RemoteURL, e.Shadow = Now(), "id", "https://social.example/1", true
		case queue.Held, queue.Failed, queue.Skipped:
			e.Reason = "a reason"
		}
		all = append(all, e)
	}
	return all
}
