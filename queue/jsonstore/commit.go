package jsonstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"bot/queue"

	"golang.org/x/sys/unix"
)

// op is one step on the ledger that waits for its turn. Steps that wait at the
// same time are taken together, under one lock and with one write and one sync:
// whoever comes first does it for all.
type op struct {
	// apply reads the view and says what becomes of it. If it returns an error
	// nothing of that is kept.
	apply func(*batch) error
	// after runs when it is written, still under the lock. Nil: nothing.
	after func() error
	// quick: it needs to see what is in the journal, and no more.
	quick bool
	err   error
	// journal is where it was written, up to end, if it has to be on the disk before
	// it counts as done. Whoever asked for it sees to that, without the lock.
	journal *journal
	end     int64
	// wake tells the waiting goroutine that its step is done, or that it leads.
	wake chan struct{}
	lead bool // set before wake
}

// do runs o on the ledger as it stands, under the lock, and makes what it did
// durable as far as it needs to be. o may be run by another goroutine.
func (s *Store) do(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	if s.readOnly {
		defer s.mu.Unlock()
		return s.look(o)
	}
	s.running.Add(1)
	defer s.running.Done()
	lead := !s.leading
	if !lead {
		o.wake = make(chan struct{}, 1)
	}
	s.pending = append(s.pending, o)
	s.leading = true
	s.mu.Unlock()
	if !lead {
		if !s.await(ctx, o) {
			return ctx.Err()
		}
		lead = o.lead
	}
	if lead {
		s.leadFor(ctx, o)
	}
	if o.journal != nil {
		if err := o.journal.finish(o.end); err != nil && o.err == nil {
			o.err = s.noted(err)
		}
	}
	return o.err
}

// look runs o on a store for reading only.
func (s *Store) look(o *op) error {
	b := &batch{s: s}
	s.records = reuse(s.records)
	if err := o.apply(b); err != nil {
		return err
	}
	if len(b.step.events) > 0 || o.after != nil {
		return ErrReadOnly
	}
	return nil
}

// await waits until o is done or leads. It reports false if ctx ended before
// anyone took o, which is then withdrawn.
func (s *Store) await(ctx context.Context, o *op) bool {
	select {
	case <-o.wake:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	waiting := slices.Index(s.pending, o)
	if waiting >= 0 {
		s.pending = slices.Delete(s.pending, waiting, waiting+1)
		if o.lead {
			s.handOver()
		}
	}
	s.mu.Unlock()
	if waiting < 0 {
		<-o.wake // It is being written at this moment.
	}
	return waiting < 0
}

// leadFor takes the lock and does all that waits, own among it.
func (s *Store) leadFor(ctx context.Context, own *op) {
	err := s.lock.acquire(ctx, unix.LOCK_EX)
	s.gather()
	s.mu.Lock()
	ops := s.pending
	s.pending = nil
	if s.alone++; len(ops) > 1 {
		s.alone = 0
	}
	if err != nil && !errors.Is(err, queue.ErrLocked) {
		// It was this goroutine's own context, and is no matter of the others.
		s.pending = slices.DeleteFunc(ops, func(o *op) bool { return o == own })
		ops = []*op{own}
	}
	s.mu.Unlock()
	if err == nil {
		err = s.commit(ops)
		if rerr := s.lock.release(); err == nil {
			err = rerr
		}
	}
	for _, o := range ops {
		if o.err == nil {
			o.err = err
		}
		if o != own {
			o.wake <- struct{}{}
		}
	}
	s.mu.Lock()
	s.handOver()
	s.mu.Unlock()
}

// aWhile is how many steps one worker makes alone before nobody else is waited for.
const aWhile = 16

// gather lets others run as long as that brings more steps. Workers that were woken
// together want their next step together, and without this the first of them would
// go alone and the others wait for its sync. A worker that has been alone for a while
// goes at once.
func (s *Store) gather() {
	for before := 0; ; {
		s.mu.Lock()
		now, alone := len(s.pending), s.alone >= aWhile
		s.mu.Unlock()
		if now == before || now == 1 && alone {
			return
		}
		before = now
		runtime.Gosched()
	}
}

// handOver lets the first that waits lead. It is called under s.mu by whoever led.
func (s *Store) handOver() {
	s.leading = len(s.pending) > 0
	if s.leading {
		first := s.pending[0]
		first.lead = true
		first.wake <- struct{}{}
	}
}

// commit applies ops in their order. It is called under the lock. The error is
// every op's: nothing of any was kept.
func (s *Store) commit(ops []*op) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	if broken != nil {
		return broken
	}
	quick := !slices.ContainsFunc(ops, func(o *op) bool { return !o.quick })
	if err := s.refresh(quick); err != nil {
		return err
	}
	b := &batch{s: s}
	s.records = reuse(s.records)
	var synced []*op
	for _, o := range ops {
		if o.err = o.apply(b); o.err != nil {
			b.dropStep()
			continue
		}
		if b.step.sync {
			synced = append(synced, o)
		}
		b.keepStep()
	}
	if err := b.write(); err != nil {
		return s.noted(err)
	}
	for _, o := range synced {
		o.journal, o.end = s.journal, s.journal.end
		o.journal.hold()
	}
	for _, o := range ops {
		if o.err == nil && o.after != nil {
			o.err = s.noted(o.after())
		}
	}
	return nil
}

// noted returns err, and lets nothing be done any more if it is poison.
func (s *Store) noted(err error) error {
	if p, ok := errors.AsType[*poison](err); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = fmt.Errorf("the ledger cannot be trusted until it is opened again: %w", p.err)
	}
	return err
}

// reuse returns the space of buf, unless it was a lot.
func reuse(buf []byte) []byte {
	const most = 1 << 20
	if cap(buf) > most {
		return nil
	}
	return buf[:0]
}
