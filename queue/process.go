package queue

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Lease is how long a claim is taken for alive when nothing else is known of
	// its worker. It is far longer than a send and its record can take.
	Lease = 10 * time.Minute
	// laneLimit is how many destinations are served at the same time.
	laneLimit = 32
)

// Processor makes one bounded pass over what is due. It claims first and sends
// second: a send happens if, and only if, this worker's claim was inserted.
type Processor struct {
	// Queue is the rules and the ledger.
	Queue *Queue
	// Worker names this process in claims.
	Worker string
	// Gone tells that the worker of a claim is certainly dead. Nil: nobody knows,
	// and only the lease tells.
	Gone func(worker string) bool
	// Token makes the token of a claim: fresh and unguessable.
	Token func() string
	// Report is told of every attempt as it ends, one at a time. Nil: nobody is.
	Report func(Sent)
	// Observe is told how long each step took, which is claim or send, perhaps
	// several at a time. Nil: nobody is.
	Observe func(step string, took time.Duration)
}

// ProcessOptions steer one pass.
type ProcessOptions struct {
	// Limit is the greatest number of attempts. Zero: no limit.
	Limit int
	// To names the only destinations that are served. Empty: all.
	To []string
	// DryRun renders what is due and claims nothing.
	DryRun bool
}

// Processed is what one pass did.
type Processed struct {
	// Due counts the entries that were due, and the others how they ended. Entries
	// that had to wait, or that another worker took, are in Due alone.
	Due, Posted, Shadow, Later, Failed, Uncertain int
	// Sent is one for each entry that was dealt with, in the order of ending.
	Sent []Sent
	// Notices say what else a person should know, such as that a destination is
	// paused.
	Notices []Notice
	// Stray are the entries that were due and belong to no configured destination.
	Stray []Entry
}

// Sent is how one entry was dealt with.
type Sent struct {
	// Entry is the entry as it is now.
	Entry Entry
	// Destination is the name in the config, which older records lack.
	Destination string
	// Outcome is delivered, later, rejected or unknown. Empty for a dry run.
	Outcome string
	// Text is what was or would be said.
	Text string
}

// Notice is something a person should know.
type Notice struct {
	// Text is one line, with what to do.
	Text string
	// NeedsPerson tells that nothing moves there until somebody acts.
	NeedsPerson bool
}

// NeedsPerson reports whether anything in this pass waits for a person.
func (p Processed) NeedsPerson() bool {
	return p.Failed > 0 || p.Uncertain > 0 ||
		slices.ContainsFunc(p.Notices, func(n Notice) bool { return n.NeedsPerson })
}

// Run makes one pass. Destinations are served side by side, and one at a time
// within each, oldest first. It returns an error only if the ledger cannot be
// read or written: what became of each entry is in the result, which is also
// returned with an error. When ctx ends, the sends in flight are finished and
// recorded, and no more are begun.
func (p *Processor) Run(ctx context.Context, o ProcessOptions) (Processed, error) {
	pass := &pass{Processor: p, o: o, now: p.Queue.now()}
	if o.Limit > 0 {
		pass.limited = true
		pass.left.Store(int64(o.Limit))
	}
	if !o.DryRun {
		if err := p.Queue.replan(ctx); err != nil {
			return pass.done, err
		}
	}
	lanes, err := pass.lanes(ctx)
	if err != nil {
		return pass.done, err
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, laneLimit)
	for _, l := range lanes {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			defer pass.caught()
			if err := l.run(ctx); err != nil {
				pass.fail(err)
			}
		})
	}
	wg.Wait()
	if pass.panicked != nil {
		panic(pass.panicked)
	}
	return pass.done, pass.err
}

// caught keeps a panic of a lane until the others have finished, so that it reaches
// whoever called Run.
func (p *pass) caught() {
	if v := recover(); v != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
	}
}

// observe returns a function to call at the end of the step that begins now.
func (p *Processor) observe(step string) func() {
	if p.Observe == nil {
		return func() {}
	}
	begin := p.Queue.Now()
	return func() { p.Observe(step, p.Queue.Now().Sub(begin)) }
}

func (q *Queue) now() time.Time { return q.Now().UTC().Truncate(time.Millisecond) }

// pass is the state of one Run.
type pass struct {
	*Processor
	o       ProcessOptions
	now     time.Time
	limited bool
	left    atomic.Int64

	// out holds what is known of entries under other keys, by key: a Known each.
	out sync.Map

	mu   sync.Mutex
	done Processed
	err  error
	// panicked is what a lane panicked with. Nil: none did.
	panicked any
}

// lanes sorts what is due by destination, oldest first. Entries that belong to no
// destination are left where they are; Stray tells of them.
func (p *pass) lanes(ctx context.Context) ([]*lane, error) {
	until := p.now
	if p.Gone != nil {
		// Claims whose lease is not over yet are looked at too, for dead workers.
		until = until.Add(Lease)
	}
	byName := make(map[line]*lane)
	var lanes []*lane
	for e, err := range p.Queue.Store.Due(ctx, until) {
		if err != nil {
			return nil, err
		}
		gone := e.Status == Sending && p.Gone != nil && p.Gone(e.Claim.By)
		if e.Due().After(p.now) && !gone {
			continue
		}
		d := p.Queue.DestinationOf(e.Key.Webhook)
		if d == nil {
			p.done.Stray = append(p.done.Stray, e)
		}
		if d == nil || len(p.o.To) > 0 && !slices.Contains(p.o.To, d.Name) {
			continue
		}
		key := line{d.Name, p.Queue.shadow(e)}
		l := byName[key]
		if l == nil {
			l = &lane{pass: p, d: d, traits: d.Poster.Traits(), shadow: key.shadow}
			byName[key] = l
			lanes = append(lanes, l)
		}
		l.due = append(l.due, &dueEntry{e, gone})
		p.done.Due++
	}
	p.done.Sent = make([]Sent, 0, p.done.Due)
	for _, l := range lanes {
		slices.SortStableFunc(l.due, func(a, b *dueEntry) int {
			return cmp.Or(a.turn()-b.turn(), a.entry.Due().Compare(b.entry.Due()), a.entry.QueuedAt.Compare(b.entry.QueuedAt))
		})
	}
	return lanes, p.twins(ctx, lanes)
}

// take takes one attempt from what the run may make, or reports that there is none.
func (p *pass) take() bool { return !p.limited || p.left.Add(-1) >= 0 }

// fail keeps the first error of the ledger.
func (p *pass) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pass) notice(needsPerson bool, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done.Notices = append(p.done.Notices, Notice{fmt.Sprintf(format, args...), needsPerson})
}

// record counts what became of an entry and tells of it.
func (p *pass) record(s Sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done.Sent = append(p.done.Sent, s)
	if !p.o.DryRun {
		switch {
		case s.Entry.Status == Posted && s.Entry.Shadow:
			p.done.Shadow++
		case s.Entry.Status == Posted:
			p.done.Posted++
		case s.Entry.Status == Failed:
			p.done.Failed++
		case s.Entry.Status == Uncertain, s.Entry.Status == Sending:
			p.done.Uncertain++
		default:
			p.done.Later++
		}
	}
	if p.Report != nil {
		p.Report(s)
	}
}

// Stray yields what waits and belongs to no configured destination: older records
// that name no webhook, and entries of a destination that was taken out of the
// config. They are kept and never sent by guess.
func (q *Queue) Stray(ctx context.Context) ([]Entry, error) {
	var stray []Entry
	for e, err := range q.Store.Waiting(ctx) {
		if err != nil {
			return nil, err
		}
		if q.DestinationOf(e.Key.Webhook) == nil {
			stray = append(stray, e)
		}
	}
	return stray, nil
}
