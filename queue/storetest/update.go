package storetest

import (
	"encoding/json"
	"errors"
	"testing"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused by the change")

func updating() []property {
	return []property{
		{"an update replaces the entry and returns it", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			insert(t, s, e)
			got, err := claim(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			require.Equal(t, queue.Sending, got.Status)
			require.Equal(t, got, get(t, s, e.ID))
			got, err = settle(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			require.Equal(t, queue.Posted, got.Status)
			require.Equal(t, got, get(t, s, e.ID))
		}},
		{"an update of an entry that is not there is ErrNotFound", func(t *testing.T, open Opener) {
			_, err := claim(t.Context(), open(t), Entry("a", 1).ID, "worker")
			require.ErrorIs(t, err, queue.ErrNotFound)
		}},
		{"the change's error is returned and leaves the entry as it was", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			insert(t, s, e)
			_, err := s.Update(t.Context(), e.ID, func(e queue.Entry) (queue.Entry, error) {
				e.Article.Title = "changed"
				return e, errRefused
			})
			require.ErrorIs(t, err, errRefused)
			require.Equal(t, e, get(t, s, e.ID))
		}},
		{"what the caller does to an entry it was given does not reach the ledger", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			e.Article.Categories = []string{"manga"}
			insert(t, s, e)
			get(t, s, e.ID).Article.Categories[0] = "changed"
			_, err := s.Update(t.Context(), e.ID, func(e queue.Entry) (queue.Entry, error) {
				e.Article.Categories[0] = "changed"
				return e, errRefused
			})
			require.ErrorIs(t, err, errRefused)
			e.Article.Categories[0] = "changed"
			require.Equal(t, []string{"manga"}, get(t, s, e.ID).Article.Categories)
		}},
		{"a final entry can be updated, and is found in its new state", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			e.Status, e.Reason = queue.Skipped, "old"
			insert(t, s, e)
			require.NoError(t, s.Close())
			s = open(t)
			got, err := s.Update(t.Context(), e.ID, func(e queue.Entry) (queue.Entry, error) { return queue.Retry(e, Now()) })
			require.NoError(t, err)
			require.Equal(t, queue.Queued, got.Status)
			require.NoError(t, s.Close())
			s = open(t)
			require.Equal(t, []queue.Entry{got}, list(t, s.All(t.Context())))
			require.Equal(t, []queue.Entry{got}, list(t, s.Waiting(t.Context())))
		}},
		{"a deleted entry is unknown, and can be inserted again", func(t *testing.T, open Opener) {
			s := open(t)
			for _, e := range everyStatus() {
				insert(t, s, e)
				require.NoError(t, s.Delete(t.Context(), e.ID))
				_, err := s.Get(t.Context(), e.ID)
				require.ErrorIs(t, err, queue.ErrNotFound)
				require.ErrorIs(t, s.Delete(t.Context(), e.ID), queue.ErrNotFound)
				insert(t, s, e)
				require.Equal(t, e, get(t, s, e.ID))
			}
		}},
		{"an entry deleted after a reopening stays deleted", func(t *testing.T, open Opener) {
			s, all := open(t), everyStatus()
			insert(t, s, all...)
			require.NoError(t, s.Close())
			s = open(t)
			for _, e := range all[1:] {
				require.NoError(t, s.Delete(t.Context(), e.ID))
			}
			require.Equal(t, all[:1], list(t, s.All(t.Context())))
			require.NoError(t, s.Close())
			s = open(t)
			require.Equal(t, all[:1], list(t, s.All(t.Context())))
			insert(t, s, all[1:]...)
		}},
		{"a deletion of what is not there is ErrNotFound", func(t *testing.T, open Opener) {
			require.ErrorIs(t, open(t).Delete(t.Context(), Entry("a", 1).ID), queue.ErrNotFound)
		}},
		{"a small record is nil until it is written, and after it is forgotten", func(t *testing.T, open Opener) {
			s := open(t)
			write := func(was, is string) {
				t.Helper()
				require.NoError(t, s.UpdateBook(t.Context(), "source/manga", func(old json.RawMessage) (json.RawMessage, error) {
					if was == "" {
						require.Nil(t, old)
					} else {
						require.JSONEq(t, was, string(old))
					}
					if is == "" {
						return nil, nil
					}
					return json.RawMessage(is), nil
				}))
				got, err := s.Book(t.Context(), "source/manga")
				require.NoError(t, err)
				if is == "" {
					require.Nil(t, got)
				} else {
					require.JSONEq(t, is, string(got))
				}
			}
			write("", `{"etag":"\"1\"", "n":[1, 2]}`)
			write(`{"etag":"\"1\"","n":[1,2]}`, `{"etag":"2"}`)
			write(`{"etag":"2"}`, "")
			write("", "7")
			other, err := s.Book(t.Context(), "source/other")
			require.NoError(t, err)
			require.Nil(t, other)
		}},
		{"the error of a change to a small record leaves it as it was", func(t *testing.T, open Opener) {
			s := open(t)
			set := func(value string, err error) error {
				return s.UpdateBook(t.Context(), "a/b", func(json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(value), err
				})
			}
			require.NoError(t, set("1", nil))
			require.ErrorIs(t, set("2", errRefused), errRefused)
			require.Error(t, set(`{"not":json}`, nil))
			got, err := s.Book(t.Context(), "a/b")
			require.NoError(t, err)
			require.Equal(t, "1", string(got))
		}},
	}
}
