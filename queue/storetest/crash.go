package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

func crashing() []property {
	return []property{
		{"a worker that dies between any two steps announces nothing twice and loses nothing", func(t *testing.T, open Opener) {
			dieEverywhere(t, open, 0)
		}},
		{"where a repeat is safe, what a dead worker may have sent is sent again as it was", func(t *testing.T, open Opener) {
			dieEverywhere(t, open, 30*24*time.Hour)
		}},
	}
}

// dieEverywhere lets a worker queue and send, dying one step later every time until it
// comes to its end, and another finish what it left.
func dieEverywhere(t *testing.T, open Opener, idempotent time.Duration) {
	const enough = 1000
	for steps := range enough {
		c := newCrash(t, open, fmt.Sprintf("account-%d", steps), idempotent)
		l := &life{left: steps}
		c.work(mortal{open(t), l}, mortalPoster{c.account, l}, "dead", "{{.Title}} {{.URL}}")
		// The survivor's words are others: what may be out is repeated as it was.
		for range 6 {
			c.clock = c.clock.Add(24 * time.Hour)
			c.work(c.survivor, c.account, "survivor", "{{.Title}}: {{.URL}}")
		}
		c.check(steps)
		if !l.over() {
			require.Greater(t, steps, 20, "there are so many steps at least")
			return
		}
	}
	t.Fatal("the worker never comes to its end")
}

// crash is a destination and its articles, of which each ends in another way.
type crash struct {
	t        *testing.T
	account  *account
	survivor queue.Store
	clock    time.Time
	articles []queue.Article
}

func newCrash(t *testing.T, open Opener, name string, idempotent time.Duration) *crash {
	c := &crash{t: t, survivor: open(t), clock: Now(), account: &account{name: name, idempotent: idempotent, posts: map[string][]sent{}}}
	for _, end := range []string{"delivered", "later", "unknown", "rejected"} {
		c.articles = append(c.articles, queue.Article{URL: "https://example.jp/" + name + "/" + end, Title: end})
	}
	return c
}

// work queues and sends what there is, as one run of the program does.
func (c *crash) work(s queue.Store, p poster.Poster, worker, words string) {
	c.t.Helper()
	text, err := poster.ParseTemplate(words)
	require.NoError(c.t, err)
	q := &queue.Queue{
		Store: s, Now: func() time.Time { return c.clock },
		Destinations: []queue.Destination{{Name: c.account.name, Webhook: dedupe.Fingerprint(c.account.name), Poster: p, Text: text}},
	}
	tokens := 0
	run := queue.Processor{
		Queue: q, Worker: worker, Gone: func(worker string) bool { return worker == "dead" },
		Token: func() string { tokens++; return fmt.Sprint(worker, c.clock.Unix(), tokens) },
	}
	// One article at a time, so that the worker may die between any two inserts.
	for _, a := range c.articles {
		if _, err = q.Add(c.t.Context(), []queue.Batch{{Articles: []queue.Article{a}}}, queue.AddOptions{}); err != nil {
			break
		}
	}
	if err == nil {
		_, err = run.Run(c.t.Context(), queue.ProcessOptions{})
	}
	if err != nil {
		require.ErrorIs(c.t, err, errDead)
	}
}

// check holds the ledger against what the destination was sent.
func (c *crash) check(steps int) {
	c.t.Helper()
	for _, a := range c.articles {
		id := dedupe.Key{Webhook: dedupe.Fingerprint(c.account.name), URL: a.URL}.ID()
		e := get(c.t, c.survivor, id)
		posts := c.account.posts[id]
		say := fmt.Sprintf("%s, the worker died after %d steps: %s, sent %v", a.Title, steps, e.Status, posts)
		published, last := 0, poster.Unknown
		for _, p := range posts {
			if last = p.outcome; last == poster.Delivered || last == poster.Unknown {
				published++
			}
			if c.account.idempotent > 0 && published > 0 {
				require.Equal(c.t, posts[len(posts)-1].body, p.body, say)
			}
		}
		if c.account.idempotent == 0 {
			require.LessOrEqual(c.t, published, 1, say)
		}
		switch e.Status {
		case queue.Posted:
			require.Equal(c.t, poster.Delivered, last, say)
		case queue.Failed:
			require.Equal(c.t, poster.RejectedContent, last, say)
		default:
			// Only what no other attempt could clear up waits for a person.
			require.Equal(c.t, queue.Uncertain, e.Status, say)
			require.True(c.t, c.account.idempotent == 0 || a.Title == "rejected", say)
		}
	}
}

func contains(m poster.Message, word string) bool { return strings.Contains(m.Text, word) }
