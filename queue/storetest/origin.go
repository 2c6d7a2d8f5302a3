package storetest

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// called returns the nth article's entry with the guid that its source gives it.
func called(webhook string, n int, guid string) queue.Entry {
	e := Entry(webhook, n)
	e.Article.GUID = guid
	return e
}

// byGUID asks for entries to be inserted unless their articles are known by their
// guids.
func byGUID(entries ...queue.Entry) []queue.Candidate {
	var all []queue.Candidate
	for _, e := range entries {
		c := queue.Candidate{Entry: &e}
		if o := e.Origin(); o != (dedupe.Origin{}) {
			c.Origins = []dedupe.Origin{o}
		}
		all = append(all, c)
	}
	return all
}

// knows checks that the store knows the candidate as the entry under another
// address, and nothing is changed by that.
func knows(t *testing.T, s queue.Store, c queue.Candidate, e queue.Entry) {
	t.Helper()
	want := []queue.Known{queue.KnownAs(e, true)}
	known, err := s.Lookup(t.Context(), []queue.Candidate{c})
	require.NoError(t, err)
	require.Equal(t, want, known)
	known, err = s.Insert(t.Context(), []queue.Candidate{c})
	require.NoError(t, err)
	require.Equal(t, want, known)
	_, err = s.Get(t.Context(), c.Entry.ID)
	require.ErrorIs(t, err, queue.ErrNotFound)
}

// takes checks that the candidate is new to the store, and inserts it.
func takes(t *testing.T, s queue.Store, c queue.Candidate) {
	t.Helper()
	for _, call := range []func() ([]queue.Known, error){
		func() ([]queue.Known, error) { return s.Lookup(t.Context(), []queue.Candidate{c}) },
		func() ([]queue.Known, error) { return s.Insert(t.Context(), []queue.Candidate{c}) },
	} {
		known, err := call()
		require.NoError(t, err)
		require.Equal(t, []queue.Known{{}}, known)
	}
	require.Equal(t, *c.Entry, get(t, s, c.Entry.ID))
}

func renaming() []property {
	const day = 24 * time.Hour
	return []property{
		{"an article under a new address is known by its guid, in any state and after a reopening", func(t *testing.T, open Opener) {
			s := open(t)
			var all []queue.Entry
			for n, e := range everyStatus() {
				e.Article.GUID = "guid " + strconv.Itoa(n)
				takes(t, s, byGUID(e)[0])
				all = append(all, e)
			}
			for range 3 {
				for n, e := range all {
					knows(t, s, byGUID(called("a", 100+n, e.Article.GUID))[0], e)
				}
				require.NoError(t, s.Close())
				s = open(t)
			}
		}},
		{"a posted article is known by its guid", func(t *testing.T, open Opener) {
			s, e := open(t), called("a", 1, "g")
			takes(t, s, byGUID(e)[0])
			_, err := claim(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			e, err = settle(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			knows(t, s, byGUID(called("a", 2, "g"))[0], e)
			require.NoError(t, s.Close())
			knows(t, open(t), byGUID(called("a", 3, "g"))[0], e)
		}},
		{"its own address is known before its guid", func(t *testing.T, open Opener) {
			s, first, second := open(t), called("a", 1, "g"), called("a", 2, "g")
			second.Article.Published = first.Article.Published.Add(31 * day)
			takes(t, s, byGUID(first)[0])
			takes(t, s, byGUID(second)[0])
			for _, e := range []queue.Entry{first, second} {
				known, err := s.Insert(t.Context(), byGUID(e))
				require.NoError(t, err)
				require.Equal(t, []queue.Known{queue.KnownAs(e, false)}, known)
			}
		}},
		{"only the guid of the same source, at the same destination, in the same bucket", func(t *testing.T, open Opener) {
			s, e := open(t), called("a", 1, "g")
			takes(t, s, byGUID(e)[0])
			source, bucket, none := called("a", 2, "g"), called("a", 3, "g"), called("a", 4, "")
			source.Article.Source = "another"
			bucket.Key.Bucket = "weekly 2026-08-03"
			bucket.ID = bucket.Key.ID()
			for _, other := range []queue.Entry{source, bucket, none, called("b", 1, "g"), called("a", 5, "G")} {
				takes(t, s, byGUID(other)[0])
			}
		}},
		{"guids that differ as http and https, or in a host's case, are one", func(t *testing.T, open Opener) {
			s, e := open(t), called("a", 1, "http://Example.JP/?p=1")
			takes(t, s, byGUID(e)[0])
			for n, guid := range []string{"https://example.jp/?p=1", "HTTPS://EXAMPLE.jp/?p=1", " http://example.jp/?p=1\n"} {
				knows(t, s, byGUID(called("a", 10+n, guid))[0], e)
			}
			takes(t, s, byGUID(called("a", 2, "http://example.jp/?P=1"))[0])
			require.NoError(t, s.Close())
			knows(t, open(t), byGUID(called("a", 20, "https://example.jp/?p=1"))[0], e)
		}},
		{"guids of all lengths and letters are found again", func(t *testing.T, open Opener) {
			s := open(t)
			var all []queue.Entry
			for n, guid := range []string{"1", "h", "http://a", "HTTPS://B", "http://a/b/c/d/e/f", "yt:video:x", "題名", "\"\\\u2028", "a|b", "1234567", "12345678", "123456789"} {
				e := called("a", n, guid)
				e.Status, e.DueAt = queue.Skipped, time.Time{}
				takes(t, s, byGUID(e)[0])
				all = append(all, e)
			}
			require.NoError(t, s.Close())
			s = open(t)
			for n, e := range all {
				knows(t, s, byGUID(called("a", 100+n, e.Article.GUID))[0], e)
			}
		}},
		{"a guid that comes again after more than thirty days is another article's", func(t *testing.T, open Opener) {
			s, first := open(t), called("a", 1, "g")
			at := first.Article.Published
			takes(t, s, byGUID(first)[0])
			dated := func(n int, published time.Time) queue.Candidate {
				e := called("a", n, "g")
				e.Article.Published = published
				return byGUID(e)[0]
			}
			for n, published := range []time.Time{at.Add(30 * day), at.Add(-400 * day), {}} {
				knows(t, s, dated(10+n, published), first)
			}
			second := dated(2, at.Add(30*day+time.Millisecond))
			takes(t, s, second)
			knows(t, s, dated(20, at.Add(60*day)), *second.Entry)
			third := dated(3, at.Add(61*day))
			takes(t, s, third)
			require.NoError(t, s.Close())
			knows(t, open(t), dated(30, at.Add(90*day)), *third.Entry)
		}},
		{"an article without a date keeps its guid for good", func(t *testing.T, open Opener) {
			s, e := open(t), called("a", 1, "g")
			e.Article.Published = time.Time{}
			takes(t, s, byGUID(e)[0])
			late := called("a", 2, "g")
			late.Article.Published = Now().Add(1000 * day)
			knows(t, s, byGUID(late)[0], e)
		}},
		{"a candidate without origins goes by its address, and is known to those with", func(t *testing.T, open Opener) {
			s, first, second := open(t), called("a", 1, "g"), called("a", 2, "g")
			insert(t, s, first, second)
			known, err := s.Lookup(t.Context(), byGUID(called("a", 3, "g")))
			require.NoError(t, err)
			require.Contains(t, []string{first.ID, second.ID}, known[0].ID)
			require.Contains(t, []string{first.Article.URL, second.Article.URL}, known[0].RenamedFrom)
		}},
		{"an article is known under the guid that it had at an earlier webhook", func(t *testing.T, open Opener) {
			s, former, now := open(t), called("former webhook", 1, "g"), called("webhook", 2, "g")
			takes(t, s, byGUID(former)[0])
			c := byGUID(now)[0]
			c.Origins = append(c.Origins, former.Origin())
			knows(t, s, c, former)
		}},
		{"what a rule counts has no guid, and what it decided against has one of its own", func(t *testing.T, open Opener) {
			s := open(t)
			of := func(n int, url string) queue.Entry {
				e := called("a", n, "g")
				e.Key.URL, e.Status, e.DueAt = url, queue.Skipped, time.Time{}
				e.ID = e.Key.ID()
				return e
			}
			counted, against := of(1, "rule/r/source/s"), of(2, "rule/r/article/https://example.jp/2")
			takes(t, s, byGUID(counted)[0])
			takes(t, s, byGUID(against)[0])
			knows(t, s, byGUID(of(3, "rule/r/article/https://example.jp/3"))[0], against)
			takes(t, s, byGUID(of(4, "rule/other/article/https://example.jp/4"))[0])
			takes(t, s, byGUID(called("a", 5, "g"))[0])
		}},
		{"of one article under two addresses in one call the first is inserted", func(t *testing.T, open Opener) {
			s, first, second := open(t), called("a", 1, "g"), called("a", 2, "g")
			for _, call := range []func() ([]queue.Known, error){
				func() ([]queue.Known, error) { return s.Lookup(t.Context(), byGUID(first, second)) },
				func() ([]queue.Known, error) { return s.Insert(t.Context(), byGUID(first, second)) },
			} {
				known, err := call()
				require.NoError(t, err)
				require.Equal(t, []queue.Known{{}, queue.KnownAs(first, true)}, known)
			}
			require.Equal(t, []queue.Entry{first}, list(t, s.All(t.Context())))
		}},
		{"two articles of one guid, long apart, are both inserted in one call", func(t *testing.T, open Opener) {
			s, first, second := open(t), called("a", 1, "g"), called("a", 2, "g")
			second.Article.Published = first.Article.Published.Add(31 * day)
			known, err := s.Insert(t.Context(), byGUID(first, second))
			require.NoError(t, err)
			require.Equal(t, []queue.Known{{}, {}}, known)
			require.Len(t, list(t, s.All(t.Context())), 2)
		}},
		{"what is forgotten is not known by its guid", func(t *testing.T, open Opener) {
			s := open(t)
			for _, e := range []queue.Entry{called("a", 1, "g"), called("a", 2, "g")} {
				e.Status, e.DueAt = queue.Posted, time.Time{}
				takes(t, s, byGUID(e)[0])
				require.NoError(t, s.Close())
				s = open(t)
				require.NoError(t, s.Delete(t.Context(), e.ID))
			}
			takes(t, s, byGUID(called("a", 3, "g"))[0])
			require.NoError(t, s.Close())
			takes(t, open(t), byGUID(called("a", 4, "another"))[0])
		}},
		{"another handle knows it by its guid at once", func(t *testing.T, open Opener) {
			s, other, e := open(t), open(t), called("a", 1, "g")
			known, err := other.Lookup(t.Context(), byGUID(called("a", 2, "g")))
			require.NoError(t, err)
			require.True(t, known[0].New())
			takes(t, s, byGUID(e)[0])
			knows(t, other, byGUID(called("a", 2, "g"))[0], e)
		}},
		{"eight handles insert two hundred articles under an address each, and each article is inserted once", func(t *testing.T, open Opener) {
			const articles = 200
			handles := openAll(t, open, 8)
			var won [articles]atomic.Int32
			inParallel(8, func(n int) {
				var all []queue.Entry
				for i := range articles {
					e := called("a", 1000*n+i, fmt.Sprint("guid ", i))
					e.Article = poster.Article{URL: e.Article.URL, GUID: e.Article.GUID, Source: e.Article.Source, Published: e.Article.Published}
					all = append(all, e)
				}
				known, err := handles[n].Insert(t.Context(), byGUID(all...))
				if !noError(t, err) {
					return
				}
				for i, k := range known {
					if k.New() {
						won[i].Add(1)
					} else if k.RenamedFrom == "" {
						t.Errorf("article %d is known, and not as one under another address: %+v", i, k)
					}
				}
			})
			for i := range won {
				require.EqualValues(t, 1, won[i].Load())
			}
			guids := map[string]int{}
			for _, e := range list(t, handles[0].All(t.Context())) {
				guids[e.Article.GUID]++
			}
			require.Len(t, guids, articles)
			require.Len(t, list(t, handles[1].All(t.Context())), articles)
		}},
	}
}
