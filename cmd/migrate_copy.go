package cmd

import (
	"context"
	"crypto/sha256"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"bot/queue"

	"golang.org/x/time/rate"
)

const (
	// copyChunk is how many entries are copied with one step, and copiers how many
	// steps are made side by side.
	copyChunk = 300
	copiers   = 4
	// A collection that is new to Firestore takes so many writes a second at first,
	// and half as many again every five minutes ("500/50/5",
	// https://firebase.google.com/docs/firestore/best-practices).
	firstRate  = 500
	rateGrowth = 1.5
	rateStep   = 5 * time.Minute
)

// digest tells whether an entry has changed.
type digest [16]byte

func digestOf(e queue.Entry) (digest, error) {
	record, err := queue.MarshalRecord(e)
	sum := sha256.Sum256(record)
	return digest(sum[:16]), err
}

// ramp lets entries through at the speed that Firestore takes them at.
type ramp struct {
	limiter *rate.Limiter // nil: as fast as can be
	began   time.Time
}

func (a *app) ramp() *ramp {
	if a.env.Getenv("FIRESTORE_EMULATOR_HOST") != "" {
		return &ramp{}
	}
	return &ramp{limiter: rate.NewLimiter(firstRate, firstRate), began: time.Now()}
}

func (r *ramp) wait(ctx context.Context, n int) error {
	if r.limiter == nil {
		return ctx.Err()
	}
	r.limiter.SetLimit(rampRate(time.Since(r.began)))
	return r.limiter.WaitN(ctx, n)
}

// rampRate is how many entries a second are copied so long after the beginning.
func rampRate(after time.Duration) rate.Limit {
	return rate.Limit(firstRate * math.Pow(rateGrowth, float64(after/rateStep)))
}

// copy copies the local entries but those whose digest is known and the same, and
// returns the digests of all.
func (m *migration) copy(ctx context.Context, known map[string]digest) (map[string]digest, error) {
	all := make(map[string]digest)
	var mu sync.Mutex
	speed := m.a.ramp()
	err := m.inChunks(ctx, "copied", m.report.Records.Total, func(e queue.Entry) (bool, error) {
		d, err := digestOf(e)
		all[e.ID] = d
		return known[e.ID] != d, err
	}, func(ctx context.Context, chunk []queue.Entry) error {
		if err := speed.wait(ctx, len(chunk)); err != nil {
			return err
		}
		done, err := m.shared.Copy(ctx, chunk)
		mu.Lock()
		defer mu.Unlock()
		m.report.Created += done.Created
		m.report.Replaced += done.Replaced
		m.report.Same += done.Same
		return err
	})
	return all, err
}

// compare compares every local entry with its copy.
func (m *migration) compare(ctx context.Context, total int) error {
	var mu sync.Mutex
	return m.inChunks(ctx, "verified", total, nil, func(ctx context.Context, chunk []queue.Entry) error {
		found, err := m.shared.Differences(ctx, chunk)
		mu.Lock()
		defer mu.Unlock()
		m.report.Differences = append(m.report.Differences, found...)
		return err
	})
}

// inChunks does something with the local entries that take says (nil: all), a
// chunk at a time and several chunks side by side. The first error ends it.
func (m *migration) inChunks(ctx context.Context, what string, total int, take func(queue.Entry) (bool, error), do func(context.Context, []queue.Entry) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := m.a.progress(what, total)
	defer bar.done()
	work := make(chan []queue.Entry)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range copiers {
		wg.Go(func() {
			for chunk := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := do(ctx, chunk); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				bar.advance(len(chunk))
				mu.Unlock()
			}
		})
	}
	err := m.chunks(ctx, take, work)
	close(work)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (m *migration) chunks(ctx context.Context, take func(queue.Entry) (bool, error), work chan<- []queue.Entry) error {
	var chunk []queue.Entry
	for e, err := range m.local.All(ctx) {
		if err != nil {
			return err
		}
		if take != nil {
			if ok, err := take(e); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		if chunk = append(chunk, e); len(chunk) == copyChunk {
			work <- chunk
			chunk = nil
		}
	}
	if len(chunk) > 0 {
		work <- chunk
	}
	return nil
}

// present reports whether there is a local ledger in the directory.
func present(dir string) bool {
	for _, name := range []string{"posted.json", "queue.json", "ledger.json", "journal.jsonl"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
