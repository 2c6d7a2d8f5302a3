package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

func racing() []property {
	return []property{
		{"eight handles insert the same two hundred, and each is inserted once", func(t *testing.T, open Opener) {
			handles := openAll(t, open, 8)
			all := several("a", 200)
			var won [200]atomic.Int32
			inParallel(8, func(n int) {
				known, err := handles[n].Insert(t.Context(), candidates(all...))
				if !noError(t, err) {
					return
				}
				for i, k := range known {
					if k.New() {
						won[i].Add(1)
					}
				}
			})
			for i := range won {
				require.EqualValues(t, 1, won[i].Load())
			}
			for _, s := range handles {
				require.Len(t, list(t, s.All(t.Context())), 200)
			}
		}},
		{"sixteen handles claim one entry, and one has it", func(t *testing.T, open Opener) {
			handles := openAll(t, open, 16)
			e := Entry("a", 1)
			insert(t, handles[0], e)
			raceFor(t, e.ID, func(n int) queue.Store { return handles[n] })
		}},
		{"sixteen goroutines claim one entry through one handle, and one has it", func(t *testing.T, open Opener) {
			s, e := open(t), Entry("a", 1)
			insert(t, s, e)
			raceFor(t, e.ID, func(int) queue.Store { return s })
		}},
		{"sixteen workers take and settle two hundred, each once", func(t *testing.T, open Opener) {
			handles := openAll(t, open, 4)
			insert(t, handles[0], several("a", 200)...)
			var mu sync.Mutex
			took := map[string]int{}
			inParallel(16, func(n int) {
				s, by := handles[n%4], fmt.Sprint("worker ", n)
				for e, err := range s.Due(t.Context(), Now().Add(time.Hour)) {
					if !noError(t, err) {
						return
					}
					_, err := claim(t.Context(), s, e.ID, by)
					if errors.Is(err, queue.ErrNotDue) {
						continue
					}
					if !noError(t, err) {
						return
					}
					mu.Lock()
					took[e.ID]++
					mu.Unlock()
					if _, err := settle(t.Context(), s, e.ID, by); !noError(t, err) {
						return
					}
				}
			})
			require.Len(t, took, 200)
			for _, n := range took {
				require.Equal(t, 1, n)
			}
			for _, e := range list(t, handles[1].All(t.Context())) {
				require.Equal(t, queue.Posted, e.Status)
			}
		}},
		{"no count in a small record is lost", func(t *testing.T, open Opener) {
			handles := openAll(t, open, 4)
			inParallel(8, func(n int) {
				for range 25 {
					err := handles[n%4].UpdateBook(t.Context(), "rule/x/count", func(old json.RawMessage) (json.RawMessage, error) {
						var count int
						if old != nil {
							if err := json.Unmarshal(old, &count); err != nil {
								return nil, err
							}
						}
						return json.Marshal(count + 1)
					})
					if !noError(t, err) {
						return
					}
				}
			})
			got, err := handles[0].Book(t.Context(), "rule/x/count")
			require.NoError(t, err)
			require.Equal(t, "200", string(got))
		}},
		{"handles that are opened and closed all the time lose nothing", func(t *testing.T, open Opener) {
			inParallel(4, func(worker int) {
				for n := range 10 {
					s, e := open(t), Entry(fmt.Sprint(worker), n)
					_, err := s.Insert(t.Context(), candidates(e))
					if !noError(t, err) {
						return
					}
					if _, err := claim(t.Context(), s, e.ID, "worker"); !noError(t, err) {
						return
					}
					if n%2 == 0 {
						if _, err := settle(t.Context(), s, e.ID, "worker"); !noError(t, err) {
							return
						}
					}
					if !noError(t, s.Close()) {
						return
					}
				}
			})
			states := map[queue.Status]int{}
			for _, e := range list(t, open(t).All(t.Context())) {
				states[e.Status]++
			}
			require.Equal(t, map[queue.Status]int{queue.Posted: 20, queue.Sending: 20}, states)
		}},
	}
}

// raceFor lets sixteen workers claim one entry at the same time.
func raceFor(t *testing.T, id string, handle func(n int) queue.Store) {
	var won, lost atomic.Int32
	inParallel(16, func(n int) {
		_, err := claim(t.Context(), handle(n), id, fmt.Sprint("worker ", n))
		switch {
		case err == nil:
			won.Add(1)
		case errors.Is(err, queue.ErrNotDue):
			lost.Add(1)
		default:
			t.Error(err)
		}
	})
	require.EqualValues(t, 1, won.Load())
	require.EqualValues(t, 15, lost.Load())
	require.Equal(t, 1, get(t, handle(0), id).Attempts)
}

func openAll(t *testing.T, open Opener, n int) []queue.Store {
	var all []queue.Store
	for range n {
		all = append(all, open(t))
	}
	return all
}

// noError reports an error in a way that a goroutine may.
func noError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return err == nil
}
