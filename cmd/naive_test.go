//go:build unix

package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"
	"bot/queue/memstore"

	"github.com/stretchr/testify/require"
)

// asNaive makes this test binary a worker on a store that looks first and writes
// then: its value is where the receiver is. The entry is in the working directory.
const asNaive = "BOT_TEST_NAIVE"

const naiveFile = "entry.json"

// naive is a store with one entry in a file, and with the mistake that the real ones
// must not make: between the look at the entry and the write, others look as well.
type naive struct {
	*memstore.Store // small records only
	// meet returns when all workers have looked.
	meet func()
}

func (n naive) read() (queue.Entry, error) {
	text, err := os.ReadFile(naiveFile)
	if err != nil {
		return queue.Entry{}, err
	}
	return queue.ParseRecord(text, queue.InQueue)
}

func (n naive) Due(context.Context, time.Time) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) { yield(n.read()) }
}

func (n naive) Waiting(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return n.Due(ctx, time.Time{})
}

func (n naive) Update(_ context.Context, _ string, change func(queue.Entry) (queue.Entry, error)) (queue.Entry, error) {
	e, err := n.read()
	if err != nil {
		return e, err
	}
	if e, err = change(e); err != nil {
		return e, err
	}
	if e.Status == queue.Sending {
		n.meet()
	}
	line, err := queue.MarshalRecord(e)
	if err != nil {
		return e, err
	}
	// Each file is whole; it is the order that is wrong.
	own := fmt.Sprint(naiveFile, os.Getpid())
	if err := os.WriteFile(own, line, 0o600); err != nil {
		return e, err
	}
	return e, os.Rename(own, naiveFile)
}

// naivePoster posts to a receiver.
type naivePoster string

func (p naivePoster) Traits() poster.Traits {
	return poster.Traits{Identity: poster.NewSecret(string(p))}
}

func (naivePoster) Render(p poster.Post) (poster.Message, error) {
	return poster.Message{ID: p.ID, Text: p.Text, Body: []byte(p.Text)}, nil
}

func (p naivePoster) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(p)+"/d0", bytes.NewReader(m.Body))
	if err != nil {
		return poster.Receipt{}, err
	}
	request.Header.Set("Idempotency-Key", m.ID)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return poster.Receipt{}, err
	}
	return poster.Receipt{}, answer.Body.Close()
}

// naiveWorker makes one pass over the naive store.
func naiveWorker(receiver string) int {
	text, err := poster.ParseTemplate(poster.DefaultTemplate)
	if err != nil {
		panic(err)
	}
	meet := func() {
		answer, err := http.Get(receiver + "/meet")
		if err != nil {
			panic(err)
		}
		answer.Body.Close()
	}
	p := queue.Processor{
		Queue: &queue.Queue{
			Store: naive{memstore.New(), meet}, Now: time.Now,
			Destinations: []queue.Destination{{Name: "d0", Webhook: dedupe.Fingerprint(receiver), Poster: naivePoster(receiver), Text: text}},
		},
		Worker: fmt.Sprint(os.Getpid()), Token: func() string { return fmt.Sprint(os.Getpid()) },
	}
	if _, err := p.Run(context.Background(), queue.ProcessOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// raceOnNaive lets n processes work on one entry of the naive store, and returns how
// many posts the receiver got.
func raceOnNaive(t *testing.T, n int) int {
	t.Helper()
	var looked sync.WaitGroup
	looked.Add(n)
	r := newReceiver(t, accept)
	posts := r.Config.Handler
	meeting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/meet" {
			posts.ServeHTTP(w, req)
			return
		}
		looked.Done()
		looked.Wait()
	}))
	t.Cleanup(meeting.Close)
	key := dedupe.Key{Webhook: dedupe.Fingerprint(meeting.URL), URL: "https://manga.example/1"}
	line, err := queue.MarshalRecord(queue.Entry{
		ID: key.ID(), Key: key, Destination: "d0", Status: queue.Queued, DueAt: time.Now().Add(-time.Minute),
		QueuedAt: time.Now(), Article: queue.Article{URL: key.URL},
	})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, naiveFile), line, 0o600))
	workers := make([]*exec.Cmd, n)
	for i := range workers {
		workers[i] = exec.CommandContext(t.Context(), os.Args[0])
		workers[i].Dir = dir
		workers[i].Env = append(os.Environ(), asNaive+"="+meeting.URL, "GORACE=atexit_sleep_ms=0")
		require.NoError(t, workers[i].Start())
	}
	for _, w := range workers {
		// Whoever settles late finds another's claim, which is the mistake's other half.
		w.Wait()
	}
	return len(r.received()[key.ID()])
}

// Without it the tests of races would prove little.
func TestAStoreThatLooksAndThenWritesSendsOneEntrySixteenTimes(t *testing.T) {
	t.Parallel()
	require.Equal(t, 16, raceOnNaive(t, 16))
}
