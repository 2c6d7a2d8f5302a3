package cmd_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"
	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

const (
	// aloneClaims and togetherClaims are made in each turn by one worker and by
	// sixteen. Turns are short, and there are claimTurns of them for every
	// repetition, so that what else the disk has to do meets all alike.
	aloneClaims, togetherClaims = 200, 800
	togetherWorkers             = 16
	claimTurns                  = 5
)

// claim measures claims that are on the disk when they count as made: by one worker
// against the disk itself, and by one and by sixteen against a database.
func (b *bench) claim(t *testing.T) {
	rows := []row{
		{work: "durable claims, one worker", against: "bare write and fdatasync of as many bytes into reserved space", gate: 0.85, aim: 0.95},
		{work: "durable claims, one worker", against: "PostgreSQL, one connection", gate: 1.25, aim: 2},
		{work: "durable claims, 16 workers in one process", against: "PostgreSQL, 16 connections", gate: 1.2, aim: 3},
	}
	for i := range rows {
		rows[i].atLeast = true
		if b.inMemory() {
			rows[i].not = "the disk is in memory, where a sync costs nothing; set BENCH_DIR"
			b.add(t, rows[i])
		}
	}
	if b.inMemory() {
		return
	}
	// As the program has it while it sends, in whose place the benchmark is here.
	defer debug.SetGCPercent(debug.SetGCPercent(150))
	l := b.newClaims(t)
	pg, why := b.startPostgres(t)
	sides := []func() float64{
		func() float64 { return l.rate(t, 1, aloneClaims) },
		func() float64 { return l.bare.rate(t, aloneClaims) },
		func() float64 { return l.rate(t, togetherWorkers, togetherClaims) },
	}
	if pg != nil {
		sides = append(sides,
			func() float64 { return pg.rate(t, 1, aloneClaims) },
			func() float64 { return pg.rate(t, togetherWorkers, togetherClaims/togetherWorkers) })
	}
	figures := inTurns(claimTurns**reps, sides...)
	b.add(t, rows[0].compare(figures[0], figures[1], perSecond))
	if pg == nil {
		rows[1].not, rows[2].not = why, why
		b.add(t, rows[1])
		b.add(t, rows[2])
		return
	}
	b.add(t, rows[1].compare(figures[0], figures[3], perSecond))
	b.add(t, rows[2].compare(figures[2], figures[4], perSecond))
}

// benchEntry returns an entry that is due.
func benchEntry(destination, webhook, name string) queue.Entry {
	url := benchSite + name
	key := dedupe.Key{Webhook: dedupe.Fingerprint(webhook), URL: url}
	now := time.Now().UTC().Truncate(time.Millisecond)
	return queue.Entry{
		ID: key.ID(), Key: key, Destination: destination, Rule: "manga",
		Article: queue.Article{URL: url, Title: "今週の新刊 " + name, Source: "manga", Published: now.Add(-time.Hour)},
		Status:  queue.Queued, QueuedAt: now, DueAt: now,
	}
}

// benchMessage is a message of the usual size, which a run of the program makes before
// it claims.
func benchMessage(t *testing.T, e queue.Entry) poster.Message {
	t.Helper()
	text := e.Article.Title + "\n" + e.Article.URL
	body, err := json.Marshal(map[string]any{
		"id": e.ID, "text": text, "url": e.Article.URL, "title": e.Article.Title, "summary": "", "source": e.Article.Source,
		"destination": e.Destination, "categories": []string{}, "author": "", "image": "", "published_at": e.Article.Published,
	})
	require.NoError(t, err)
	return poster.Message{ID: e.ID, Text: text, Body: body}
}

// claims is a ledger with entries enough for all turns.
type claims struct {
	store    *jsonstore.Store
	messages []poster.Message // of each entry, by whose ID it goes
	bare     *bareWriter
}

func (b *bench) newClaims(t *testing.T) *claims {
	t.Helper()
	state := filepath.Join(b.dir, "claims")
	_, err := jsonstore.Init(state, time.Now())
	require.NoError(t, err)
	l := &claims{}
	l.store, err = jsonstore.Open(t.Context(), jsonstore.Options{Dir: state, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(func() { l.store.Close() })
	var all []queue.Candidate
	const trial = 100
	for i := range trial + (1+claimTurns**reps)*(aloneClaims+togetherClaims) {
		e := benchEntry("manga-x", benchWebhook, fmt.Sprint("claim-", i))
		l.messages, all = append(l.messages, benchMessage(t, e)), append(all, queue.Candidate{Entry: &e})
	}
	_, err = l.store.Insert(t.Context(), all)
	require.NoError(t, err)
	require.NoError(t, l.store.Fold(t.Context()))
	journal := filepath.Join(state, "journal.jsonl")
	before := written(t, journal)
	l.rate(t, 1, trial)
	l.bare = b.newBareWriter(t, (written(t, journal)-before)/trial)
	return l
}

// written returns how much of a file was written: what follows is zeros.
func written(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return len(bytes.TrimRight(text, "\x00"))
}

// rate makes so many claims and returns how many that is per second.
func (l *claims) rate(t *testing.T, workers, n int) float64 {
	t.Helper()
	messages := l.messages[:n]
	l.messages = l.messages[n:]
	syscall.Sync()
	took := stopwatch(func() {
		var next atomic.Int64
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					if err := benchClaim(t.Context(), l.store, messages[i]); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
	return float64(n) / took
}

// benchClaim claims the entry of a message as a run of the program does.
func benchClaim(ctx context.Context, s *jsonstore.Store, m poster.Message) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	claim := queue.Claim{Token: rand.Text(), By: "owner-host:4242:0a1b2c3d-4026531836-123456", At: now, LeaseUntil: now.Add(queue.Lease)}
	_, err := s.Update(ctx, m.ID, func(e queue.Entry) (queue.Entry, error) {
		return queue.TakeClaim(e, now, false, 0, claim, m)
	})
	return err
}

// bareWriter writes as many bytes as a claim does, and does nothing else.
type bareWriter struct {
	f    *os.File
	line []byte
	at   int64
}

func (b *bench) newBareWriter(t *testing.T, size int) *bareWriter {
	t.Helper()
	f, err := os.Create(filepath.Join(b.dir, "bare"))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	line := append(bytes.Repeat([]byte("x"), size-1), '\n')
	require.NoError(t, syscall.Fallocate(int(f.Fd()), 0, 0, int64(size*(1+claimTurns**reps)*aloneClaims)))
	require.NoError(t, f.Sync())
	return &bareWriter{f: f, line: line}
}

func (w *bareWriter) rate(t *testing.T, n int) float64 {
	t.Helper()
	syscall.Sync()
	took := stopwatch(func() {
		for range n {
			if _, err := w.f.WriteAt(w.line, w.at); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Fdatasync(int(w.f.Fd())); err != nil {
				t.Fatal(err)
			}
			w.at += int64(len(w.line))
		}
	})
	return float64(n) / took
}
