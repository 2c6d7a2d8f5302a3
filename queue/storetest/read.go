package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

func reading() []property {
	return []property{
		{"due are those whose time has come, earliest first", func(t *testing.T, open Opener) {
			s := open(t)
			var want []queue.Entry
			for _, n := range []int{7, 3, 9, 1, 5} {
				e := Entry("a", n)
				insert(t, s, e)
				if n <= 7 {
					want = append(want, e)
				}
			}
			slices.SortFunc(want, func(a, b queue.Entry) int { return a.DueAt.Compare(b.DueAt) })
			require.Equal(t, want, list(t, s.Due(t.Context(), Now().Add(7*time.Second))), "one due at the very time is due")
			require.Equal(t, want[:3], list(t, s.Due(t.Context(), Now().Add(7*time.Second-time.Millisecond))))
		}},
		{"of those due at the same time the one queued first comes first, then by ID", func(t *testing.T, open Opener) {
			s := open(t)
			var all []queue.Entry
			for n := range 20 {
				e := Entry("a", n)
				e.DueAt = Now()
				e.QueuedAt = Now().Add(time.Duration(n/5) * -time.Millisecond)
				all = append(all, e)
			}
			insert(t, s, all...)
			slices.SortFunc(all, func(a, b queue.Entry) int {
				return cmp.Or(a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
			})
			require.Equal(t, all, list(t, s.Due(t.Context(), Now())))
		}},
		{"only queued entries and those being sent are ever due", func(t *testing.T, open Opener) {
			s := open(t)
			insert(t, s, everyStatus()...)
			var states []queue.Status
			for _, e := range list(t, s.Due(t.Context(), Now().Add(1000*time.Hour))) {
				states = append(states, e.Status)
			}
			require.Equal(t, []queue.Status{queue.Queued, queue.Sending}, states)
		}},
		{"whoever lists may stop, and may update what is listed", func(t *testing.T, open Opener) {
			s := open(t)
			insert(t, s, several("a", 10)...)
			for e, err := range s.Due(t.Context(), Now().Add(time.Hour)) {
				require.NoError(t, err)
				_, err := claim(t.Context(), s, e.ID, "worker")
				require.NoError(t, err)
				if e.ID == Entry("a", 4).ID {
					break
				}
			}
			for _, err := range s.All(t.Context()) {
				require.NoError(t, err)
				break
			}
			for _, err := range s.Waiting(t.Context()) {
				require.NoError(t, err)
				break
			}
			require.Len(t, list(t, s.Due(t.Context(), Now().Add(time.Hour))), 5)
		}},
		{"all are all, once each, and waiting are those not final", func(t *testing.T, open Opener) {
			s, all := open(t), everyStatus()
			check := func() {
				t.Helper()
				require.ElementsMatch(t, all, list(t, s.All(t.Context())))
				require.ElementsMatch(t, all[:5], list(t, s.Waiting(t.Context())))
			}
			insert(t, s, all...)
			check()
			require.NoError(t, s.Close())
			s = open(t)
			check()
		}},
		{"an ended context ends every method", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			insert(t, s, e)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := s.Lookup(ctx, candidates(e))
			require.ErrorIs(t, err, context.Canceled)
			_, err = s.Insert(ctx, candidates(Entry("a", 2)))
			require.ErrorIs(t, err, context.Canceled)
			_, err = s.Insert(ctx, nil)
			require.ErrorIs(t, err, context.Canceled)
			_, err = s.Get(ctx, e.ID)
			require.ErrorIs(t, err, context.Canceled)
			_, err = claim(ctx, s, e.ID, "worker")
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, s.Delete(ctx, e.ID), context.Canceled)
			_, err = s.Book(ctx, "a/b")
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, s.UpdateBook(ctx, "a/b", nil), context.Canceled)
			for _, seq := range []func(func(queue.Entry, error) bool){s.All(ctx), s.Waiting(ctx), s.Due(ctx, Now())} {
				n := 0
				for _, err := range seq {
					require.ErrorIs(t, err, context.Canceled)
					n++
				}
				require.Equal(t, 1, n)
			}
			require.Equal(t, []queue.Entry{e}, list(t, s.All(t.Context())))
		}},
	}
}
