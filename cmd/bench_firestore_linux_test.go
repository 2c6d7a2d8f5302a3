package cmd_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/firestoretest"

	client "cloud.google.com/go/firestore"
	"github.com/stretchr/testify/require"
)

const (
	cloudFleet      = "bench"
	cloudCandidates = 1000
	cloudNew        = 300
	cloudSends      = 400
)

// firestore measures `bot enqueue` and `bot process` with the ledger on an emulator
// against the bare client, which makes the same calls in the same order and as many
// at once. Each run has a project of its own.
func (b *bench) firestore(t *testing.T) {
	host := firestoretest.Host(t)
	receiver := serve(t, b.helper(t, "receive", filepath.Join(b.dir, "cloud.jsonl")))
	defer receiver.stop()
	ours := func(via string, entries []queue.Entry, config, want string, args ...string) float64 {
		c := b.inCloud(t, host, via, entries, config, args...)
		defer os.RemoveAll(c.Dir)
		took, said := timed(t, c)
		require.Equal(t, want, lastLine(said))
		return took
	}
	theirs := func(via string, entries []queue.Entry, how, want string) float64 {
		project := firestoretest.Project()
		cloudLedger(t, host, project, entries)
		c := b.helper(t, how, project, receiver.said)
		// As the program has it.
		gc := map[string]string{"cloud-enqueue": "GOGC=400", "cloud-process": "GOGC=150"}[how]
		c.Env = append(os.Environ(), "FIRESTORE_EMULATOR_HOST="+via, gc)
		took, said := timed(t, c)
		require.Contains(t, said, want)
		return took
	}
	known, due := cloudKnown(), cloudDue(receiver.said)
	compare := func(work string, our, their func(via string) float64) {
		b.sameCalls(t, host, our, their)
		figures := inTurns(*reps, func() float64 { return our(host) }, func() float64 { return their(host) })
		r := row{work: work, against: "the bare client, the same calls", gate: 1.3, aim: 1.1}
		b.add(t, r.compare(figures[0], figures[1], seconds))
	}
	compare("enqueue of 1,000 with 300 new, Firestore emulator",
		func(via string) float64 {
			return ours(via, known, benchConfig, "matched=1000 queued=300 already=700 skipped=0 held=0 refused=0", "enqueue", "--from", "urls.txt")
		},
		func(via string) float64 { return theirs(via, known, "cloud-enqueue", "made 300") })
	compare("process of 400 due entries, 16 destinations, Firestore emulator",
		func(via string) float64 {
			return ours(via, due, sendConfig(receiver.said), "due=400 posted=400 shadow=0 later=0 failed=0 uncertain=0", "process")
		},
		func(via string) float64 { return theirs(via, due, "cloud-process", "sent 400") })
}

// inCloud returns a run of the program in a directory of its own, with a ledger on
// the emulator that holds the entries.
func (b *bench) inCloud(t *testing.T, host, via string, entries []queue.Entry, config string, args ...string) *exec.Cmd {
	t.Helper()
	project := firestoretest.Project()
	cloudLedger(t, host, project, entries)
	dir, err := os.MkdirTemp(b.dir, "cloud")
	require.NoError(t, err)
	config = fmt.Sprintf("state: {backend: firestore, project: %s, fleet: %s}\n%s", project, cloudFleet, config)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), []byte(config), 0o600))
	var urls strings.Builder
	for i := range cloudCandidates {
		fmt.Fprintln(&urls, cloudEntry(i).Article.URL)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "urls.txt"), []byte(urls.String()), 0o600))
	c := b.botIn(t, dir, args...)
	c.Env = append(c.Env, "FIRESTORE_EMULATOR_HOST="+via, "HOME="+dir, "XDG_CACHE_HOME=")
	return c
}

// cloudLedger opens a ledger that holds the entries.
func cloudLedger(t *testing.T, host, project string, entries []queue.Entry) {
	t.Helper()
	s, err := firestore.Connect(t.Context(), firestore.Options{Project: project, Fleet: cloudFleet, Emulator: host, Now: time.Now, Token: rand.Text})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.OpenFleet(t.Context()))
	all := make([]queue.Candidate, 0, len(entries))
	for _, e := range entries {
		all = append(all, queue.Candidate{Entry: &e})
	}
	_, err = s.Insert(t.Context(), all)
	require.NoError(t, err)
}

func cloudEntry(i int) queue.Entry {
	return benchEntry("manga-x", benchWebhook, fmt.Sprint("cloud-", i))
}

// cloudKnown are those of the candidates that are posted.
func cloudKnown() []queue.Entry {
	var all []queue.Entry
	for i := range cloudCandidates - cloudNew {
		e := cloudEntry(i)
		e.Status, e.DueAt, e.PostedAt, e.Attempts = queue.Posted, time.Time{}, e.QueuedAt, 1
		all = append(all, e)
	}
	return all
}

// cloudDue are entries that are due, the destinations in turn.
func cloudDue(receiver string) []queue.Entry {
	var all []queue.Entry
	for i := range cloudSends {
		d := i % sendDestinations
		all = append(all, benchEntry(sendName(d), sendWebhook(receiver, d), fmt.Sprint(i/sendDestinations)))
	}
	return all
}

// sameCalls fails unless both sides make the same calls, and send about as much with
// them.
func (b *bench) sameCalls(t *testing.T, host string, our, their func(via string) float64) {
	t.Helper()
	count := func(run func(string) float64) (calls map[string]int, sent, got int) {
		p := newCallCounter(t, host)
		defer p.Close()
		run(strings.TrimPrefix(p.URL, "http://"))
		return p.calls, p.sent, p.got
	}
	mine, sent, got := count(our)
	its, itsSent, itsGot := count(their)
	t.Logf("calls: %v; sent %d and %d bytes, got %d and %d", mine, sent, itsSent, got, itsGot)
	require.Equal(t, its, mine)
	require.InEpsilon(t, itsSent, sent, 0.15)
	require.InEpsilon(t, itsGot, got, 0.15)
}

// callCounter is a proxy before the emulator that counts calls by their method, and
// the bytes of all.
type callCounter struct {
	*httptest.Server
	mu        sync.Mutex
	calls     map[string]int
	sent, got int
}

// counted is a body whose bytes are counted.
type counted struct {
	io.ReadCloser
	p *callCounter
	n *int
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.p.mu.Lock()
	*c.n += n
	c.p.mu.Unlock()
	return n, err
}

func newCallCounter(t *testing.T, host string) *callCounter {
	t.Helper()
	plain := &http.Protocols{}
	plain.SetUnencryptedHTTP2(true)
	p := &callCounter{calls: map[string]int{}}
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host})
	forward.Transport, forward.FlushInterval = &http.Transport{Protocols: plain}, -1
	forward.ModifyResponse = func(r *http.Response) error {
		r.Body = counted{r.Body, p, &p.got}
		return nil
	}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.calls[path.Base(r.URL.Path)]++
		p.mu.Unlock()
		r.Body = counted{r.Body, p, &p.sent}
		forward.ServeHTTP(w, r)
	}))
	p.Config.Protocols = plain
	p.Start()
	return p
}

// bareLedger is the bare client at a ledger.
type bareLedger struct {
	*client.Client
	fleet *client.DocumentRef
}

// newBareLedger reads the fleet's document, as the program does when it begins.
func newBareLedger(ctx context.Context, t *testing.T, project string) *bareLedger {
	c, err := client.NewClient(ctx, project)
	require.NoError(t, err)
	l := &bareLedger{c, c.Collection("bot_fleets").Doc(cloudFleet)}
	l.read(ctx, t, l.fleet)
	return l
}

func (l *bareLedger) entry(id string) *client.DocumentRef {
	return l.fleet.Collection("bot_entries").Doc(id)
}

func (l *bareLedger) book(name string) *client.DocumentRef {
	return l.fleet.Collection("bot_books").Doc(strings.ReplaceAll(name, "/", "|"))
}

// read reads documents by their names, with one call.
func (l *bareLedger) read(ctx context.Context, t *testing.T, refs ...*client.DocumentRef) []*client.DocumentSnapshot {
	snaps, err := l.GetAll(ctx, refs)
	require.NoError(t, err)
	return snaps
}

// find reads the candidates' documents and then, of those that are not there, what
// knows the address alone, and returns the new ones.
func (l *bareLedger) find(ctx context.Context, t *testing.T, entries []queue.Entry) []queue.Entry {
	var fresh []queue.Entry
	for chunk := range slices.Chunk(entries, 500) {
		var refs []*client.DocumentRef
		for _, e := range chunk {
			refs = append(refs, l.entry(e.ID))
		}
		for i, snap := range l.read(ctx, t, refs...) {
			if !snap.Exists() {
				fresh = append(fresh, chunk[i])
			}
		}
	}
	var refs []*client.DocumentRef
	for _, e := range fresh {
		refs = append(refs, l.entry(dedupe.Key{URL: e.Key.URL}.ID()))
	}
	l.read(ctx, t, refs...)
	return fresh
}

// helpCloudEnqueue makes the calls of an enqueue.
func helpCloudEnqueue(t *testing.T) {
	ctx := context.Background()
	l := newBareLedger(ctx, t, flag.Arg(0))
	defer l.Close()
	var all []queue.Entry
	for i := range cloudCandidates {
		all = append(all, cloudEntry(i))
	}
	l.read(ctx, t, l.book(queue.DestinationBook("manga-x")))
	// What is new is looked for a second time, right before it is created.
	fresh := l.find(ctx, t, all)
	fresh = l.find(ctx, t, fresh)
	for chunk := range slices.Chunk(fresh, 100) {
		err := l.RunTransaction(ctx, func(_ context.Context, tx *client.Transaction) error {
			for _, e := range chunk {
				record, err := queue.MarshalRecord(e)
				if err != nil {
					return err
				}
				fields := map[string]any{"v": 1, "key": e.Key.String(), "status": "queued", "record": string(record), "due": e.DueAt, "waiting": e.ID, "made": "t", "write": "t"}
				if err := tx.Create(l.entry(e.ID), fields); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	fmt.Printf("made %d\n", len(fresh))
}

// helpCloudProcess makes the calls of a process, and its posts.
func helpCloudProcess(t *testing.T) {
	ctx := context.Background()
	l := newBareLedger(ctx, t, flag.Arg(0))
	defer l.Close()
	for d := range sendDestinations {
		l.read(ctx, t, l.book(queue.DestinationBook(sendName(d))))
	}
	lanes := map[string][]*client.DocumentSnapshot{}
	page := l.fleet.Collection("bot_entries").Where("due", "<=", time.Now()).OrderBy("due", client.Asc).Limit(300)
	for query := page; ; {
		snaps, err := query.Documents(ctx).GetAll()
		require.NoError(t, err)
		for _, s := range snaps {
			webhook, _, _ := strings.Cut(s.Data()["key"].(string), "|")
			lanes[webhook] = append(lanes[webhook], s)
		}
		if len(snaps) < 300 {
			break
		}
		query = page.StartAfter(snaps[len(snaps)-1])
	}
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	var all sync.WaitGroup
	at := 0
	for _, lane := range lanes {
		address, book := sendWebhook(flag.Arg(1), at), l.book(queue.DestinationBook(sendName(at)))
		at++
		all.Go(func() {
			for _, s := range lane {
				l.read(ctx, t, l.book(queue.FleetBook))
				l.read(ctx, t, book)
				record := s.Data()["record"].(string)
				// With the message and the claim, the record is about twice as long.
				l.update(ctx, t, s.Ref, "sending", record+record)
				response, err := web.Post(address, "application/json", strings.NewReader(record))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				l.update(ctx, t, s.Ref, "posted", record)
			}
		})
	}
	all.Wait()
	fmt.Printf("sent %d\n", len(lanes)*cloudSends/sendDestinations)
}

// update reads an entry's document and writes it on the condition that it is still
// so.
func (l *bareLedger) update(ctx context.Context, t *testing.T, ref *client.DocumentRef, status, record string) {
	snap := l.read(ctx, t, ref)[0]
	due := any(time.Now().Add(queue.Lease))
	if status == "posted" {
		due = client.Delete
	}
	_, err := ref.Update(ctx, []client.Update{
		{Path: "status", Value: status}, {Path: "record", Value: record}, {Path: "write", Value: "u"}, {Path: "due", Value: due},
		{Path: "v", Value: 1}, {Path: "key", Value: snap.Data()["key"]}, {Path: "waiting", Value: ref.ID}, {Path: "packed", Value: client.Delete},
	}, client.LastUpdateTime(snap.UpdateTime))
	if err != nil {
		t.Error(err)
	}
}
