//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bot/cmd"

	"github.com/stretchr/testify/require"
)

// asProgram makes this test binary the program: its value is how far the program's
// clock is ahead.
const asProgram = "BOT_TEST_CLOCK_AHEAD"

// noArgs is the value with which the program is run with an Env of nothing.
const noArgs = "no arguments"

// asMachine is what the program's machine is called, if not what this one is.
const asMachine = "BOT_TEST_MACHINE"

// interrupted is what the program's process says on stderr once it was told to stop.
const interrupted = "interrupted"

func TestMain(m *testing.M) {
	if ahead, ok := os.LookupEnv(asProgram); ok {
		os.Exit(program(ahead))
	}
	if receiver, ok := os.LookupEnv(asNaive); ok {
		os.Exit(naiveWorker(receiver))
	}
	os.Exit(m.Run())
}

// program is main, with a clock that may be ahead.
func program(ahead string) int {
	if ahead == noArgs {
		return cmd.Run(context.Background(), cmd.Env{})
	}
	d, err := time.ParseDuration(ahead)
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { fmt.Fprintln(os.Stderr, interrupted) })
	env := cmd.System()
	env.Now = func() time.Time { return time.Now().Add(d) }
	if name := os.Getenv(asMachine); name != "" {
		env.Hostname = func() (string, error) { return name, nil }
	}
	return cmd.Run(ctx, env)
}

func TestTheArgumentsAreThoseOfEnvAlone(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), os.Args[0], "no-such-command")
	c.Env = append(os.Environ(), asProgram+"="+noArgs)
	require.Equal(t, 0, exitCode(t, c.Run()))
}

// fleet is a config and a ledger in a folder, for runs in processes of their own.
type fleet struct {
	t   *testing.T
	dir string
	env []string
	// program is what is run. Empty: this test binary, whose clock may be ahead.
	program string
}

// newFleet opens a ledger whose destinations, d0 to dN, are the paths /d0 to /dN
// of the receiver.
func newFleet(t *testing.T, receiver string, destinations int) *fleet {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	f := &fleet{t: t, dir: t.TempDir()}
	config := "destinations:\n"
	for i := range destinations {
		config += fmt.Sprintf("  - {name: d%d, webhook: %s/d%d}\n", i, receiver, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "bot.yaml"), []byte(config), 0o600))
	// The race detector would let each process sleep for a second before it ends.
	f.env = append(os.Environ(), "FLEET_HOST="+host, "BOT_CONFIG=", "HOME="+f.dir, "GORACE=atexit_sleep_ms=0")
	f.must("", "init")
	return f
}

// command is one run of the program in a process of its own.
func (f *fleet) command(ahead time.Duration, args ...string) *exec.Cmd {
	c := exec.CommandContext(f.t.Context(), cmp.Or(f.program, os.Args[0]), args...)
	c.Dir = f.dir
	c.Env = append(slices.Clone(f.env), asProgram+"="+ahead.String())
	return c
}

// must runs the program, which has to exit 0, and returns what it printed.
func (f *fleet) must(stdin string, args ...string) string {
	f.t.Helper()
	c := f.command(0, args...)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(f.t, err, "bot %v: %s%s", args, out, stderr.Bytes())
	return string(out)
}

// enqueue queues n addresses for every destination.
func (f *fleet) enqueue(n int) {
	f.t.Helper()
	f.must(addresses(0, n), "enqueue", "--from", "-")
}

// addresses are n of them, from a number on, a line each.
func addresses(from, n int) string {
	var urls strings.Builder
	for i := range n {
		fmt.Fprintf(&urls, "https://manga.example/%d\n", from+i)
	}
	return urls.String()
}

// together runs so many processes at once and returns their exit codes.
func (f *fleet) together(n int, args ...string) []int {
	f.t.Helper()
	commands := make([]*exec.Cmd, n)
	for i := range commands {
		commands[i] = f.command(0, args...)
		require.NoError(f.t, commands[i].Start())
	}
	codes := make([]int, n)
	for i, c := range commands {
		codes[i] = exitCode(f.t, c.Wait())
	}
	return codes
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// record is an entry as export prints it.
type record struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
}

// ledger returns every entry by its ID.
func (f *fleet) ledger() map[string]record {
	f.t.Helper()
	entries := map[string]record{}
	lines := json.NewDecoder(strings.NewReader(f.must("", "export")))
	for {
		var r record
		err := lines.Decode(&r)
		if err == io.EOF {
			return entries
		}
		require.NoError(f.t, err)
		require.NotContains(f.t, entries, r.ID, "two entries with one ID")
		entries[r.ID] = r
	}
}

// receiver remembers, for every key, what was answered to each of its posts. It
// answers what its function says: a status, or 0 to tear the connection.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string][]int
}

func newReceiver(t *testing.T, answer func(*http.Request) int) *receiver {
	r := &receiver{answers: map[string][]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		status := answer(req)
		r.mu.Lock()
		key := req.Header.Get("Idempotency-Key")
		r.answers[key] = append(r.answers[key], status)
		r.mu.Unlock()
		switch status {
		case 0:
			panic(http.ErrAbortHandler)
		case http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "0")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) received() map[string][]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := make(map[string][]int, len(r.answers))
	for key, a := range r.answers {
		answers[key] = slices.Clone(a)
	}
	return answers
}

func accept(*http.Request) int { return http.StatusNoContent }

func TestSixteenProcessesSendOneEntryOnce(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newFleet(t, r.URL, 1)
	f.enqueue(1)
	require.Equal(t, make([]int, 16), f.together(16, "process"))
	for id, e := range f.ledger() {
		require.Equal(t, "posted", e.Status)
		require.Equal(t, map[string][]int{id: {204}}, r.received())
	}
}

// requireEachSentOnce tests that there are n entries, all posted, and that each of
// them is one request that was taken.
func requireEachSentOnce(t *testing.T, n int, ledger map[string]record, received map[string][]int) {
	t.Helper()
	require.Len(t, ledger, n)
	require.Len(t, received, n)
	for id, e := range ledger {
		require.Equal(t, "posted", e.Status)
		require.Equal(t, []int{204}, received[id])
	}
}

func TestSixteenProcessesSendManyEntriesOnceEach(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newFleet(t, r.URL, 4)
	f.enqueue(100)
	require.Equal(t, make([]int, 16), f.together(16, "process"))
	requireEachSentOnce(t, 400, f.ledger(), r.received())
}

func TestSixteenProcessesQueueAnArticleOnce(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newFleet(t, r.URL, 2)
	require.Equal(t, make([]int, 16), f.together(16, "enqueue", "--url", "https://manga.example/1"))
	require.Len(t, f.ledger(), 2)
}

func TestKilledAtAnyMomentNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	const kills, destinations, articles = 50, 3, 200
	random := &seeded{r: rand.New(rand.NewPCG(2026, 8))}
	r := newReceiver(t, func(*http.Request) int {
		time.Sleep(time.Duration(random.intn(8)) * time.Millisecond)
		return moody(random)
	})
	f := newFleet(t, r.URL, destinations)
	f.enqueue(articles)
	began := time.Now()
	f.must("", "queue", "list")
	window := 2*time.Since(began) + 40*time.Millisecond
	var ahead time.Duration
	for range kills {
		// So that nothing waits for a back-off.
		ahead += 24 * time.Hour
		c := f.command(ahead, "process")
		require.NoError(t, c.Start())
		time.Sleep(window * time.Duration(random.intn(1000)) / 1000)
		require.NoError(t, c.Process.Kill())
		c.Wait()
	}
	before := len(r.received())
	for due := 1; due > 0; {
		ahead += 24 * time.Hour
		var stdout, stderr bytes.Buffer
		c := f.command(ahead, "process", "--json")
		c.Stdout, c.Stderr = &stdout, &stderr
		require.Contains(t, []int{0, 3, 5}, exitCode(t, c.Run()), "%s", stderr.Bytes())
		var done struct{ Due int }
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &done))
		due = done.Due
	}
	ledger, received := f.ledger(), r.received()
	require.Len(t, ledger, destinations*articles)
	found := audit(ledger, received)
	require.Empty(t, found.wrong)
	t.Logf("%v; %d entries were sent by %d runs that were killed, %d in all", found.states, before, kills, len(received))
	require.NotZero(t, found.states["posted"])
	require.NotZero(t, found.states["uncertain"])
	require.Zero(t, found.states["queued"], "an entry was left behind")
}

// seeded is a source of numbers for many.
type seeded struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (s *seeded) intn(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.IntN(n)
}

func TestAStopFinishesTheSendInFlight(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"Ctrl-C": os.Interrupt, "a service manager's stop": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, release := make(chan struct{}), make(chan struct{})
			r := newReceiver(t, func(*http.Request) int {
				close(arrived)
				<-release
				return 200
			})
			f := newFleet(t, r.URL, 1)
			f.enqueue(3)
			c := f.command(0, "process", "--json")
			var stdout bytes.Buffer
			c.Stdout = &stdout
			stderr, err := c.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, c.Start())
			<-arrived
			require.NoError(t, c.Process.Signal(sig))
			said := bufio.NewScanner(stderr)
			for said.Scan() && said.Text() != interrupted {
			}
			close(release)
			io.Copy(io.Discard, stderr)
			require.Equal(t, 130, exitCode(t, c.Wait()))
			require.Contains(t, stdout.String(), `"due":3,"posted":1,"shadow":0,"later":0,"failed":0,"uncertain":0`)
			require.Len(t, r.received(), 1)
			statuses := map[string]int{}
			for _, e := range f.ledger() {
				statuses[e.Status]++
			}
			require.Equal(t, map[string]int{"posted": 1, "queued": 2}, statuses)
		})
	}
}
