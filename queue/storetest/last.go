package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func lasting() []property {
	return []property{
		{"an entry of every state is the same after a reopening", func(t *testing.T, open Opener) {
			s, all := open(t), everyStatus()
			insert(t, s, all...)
			require.NoError(t, s.Close())
			for range 2 {
				s = open(t)
				for _, e := range all {
					require.Equal(t, e, get(t, s, e.ID))
				}
				require.NoError(t, s.Close())
			}
		}},
		{"another handle sees a change at once", func(t *testing.T, open Opener) {
			s, other, e := open(t), open(t), Entry("a", 1)
			insert(t, s, e)
			require.Equal(t, e, get(t, other, e.ID))
			_, err := claim(t.Context(), other, e.ID, "worker")
			require.NoError(t, err)
			require.Equal(t, queue.Sending, get(t, s, e.ID).Status)
			require.NoError(t, s.UpdateBook(t.Context(), "a/b", func(json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage("1"), nil
			}))
			got, err := other.Book(t.Context(), "a/b")
			require.NoError(t, err)
			require.Equal(t, "1", string(got))
		}},
		{"a handle goes on where another is closed in between", func(t *testing.T, open Opener) {
			s, other := open(t), open(t)
			for n := range 6 {
				e := Entry("a", n)
				insert(t, other, e)
				_, err := claim(t.Context(), other, e.ID, "worker")
				require.NoError(t, err)
				require.NoError(t, other.Close())
				_, err = settle(t.Context(), s, e.ID, "worker")
				require.NoError(t, err)
				other = open(t)
				require.Equal(t, queue.Posted, get(t, other, e.ID).Status)
			}
			require.Len(t, list(t, s.All(t.Context())), 6)
		}},
		{"small records last", func(t *testing.T, open Opener) {
			s := open(t)
			for _, name := range []string{"source/manga", "destination/x", "gone"} {
				require.NoError(t, s.UpdateBook(t.Context(), name, func(json.RawMessage) (json.RawMessage, error) {
					return json.Marshal(map[string]string{"name": name})
				}))
			}
			require.NoError(t, s.UpdateBook(t.Context(), "gone", func(json.RawMessage) (json.RawMessage, error) { return nil, nil }))
			require.NoError(t, s.Close())
			s = open(t)
			for _, name := range []string{"source/manga", "destination/x"} {
				got, err := s.Book(t.Context(), name)
				require.NoError(t, err)
				require.JSONEq(t, `{"name":"`+name+`"}`, string(got))
			}
			got, err := s.Book(t.Context(), "gone")
			require.NoError(t, err)
			require.Nil(t, got)
		}},
		{"times are kept in whole milliseconds, in UTC", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			e.DueAt = time.Date(2026, 12, 31, 23, 59, 59, 999e6, time.UTC)
			insert(t, s, e)
			require.NoError(t, s.Close())
			got := get(t, open(t), e.ID)
			require.Equal(t, e.DueAt, got.DueAt)
			require.Equal(t, time.UTC, got.DueAt.Location())
		}},
		{"members this program does not know are carried along", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			e.Extra = jsontext.Value(`{"x_note":"残す","x_list":[1,{"a":null}]}`)
			insert(t, s, e)
			_, err := claim(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			_, err = settle(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.JSONEq(t, string(e.Extra), string(get(t, open(t), e.ID).Extra))
		}},
		{"texts of any kind and size come back as they were", func(t *testing.T, open Opener) {
			s := open(t)
			texts := []string{strings.Repeat("長い要約 ", 100_000), "\"\\/\b\f\n\r\t\u0000\u001f\u2028\ufeff", "<b>&amp;</b>", "👩‍👩‍👧"}
			var all []queue.Entry
			for n, text := range texts {
				e := Entry("a", n)
				e.Article.Summary, e.Article.Title = text, text
				all = append(all, e)
			}
			insert(t, s, all...)
			require.NoError(t, s.Close())
			s = open(t)
			for _, e := range all {
				require.Equal(t, e, get(t, s, e.ID))
			}
		}},
		{"what was done before the context ended is kept by Close", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Insert(ctx, candidates(e))
			require.NoError(t, err)
			cancel()
			require.NoError(t, s.Close())
			require.Equal(t, e, get(t, open(t), e.ID))
		}},
		{"a second Close does nothing, and a closed store answers nothing", func(t *testing.T, open Opener) {
			s := open(t)
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			_, err := s.Get(t.Context(), "x")
			require.Error(t, err)
		}},
	}
}
