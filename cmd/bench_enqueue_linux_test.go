package cmd_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"
	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

const (
	benchWebhook = "https://hooks.example/manga-x"
	benchConfig  = "destinations:\n  - {name: manga-x, webhook: " + benchWebhook + "}\n"
	benchSite    = "https://example.jp/manga/"
)

// The thousand candidates: of these so many are known already, and 300 are not.
const (
	candidatesPosted = 600
	candidatesLegacy = 50
	candidatesQueued = 50
	candidatesNew    = 300
)

// smallHistory is how many records a history must have for a third of them to hold
// the candidates that are posted.
const smallHistory = 10_000

// enqueue measures `bot enqueue` of a thousand addresses, over histories of three
// sizes, by time and by memory.
func (b *bench) enqueue(t *testing.T) {
	for _, records := range []int{10_000, 100_000, 1_000_000} {
		b.enqueueOver(t, records)
	}
}

func (b *bench) enqueueOver(t *testing.T, records int) {
	large := records == 1_000_000
	work := fmt.Sprintf("enqueue of 1,000 over %s records", thousands(records))
	wall := row{work: work, against: "JavaScript", gate: 0.25, aim: 0.15}
	memory := row{work: work + ", peak memory", against: "JavaScript", gate: 0.03, aim: 0.01}
	switch records {
	case 100_000:
		wall.gate, wall.aim = 0.2, 0.1
	case 1_000_000:
		wall.gate, wall.aim = 0.15, 0.07
	}
	if !large {
		memory.gate, memory.aim = 0, 0
	}
	if b.node == "" {
		wall.not = "there is no Node"
		b.add(t, wall)
		return
	}
	master := b.history(t, records)
	defer os.RemoveAll(master)
	out := filepath.Join(master, "out.json")
	ours := func() *exec.Cmd {
		dir := b.copyLedger(t, master)
		return b.botIn(t, dir, "enqueue", "--from", "urls.txt")
	}
	theirs := func() *exec.Cmd {
		state := filepath.Join(master, "state")
		return b.reference("enqueue", filepath.Join(state, "posted.json"), filepath.Join(state, "queue.json"),
			filepath.Join(master, "urls.txt"), dedupe.Fingerprint(benchWebhook), out)
	}
	check := func(c *exec.Cmd) float64 {
		took, said := timed(t, c)
		require.Contains(t, lastLine(said), "matched=1000 queued=300 already=700")
		return took
	}
	figures := inTurns(*reps,
		func() float64 { c := ours(); defer os.RemoveAll(c.Dir); return check(c) },
		func() float64 { defer os.Remove(out); return check(theirs()) },
	)
	b.add(t, wall.compare(figures[0], figures[1], seconds))
	var mine, its []float64
	for range 3 {
		c := ours()
		mine = append(mine, peak(t, c))
		os.RemoveAll(c.Dir)
		its = append(its, peak(t, theirs()))
	}
	b.add(t, memory.compare(mine, its, megabytes))
}

func (b *bench) reference(args ...string) *exec.Cmd {
	return exec.Command(b.node, append([]string{filepath.Join("testdata", "bench", "reference.js")}, args...)...)
}

func thousands(n int) string {
	if n%1_000_000 == 0 {
		return fmt.Sprintf("%d,000,000", n/1_000_000)
	}
	return fmt.Sprintf("%d,000", n/1000)
}

// history makes a ledger of so many records in a directory of its own, with a
// config and a list of the thousand candidates, as runs before would have left it.
func (b *bench) history(t *testing.T, records int) string {
	t.Helper()
	dir, err := os.MkdirTemp(b.dir, "history")
	require.NoError(t, err)
	state := filepath.Join(dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("bot.yaml", benchConfig)
	write("urls.txt", candidateURLs(records))
	write("state/queue.json", queuedRecords())
	writePosted(t, filepath.Join(state, "posted.json"), records)
	_, err = jsonstore.Init(state, time.Now())
	require.NoError(t, err)
	return dir
}

// copyLedger copies a directory that history made. The large file is linked: the
// program replaces it, and never changes it in place.
func (b *bench) copyLedger(t *testing.T, master string) string {
	t.Helper()
	dir, err := os.MkdirTemp(b.dir, "run")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	for _, pattern := range []string{"bot.yaml", "urls.txt", "state/*", "state/.lock"} {
		paths, err := filepath.Glob(filepath.Join(master, pattern))
		require.NoError(t, err)
		for _, from := range paths {
			to := filepath.Join(dir, strings.TrimPrefix(from, master))
			if filepath.Base(from) == "posted.json" {
				require.NoError(t, os.Link(from, to))
				continue
			}
			copyFile(t, from, to)
		}
	}
	return dir
}

// copyFile copies a file with the time at which it was changed, which the ledger
// goes by.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	require.NoError(t, err)
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
	require.NoError(t, os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// writePosted writes a posted.json of some 250 bytes for each record. One in ten
// knows only its address, and a third of the others are of the bench's destination;
// in a history too small for that, all are.
func writePosted(t *testing.T, path string, records int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	hooks := []string{dedupe.Fingerprint(benchWebhook), dedupe.Fingerprint("b"), dedupe.Fingerprint("c")}
	if records < smallHistory {
		hooks = []string{hooks[0], hooks[0], hooks[0]}
	}
	for i := range records {
		io.WriteString(w, map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		url := fmt.Sprintf("%s%d", benchSite, i)
		title := fmt.Sprintf("今週の新刊 第%d巻", i%1000)
		if i%10 == 9 {
			fmt.Fprintf(w, `{"url":"%s","title":"%s","posted_at":"2024-08-03T00:00:00.000Z"}`, url, title)
			continue
		}
		key := dedupe.Key{Webhook: hooks[i%3], URL: url}
		fmt.Fprintf(w, `{"id":"%s","webhook":"%s","url":"%s","destination":"manga-x","source":"manga","title":"%s","status":"posted","posted_at":"2026-08-03T00:00:00.000Z"}`,
			key.ID(), key.Webhook, url, title)
	}
	io.WriteString(w, "\n]\n")
	require.NoError(t, w.Flush())
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

// queuedRecords is a queue.json of the candidates that wait already.
func queuedRecords() string {
	var lines []string
	hook := dedupe.Fingerprint(benchWebhook)
	for i := range candidatesQueued {
		url := fmt.Sprintf("%squeued-%d", benchSite, i)
		lines = append(lines, fmt.Sprintf(`{"id":"%s","webhook":"%s","url":"%s","destination":"manga-x","title":"題名","status":"queued","queued_at":"2026-08-03T00:00:00.000Z","due_at":"2036-08-03T00:00:00.000Z"}`,
			dedupe.Key{Webhook: hook, URL: url}.ID(), hook, url))
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

// candidateURLs lists the thousand candidates, those that are posted spread over
// the whole history.
func candidateURLs(records int) string {
	var urls strings.Builder
	line := func(what any) { fmt.Fprintf(&urls, "%s%v\n", benchSite, what) }
	for i := range candidatesPosted {
		if records < smallHistory {
			line(i/9*10 + i%9)
			continue
		}
		at := i * (records / candidatesPosted) / 30 * 30 // 30n: the bench's own, and not of those with only an address
		line(at + []int{0, 3, 6, 12, 15, 18, 21, 24, 27}[i%9])
	}
	for i := range candidatesLegacy {
		line(i*(records/candidatesLegacy)/10*10 + 9)
	}
	for i := range candidatesQueued {
		line(fmt.Sprint("queued-", i))
	}
	for i := range candidatesNew {
		line(fmt.Sprint("new-", i))
	}
	return urls.String()
}

// fold measures how a thousand entries that are done come into a posted.json of a
// million. A command leaves that for later with so large a file, so it is measured
// through the store, with the journal read first.
func (b *bench) fold(t *testing.T) {
	const records, moved = 1_000_000, 1000
	r := row{work: "1,000 records moved into 1,000,000", against: "JavaScript rewrite", gate: 0.15, aim: 0.06}
	if b.node == "" {
		r.not = "there is no Node"
		b.add(t, r)
		return
	}
	master := b.history(t, records)
	defer os.RemoveAll(master)
	done := filepath.Join(master, "done.json")
	b.finishEntries(t, filepath.Join(master, "state"), moved, done)
	out := filepath.Join(master, "out.json")
	figures := inTurns(*reps,
		func() float64 {
			dir := b.copyLedger(t, master)
			defer os.RemoveAll(dir)
			took, _ := timed(t, b.helper(t, "fold", filepath.Join(dir, "state")))
			return took
		},
		func() float64 {
			defer os.Remove(out)
			took, said := timed(t, b.reference("move", filepath.Join(master, "state", "posted.json"), done, out))
			require.Equal(t, fmt.Sprintf("posted=%d", records+moved), lastLine(said))
			return took
		},
	)
	b.add(t, r.compare(figures[0], figures[1], seconds))
}

// finishEntries leaves so many posted entries in the journal of a ledger, and their
// records in the file done.
func (b *bench) finishEntries(t *testing.T, state string, n int, done string) {
	t.Helper()
	s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: state, Now: time.Now})
	require.NoError(t, err)
	lines := finish(t, s, n)
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(done, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o600))
}

// finish adds so many entries to a ledger and brings them to their end, and returns
// their records.
func finish(t *testing.T, s *jsonstore.Store, n int) []string {
	t.Helper()
	ctx := t.Context()
	var all []queue.Candidate
	for i := range n {
		all = append(all, queue.Candidate{Entry: new(benchEntry("manga-x", benchWebhook, fmt.Sprint("done-", i)))})
	}
	_, err := s.Insert(ctx, all)
	require.NoError(t, err)
	var lines []string
	for _, c := range all {
		require.NoError(t, benchClaim(ctx, s, benchMessage(t, *c.Entry)))
		e, err := s.Update(ctx, c.Entry.ID, func(e queue.Entry) (queue.Entry, error) {
			return queue.Settle(e, time.Now(), e.Claim.Token, queue.Attempt{Receipt: poster.Receipt{RemoteID: "1"}})
		})
		require.NoError(t, err)
		raw, err := queue.MarshalRecord(e)
		require.NoError(t, err)
		lines = append(lines, string(raw))
	}
	return lines
}

// helpFold folds the ledger in the directory that is named.
func helpFold(t *testing.T) {
	path := filepath.Join(flag.Arg(0), "posted.json")
	before, err := os.Stat(path)
	require.NoError(t, err)
	s, err := jsonstore.Open(context.Background(), jsonstore.Options{Dir: flag.Arg(0), Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, s.Fold(context.Background()))
	require.NoError(t, s.Close())
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Greater(t, after.Size(), before.Size())
}
