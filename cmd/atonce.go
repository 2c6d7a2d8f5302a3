package cmd

import (
	"errors"
	"sync"
	"sync/atomic"
)

// stepsAtOnce is how many small records are read or written at a time. A local
// ledger writes those together that come together, with one sync; a shared one is
// far away.
const stepsAtOnce = 64

// atOnce calls do for each of the first n numbers, several at a time, and returns
// what went wrong. It begins nothing more after an error.
func atOnce(n int, do func(i int) error) error {
	var next atomic.Int64
	var mu sync.Mutex
	var errs []error
	var workers sync.WaitGroup
	for range min(n, stepsAtOnce) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					next.Store(int64(n))
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}
