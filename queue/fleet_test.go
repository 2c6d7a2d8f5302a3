package queue_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"
	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

// fleet is a queue over a fresh local ledger, with a clock that the test moves and
// accounts that answer as the test says.
type fleet struct {
	*queue.Queue
	t     *testing.T
	dir   string
	clock time.Time
	news  *account
	fans  *account
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), clock: now, news: &account{name: "news"}, fans: &account{name: "fans"}}
	_, err := jsonstore.Init(f.dir, now)
	require.NoError(t, err)
	text, err := poster.ParseTemplate("{{required .Title}} {{.URL}}")
	require.NoError(t, err)
	f.Queue = &queue.Queue{
		Store: f.open(), Now: func() time.Time { return f.clock },
		Sources: []queue.Source{{
			Name: "blog", MaxAge: 7 * 24 * hour, FirstRun: 24 * hour, Brake: 3,
			Site: dedupe.Site{Host: "example.jp", Aliases: []string{"old.example.jp"}},
		}},
		Rules: []queue.Rule{{Name: "all", From: []string{"blog"}, To: []string{"news", "fans"}}},
	}
	for _, a := range []*account{f.news, f.fans} {
		f.Destinations = append(f.Destinations, queue.Destination{
			Name: a.name, Webhook: dedupe.Fingerprint("https://hook.example/" + a.name), Poster: a, Text: text, Settings: "1",
		})
	}
	return f
}

// open opens the ledger once more, as another process would.
func (f *fleet) open() queue.Store {
	store, err := jsonstore.Open(context.Background(), jsonstore.Options{Dir: f.dir, Now: func() time.Time { return f.clock }})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, store.Close()) })
	return store
}

func (f *fleet) add(o queue.AddOptions, batches ...queue.Batch) queue.Added {
	f.t.Helper()
	added, err := f.Add(context.Background(), batches, o)
	require.NoError(f.t, err)
	require.Equal(f.t, added.Matched, added.Queued+added.Already+added.Skipped+added.Held+added.Refused)
	return added
}

func (f *fleet) process(o queue.ProcessOptions) queue.Processed {
	f.t.Helper()
	done, err := f.processor("w1").Run(context.Background(), o)
	require.NoError(f.t, err)
	return done
}

func (f *fleet) processor(worker string) *queue.Processor {
	var n atomic.Int64 // destinations are served side by side
	return &queue.Processor{Queue: f.Queue, Worker: worker, Token: func() string {
		return fmt.Sprintf("%s-%d", worker, n.Add(1))
	}}
}

// entries returns the ledger as "destination url status", sorted.
func (f *fleet) entries() []string {
	f.t.Helper()
	var all []string
	for e, err := range f.Store.All(context.Background()) {
		require.NoError(f.t, err)
		all = append(all, fmt.Sprintf("%s %s %s", e.Destination, e.Article.URL, e.Status))
	}
	slices.Sort(all)
	return all
}

// only leaves the fleet with one destination.
func (f *fleet) only(name string) *queue.Destination {
	f.Destinations = slices.DeleteFunc(f.Destinations, func(d queue.Destination) bool { return d.Name != name })
	return &f.Destinations[0]
}

// account is a destination whose answers are scripted. What is not scripted is
// delivered.
type account struct {
	name       string
	idempotent time.Duration

	mu      sync.Mutex
	answers []error
	posts   []poster.Message
	// during is called while a post is under way.
	during func()
}

func (a *account) Traits() poster.Traits {
	return poster.Traits{Identity: poster.NewSecret("https://hook.example/" + a.name), Idempotent: a.idempotent}
}

func (a *account) Render(p poster.Post) (poster.Message, error) {
	return poster.Message{ID: p.ID, Text: p.Text, Body: []byte(p.Text)}, nil
}

func (a *account) Post(_ context.Context, m poster.Message) (poster.Receipt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.posts = append(a.posts, m)
	if a.during != nil {
		a.during()
	}
	if len(a.answers) == 0 {
		return poster.Receipt{RemoteID: fmt.Sprint(len(a.posts))}, nil
	}
	err := a.answers[0]
	a.answers = a.answers[1:]
	return poster.Receipt{}, err
}

// answer scripts what the next posts end in.
func (a *account) answer(errs ...error) { a.answers = append(a.answers, errs...) }

// texts returns what was posted, in order.
func (a *account) texts() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	texts := []string{}
	for _, m := range a.posts {
		texts = append(texts, m.Text)
	}
	return texts
}

func article(path string, age time.Duration) queue.Article {
	a := queue.Article{URL: "https://example.jp/" + path, Title: path, Source: "blog"}
	if age != undated {
		a.Published = now.Add(-age)
	}
	return a
}

const undated = time.Duration(-1 << 62)

func batch(firstSight bool, articles ...queue.Article) queue.Batch {
	b := queue.Batch{Source: "blog", Articles: articles}
	if !firstSight {
		b.Seen = []string{dedupe.Fingerprint("https://hook.example/news"), dedupe.Fingerprint("https://hook.example/fans")}
	}
	return b
}
