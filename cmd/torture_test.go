//go:build unix

package cmd_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bot/queue/firestoretest"

	"github.com/stretchr/testify/require"
)

var (
	tortured = flag.Bool("torture", false, "kill, race and cut off the real program for minutes (TestTorture)")
	seed     = flag.Uint64("seed", 0, "what TestTorture's choices begin with; 0: the clock")
	kills    = flag.Int("kills", 500, "how often TestTorture kills a process, on each kind of ledger")
	many     = flag.Int("many", 10_000, "how many entries TestTorture lets sixteen processes send, on each kind of ledger")
)

// TestTorture does to the real program, built as for a release, what a fleet may meet
// in years, and prints what came of it as a table. It runs only with -torture, as
// `make torture` does; -run TestTorture/NAME does one part, and -seed makes the same
// choices again. When a process is killed is a matter of microseconds, so that the
// same seed does not make the same run.
func TestTorture(t *testing.T) {
	if !*tortured {
		t.Skip("only with -torture")
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("-seed %d; %s, %d cores\n", *seed, runtime.Version(), runtime.NumCPU())
	c := &chamber{program: filepath.Join(t.TempDir(), "bot"), random: &seeded{r: rand.New(rand.NewPCG(*seed, 1))}}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", c.program, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, kind := range []struct {
		name string
		open func(t *testing.T, receiver string, destinations int) *fleet
	}{{"local", c.local}, {"firestore", c.shared}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Run("one", func(t *testing.T) { c.raceForOne(t, kind.name, kind.open) })
			t.Run("many", func(t *testing.T) { c.raceForMany(t, kind.name, kind.open) })
			t.Run("kills", func(t *testing.T) { c.kill(t, kind.name, kind.open) })
		})
	}
	t.Run("naive", c.naive)
	t.Run("connection", c.connection)
	t.Run("emulator", c.emulator)
	fmt.Print(c.table())
}

// chamber is one run of TestTorture.
type chamber struct {
	program string
	random  *seeded
	rows    []torment
}

// torment is a line of the table.
type torment struct {
	what, ledger string
	// runs are the processes there were, and killed those that were killed.
	runs, killed int
	// entries is how many there were, and posts how many requests the receiver got.
	entries, posts int
	states         map[string]int
	// twice counts keys that may have been published more than once, and lost entries
	// that were acknowledged and are gone, or that ledger and receiver disagree about.
	twice, lost int
	took        time.Duration
}

func (c *chamber) add(t *testing.T, row torment) {
	c.rows = append(c.rows, row)
	t.Log(strings.Join(row.cells(), " | "))
}

func (r torment) cells() []string {
	var states []string
	for _, name := range slices.Sorted(maps.Keys(r.states)) {
		states = append(states, fmt.Sprintf("%d %s", r.states[name], name))
	}
	return []string{
		r.what, r.ledger, fmt.Sprint(r.runs), fmt.Sprint(r.killed), fmt.Sprint(r.entries), fmt.Sprint(r.posts),
		strings.Join(states, ", "), fmt.Sprint(r.twice), fmt.Sprint(r.lost), r.took.Round(100 * time.Millisecond).String(),
	}
}

// table returns all rows in Markdown.
func (c *chamber) table() string {
	heading := []string{"what", "ledger", "processes", "killed", "entries", "posts", "in the end", "sent twice", "lost or wrong", "took"}
	lines := [][]string{heading, slices.Repeat([]string{"---"}, len(heading))}
	for _, r := range c.rows {
		lines = append(lines, r.cells())
	}
	text := "\n"
	for _, cells := range lines {
		text += "| " + strings.Join(cells, " | ") + " |\n"
	}
	return text + "\n"
}

// local opens a ledger in files.
func (c *chamber) local(t *testing.T, receiver string, destinations int) *fleet {
	f := newFleet(t, receiver, destinations)
	f.program = c.program
	return f
}

// shared opens a ledger on the emulator.
func (c *chamber) shared(t *testing.T, receiver string, destinations int) *fleet {
	return c.onEmulator(t, firestoretest.Host(t), receiver, destinations)
}

func (c *chamber) onEmulator(t *testing.T, emulator, receiver string, destinations int) *fleet {
	host, err := os.Hostname()
	require.NoError(t, err)
	cloud := &cloud{t: t, emulator: emulator, project: firestoretest.Project(), receiver: receiver}
	for i := range destinations {
		cloud.paths = append(cloud.paths, fmt.Sprintf("d%d", i))
	}
	f := cloud.machine(host, host, "firestore", "")
	f.program = c.program
	f.must("", "init")
	f.must("", "migrate", "firestore")
	return f
}

// tally fills in what ledger and receiver say in the end, and fails the test if they
// say that something was sent twice or lost. acknowledged are the IDs of entries that
// a run said it had queued.
func (r *torment) tally(t *testing.T, f *fleet, posts *receiver, acknowledged []string) {
	t.Helper()
	posts.Close()
	ledger, received := f.ledger(), posts.received()
	found := audit(ledger, received)
	for _, id := range acknowledged {
		if _, ok := ledger[id]; !ok {
			found.object("%s was queued and is gone", id)
		}
	}
	r.entries, r.states, r.twice, r.lost = len(ledger), found.states, found.twice, found.wrongs
	for _, answers := range received {
		r.posts += len(answers)
	}
	require.Empty(t, found.wrong)
	require.Zero(t, r.twice)
}

type opener func(t *testing.T, receiver string, destinations int) *fleet

// raceForOne lets sixteen processes send one entry, again and again.
func (c *chamber) raceForOne(t *testing.T, kind string, open opener) {
	const rounds = 10
	began, row := time.Now(), torment{what: "16 processes, one entry", ledger: kind}
	r := newReceiver(t, accept)
	f := open(t, r.URL, 1)
	for i := range rounds {
		f.must(addresses(i, 1), "enqueue", "--from", "-")
		require.Equal(t, make([]int, 16), f.together(16, "process"))
		row.runs += 16
	}
	row.took = time.Since(began)
	row.tally(t, f, r, nil)
	c.add(t, row)
	requireEachSentOnce(t, rounds, f.ledger(), r.received())
}

// raceForMany lets sixteen processes send thousands of entries.
func (c *chamber) raceForMany(t *testing.T, kind string, open opener) {
	const destinations = 8
	row := torment{what: fmt.Sprintf("16 processes, %d entries", *many), ledger: kind}
	r := newReceiver(t, accept)
	f := open(t, r.URL, destinations)
	f.enqueue(*many / destinations)
	began := time.Now()
	require.Equal(t, make([]int, 16), f.together(16, "process"))
	row.runs, row.took = 16, time.Since(began)
	row.tally(t, f, r, nil)
	c.add(t, row)
	requireEachSentOnce(t, *many/destinations*destinations, f.ledger(), r.received())
}

// naive shows that a store that looks first and writes then would be found out.
func (c *chamber) naive(t *testing.T) {
	began := time.Now()
	posts := raceOnNaive(t, 16)
	c.rows = append(c.rows, torment{what: "16 processes, one entry", ledger: "one that looks, then writes (the check can fail)", runs: 16,
		entries: 1, posts: posts, twice: 1, took: time.Since(began)})
	require.Equal(t, 16, posts)
}

// slow is a receiver in a bad way that takes its time, too.
func (c *chamber) slow(t *testing.T) *receiver {
	return newReceiver(t, func(*http.Request) int {
		wait := time.Duration(c.random.intn(6)) * time.Millisecond
		if c.random.intn(50) == 0 {
			wait = 150 * time.Millisecond
		}
		time.Sleep(wait)
		return moody(c.random)
	})
}

// kill kills processes, two at a time, while they queue and send.
func (c *chamber) kill(t *testing.T, kind string, open opener) {
	// There is always so much to send that a run does not end by itself, mostly.
	const destinations, batch, least = 12, 20, 200
	began, row := time.Now(), torment{what: "kill -9 at any moment", ledger: kind}
	r := c.slow(t)
	f := open(t, r.URL, destinations)
	var acknowledged []string
	articles := 0
	enqueue := func() {
		acknowledged = append(acknowledged, f.queued(addresses(articles, batch))...)
		articles += batch
		row.runs++
	}
	enqueue()
	start := time.Now()
	f.must("", "queue", "list")
	window := 2*time.Since(start) + 60*time.Millisecond
	for row.killed < *kills {
		var wg sync.WaitGroup
		var died [2]bool
		for i := range died {
			args := []string{"process"}
			if c.random.intn(6) == 0 {
				args = []string{"enqueue", "--from", "-"}
			}
			victim := f.command(0, args...)
			// What a killed run queued, if it did, is queued again by nobody.
			victim.Stdin = strings.NewReader(addresses(1_000_000+10*c.random.intn(1_000_000), 3))
			moment := window * time.Duration(c.random.intn(1000)) / 1000
			wg.Go(func() { died[i] = killAfter(t, victim, moment) })
		}
		wg.Wait()
		row.runs += len(died)
		for _, d := range died {
			if d {
				row.killed++
			}
		}
		if len(acknowledged)-len(r.received()) < least {
			enqueue()
		}
	}
	row.runs += f.drain()
	row.took = time.Since(began)
	row.tally(t, f, r, acknowledged)
	c.add(t, row)
}

// killAfter runs a process, kills it at that moment, and reports whether it was still
// at work.
func killAfter(t *testing.T, c *exec.Cmd, moment time.Duration) bool {
	if err := c.Start(); err != nil {
		t.Error(err)
		return true
	}
	timer := time.AfterFunc(moment, func() { c.Process.Kill() })
	defer timer.Stop()
	c.Wait()
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// queued queues addresses, and returns the IDs of the entries that were acknowledged.
func (f *fleet) queued(addresses string) []string {
	f.t.Helper()
	var done struct {
		Entries []struct{ ID, Verdict string }
	}
	require.NoError(f.t, json.Unmarshal([]byte(f.must(addresses, "enqueue", "--from", "-", "--json")), &done))
	var ids []string
	for _, e := range done.Entries {
		if e.Verdict == "queued" {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// drain sends what is left, and returns how many runs that took.
func (f *fleet) drain() int {
	f.t.Helper()
	for runs := 1; ; runs++ {
		code := exitCode(f.t, f.command(0, "process").Run())
		require.Contains(f.t, []int{0, 3, 5}, code)
		waiting := 0
		for _, e := range f.ledger() {
			if e.Status == "queued" || e.Status == "sending" {
				waiting++
			}
		}
		if waiting == 0 {
			return runs
		}
		require.Less(f.t, runs, 200, "it never ends")
		// The receiver asked to be let alone for a second.
		time.Sleep(300 * time.Millisecond)
	}
}

// connection tears and holds up the connections between the processes and the
// ledger.
func (c *chamber) connection(t *testing.T) {
	const destinations, length = 8, 30 * time.Second
	began, row := time.Now(), torment{what: "connections torn, answers held back", ledger: "firestore"}
	r := c.slow(t)
	p := firestoretest.NewProxy(t, firestoretest.Host(t))
	f := c.onEmulator(t, p.Host, r.URL, destinations)
	acknowledged := f.queued(addresses(0, 100))
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(50+c.random.intn(250)) * time.Millisecond):
			}
			if c.random.intn(4) > 0 {
				p.Cut()
				continue
			}
			release := p.Hold()
			time.Sleep(time.Duration(c.random.intn(1500)) * time.Millisecond)
			release()
		}
	})
	for time.Since(began) < length {
		// What a run cannot do, it says, and the next one does.
		f.together(4, "process")
		row.runs += 4
	}
	close(done)
	wg.Wait()
	row.runs += f.drain()
	row.took = time.Since(began)
	row.tally(t, f, r, acknowledged)
	c.add(t, row)
}

// emulator ends the ledger's server in the middle of a run, and with it all that it
// held: it lives in memory. Nothing is sent on a ledger that is not there.
func (c *chamber) emulator(t *testing.T) {
	const destinations = 4
	began, row := time.Now(), torment{what: "the server killed in the middle, back empty", ledger: "firestore"}
	server := firestoretest.Start(t)
	arrived := make(chan struct{}, 1)
	r := newReceiver(t, func(*http.Request) int {
		select {
		case arrived <- struct{}{}:
		default:
		}
		return 204
	})
	f := c.onEmulator(t, server.Host, r.URL, destinations)
	row.entries = len(f.queued(addresses(0, 200)))
	workers := make([]*exec.Cmd, 4)
	for i := range workers {
		workers[i] = f.command(0, "process")
		require.NoError(t, workers[i].Start())
	}
	<-arrived
	time.Sleep(time.Duration(c.random.intn(500)) * time.Millisecond)
	server.Kill()
	server.Restart(t)
	for _, w := range workers {
		// One that is in time to find each of its entries gone takes none, and ends well.
		require.Contains(t, []int{0, 1, 4, 5}, exitCode(t, w.Wait()))
	}
	before := len(r.received())
	require.Equal(t, []int{4, 4}, f.together(2, "process"), "what is not there is not empty")
	require.Contains(t, f.fails(4, "enqueue", "--url", "https://manga.example/1"), "was not opened")
	received := r.received()
	require.Len(t, received, before)
	for _, answers := range received {
		row.posts += len(answers)
		if len(answers) > 1 {
			row.twice++
		}
	}
	row.runs, row.took = 7, time.Since(began)
	c.add(t, row)
	require.Zero(t, row.twice)
	require.Less(t, before, row.entries, "it was killed in the middle")
}
