package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"time"

	"bot/poster"
	"bot/queue"
)

// errDead is what a dead worker's calls return.
var errDead = errors.New("dead")

// life is that of a worker, counted in steps: the moments before and after each thing
// it asks of the ledger or of a destination. A dead one does nothing any more.
type life struct {
	mu   sync.Mutex
	left int
	dead bool
}

// step reports whether the worker dies here, or has died.
func (l *life) step() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left < 0 {
		l.dead = true
		return errDead
	}
	return nil
}

func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// within does something between two steps. A worker that dies after it has done it,
// and knows nothing of it.
func within[T any](l *life, do func() (T, error)) (T, error) {
	var none T
	if err := l.step(); err != nil {
		return none, err
	}
	got, err := do()
	if died := l.step(); died != nil {
		return none, died
	}
	return got, err
}

// mortal is a store as a worker has it that dies.
type mortal struct {
	queue.Store
	*life
}

func (m mortal) Lookup(ctx context.Context, c []queue.Candidate) ([]queue.Known, error) {
	return within(m.life, func() ([]queue.Known, error) { return m.Store.Lookup(ctx, c) })
}

func (m mortal) Insert(ctx context.Context, c []queue.Candidate) ([]queue.Known, error) {
	return within(m.life, func() ([]queue.Known, error) { return m.Store.Insert(ctx, c) })
}

func (m mortal) Get(ctx context.Context, id string) (queue.Entry, error) {
	return within(m.life, func() (queue.Entry, error) { return m.Store.Get(ctx, id) })
}

func (m mortal) Update(ctx context.Context, id string, change func(queue.Entry) (queue.Entry, error)) (queue.Entry, error) {
	return within(m.life, func() (queue.Entry, error) { return m.Store.Update(ctx, id, change) })
}

func (m mortal) Delete(ctx context.Context, id string) error {
	_, err := within(m.life, func() (struct{}, error) { return struct{}{}, m.Store.Delete(ctx, id) })
	return err
}

func (m mortal) Book(ctx context.Context, name string) (json.RawMessage, error) {
	return within(m.life, func() (json.RawMessage, error) { return m.Store.Book(ctx, name) })
}

func (m mortal) UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	_, err := within(m.life, func() (struct{}, error) { return struct{}{}, m.Store.UpdateBook(ctx, name, change) })
	return err
}

func (m mortal) Due(ctx context.Context, until time.Time) iter.Seq2[queue.Entry, error] {
	return m.listing(m.Store.Due(ctx, until))
}

func (m mortal) All(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return m.listing(m.Store.All(ctx))
}

func (m mortal) Waiting(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return m.listing(m.Store.Waiting(ctx))
}

func (m mortal) listing(entries iter.Seq2[queue.Entry, error]) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		if err := m.step(); err != nil {
			yield(queue.Entry{}, err)
			return
		}
		for e, err := range entries {
			if !yield(e, err) {
				return
			}
		}
		if err := m.step(); err != nil {
			yield(queue.Entry{}, err)
		}
	}
}

// account is a destination that remembers what it was sent, and answers each message
// as its text says.
type account struct {
	name       string
	idempotent time.Duration

	mu    sync.Mutex
	posts map[string][]sent
}

// sent is a post that arrived: its body, and how the attempt ended.
type sent struct {
	body    string
	outcome poster.Outcome
}

func (a *account) Traits() poster.Traits {
	return poster.Traits{Identity: poster.NewSecret(a.name), Idempotent: a.idempotent}
}

func (a *account) Render(p poster.Post) (poster.Message, error) {
	return poster.Message{ID: p.ID, Text: p.Text, Body: []byte(p.Text)}, nil
}

func (a *account) Post(_ context.Context, m poster.Message) (poster.Receipt, error) {
	o := a.take(m)
	if o == poster.Delivered {
		return poster.Receipt{RemoteID: "r"}, nil
	}
	return poster.Receipt{}, &poster.Error{Outcome: o, Reason: "as it was asked"}
}

// take takes a message, and decides how the attempt ends.
func (a *account) take(m poster.Message) poster.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := poster.Delivered
	first := len(a.posts[m.ID]) == 0
	switch {
	case first && contains(m, "later"):
		o = poster.Later
	case first && contains(m, "unknown"):
		o = poster.Unknown
	case contains(m, "rejected"):
		o = poster.RejectedContent
	}
	a.posts[m.ID] = append(a.posts[m.ID], sent{string(m.Body), o})
	return o
}

// mortalPoster is a destination as a worker has it that dies: before the request is
// made, when it was made and nothing is answered yet, or with the answer.
type mortalPoster struct {
	*account
	*life
}

func (p mortalPoster) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	return within(p.life, func() (poster.Receipt, error) { return p.account.Post(ctx, m) })
}
