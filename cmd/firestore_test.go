//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/queue/firestoretest"

	"github.com/stretchr/testify/require"
)

// machines is how long TestThreeMachines lets its machines run, as a duration. Unset:
// a few seconds.
const machines = "BOT_TEST_MACHINES_FOR"

// cloud is a database on the emulator that several machines share, and their
// receiver.
type cloud struct {
	t        *testing.T
	emulator string
	project  string
	receiver string
	paths    []string
	// settings are further ones of every destination.
	settings string
}

func newCloud(t *testing.T, receiver string, paths ...string) *cloud {
	t.Helper()
	return &cloud{t: t, emulator: firestoretest.Host(t), project: firestoretest.Project(), receiver: receiver, paths: paths}
}

// machine is a machine with a folder of its own, that is called name and owned by
// owner. more is added to its config.
func (c *cloud) machine(name, owner, backend, more string) *fleet {
	c.t.Helper()
	f := &fleet{t: c.t, dir: c.t.TempDir()}
	config := fmt.Sprintf("state: {backend: %s, project: %s, fleet: f}\n%sdestinations:\n", backend, c.project, more)
	for _, path := range c.paths {
		config += fmt.Sprintf("  - {name: %s, webhook: %s/%s?key=%s%s}\n", path, c.receiver, path, secret, c.settings)
	}
	require.NoError(c.t, os.WriteFile(filepath.Join(f.dir, "bot.yaml"), []byte(config), 0o600))
	f.env = append(os.Environ(), "FLEET_HOST="+owner, asMachine+"="+name, "BOT_CONFIG=", "HOME="+f.dir, "XDG_CACHE_HOME=",
		"FIRESTORE_EMULATOR_HOST="+c.emulator, "GOOGLE_CLOUD_PROJECT=", "GORACE=atexit_sleep_ms=0")
	return f
}

// opened is the owner of a new fleet that was moved to Firestore right away.
func (c *cloud) opened(more string) *fleet {
	f := c.machine("one", "one", "firestore", more)
	f.must("", "init")
	f.must("", "migrate", "firestore")
	return f
}

// fails runs the program, which has to exit with this code, and returns what it
// said on both streams.
func (f *fleet) fails(code int, args ...string) string {
	f.t.Helper()
	c := f.command(0, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	require.Equal(f.t, code, exitCode(f.t, c.Run()), "bot %v: %s", args, out.Bytes())
	return out.String()
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o600))
}

// history is what earlier bots left: every generation of records.
func history(receiver string) (posted, queued string) {
	webhook := receiver + "/a?key=" + secret
	return `["https://site.example/bare",
{"url":"https://site.example/url-only","posted_at":"2026-01-01T00:00:00Z"},
{"webhook":"` + webhook + `","url":"https://site.example/raw","x_note":"kept"},
{"webhook":"wh_0123456789abcdef0123456789abcdef","url":"https://site.example/keyed","status":"posted"},
{"webhook":"` + webhook + `","url":"mailto:odd"}]`,
		`[{"webhook":"` + webhook + `","url":"https://site.example/queued","due_at":"2026-01-01T00:00:00Z"},
{"url":"https://site.example/nowhere","scheduledAt":1767225600000}]`
}

func TestAFleetMovesAndAnnouncesNothingTwice(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	c := newCloud(t, r.URL, "a")
	one := c.machine("one", "one", "local", "")
	posted, queued := history(r.URL)
	one.write("state/posted.json", posted)
	one.write("state/queue.json", queued)

	two := c.machine("two", "", "firestore", "")
	require.Contains(t, two.fails(4, "run"), "run `bot migrate firestore` once", "nobody writes before it is opened")

	require.Contains(t, c.machine("three", "one", "local", "").fails(4, "migrate", "firestore"), "FLEET_HOST", "only the owner moves it")
	counts := "records total=7 keyed=1 raw_webhook=1 url_only=2 queued=1 odd=2"
	require.Contains(t, one.must("", "migrate", "firestore", "--dry-run"), counts)
	require.Contains(t, two.fails(4, "run"), "was not opened")
	out := one.must("", "migrate", "firestore")
	require.Contains(t, out, counts)
	require.Contains(t, out, "created=7 replaced=0 same=0")
	require.Contains(t, out, "verified every record")
	require.Contains(t, one.must("", "migrate", "firestore"), "already done")

	require.Contains(t, one.fails(4, "run"), "the ledger has moved to Firestore")
	late := c.machine("late", "late", "local", "")
	late.must("", "init")
	require.Contains(t, late.must("", "status"), "this fleet has moved to Firestore")
	require.Contains(t, late.fails(1, "check"), "this machine is still on local files")
	require.Contains(t, late.fails(1, "migrate", "firestore"), "was opened already, and not from this directory")

	for _, name := range []string{"bare", "url-only", "raw", "queued"} {
		two.must("", "enqueue", "--url", "https://site.example/"+name)
	}
	two.must("", "enqueue", "--url", "https://site.example/new")
	two.must("", "process")
	require.Len(t, r.received(), 2, "the one that was queued, and the new one")
	export := two.must("", "export")
	require.NotContains(t, export, secret, "no secret has left the machine")
	require.Contains(t, export, `"x_note":"kept"`)
	require.Contains(t, two.must("", "check"), "read, create-if-absent and conditional update work")
	require.NotContains(t, two.fails(0, "status"), secret)
	require.NoError(t, filepath.WalkDir(filepath.Join(two.dir, ".cache"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		require.NotContains(t, string(text), secret)
		return err
	}))
}

func TestWhatDiffersKeepsTheGuard(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "http://127.0.0.1:1", "a")
	// Another fleet's copy stands under the same name, not opened yet.
	stranger := c.machine("one", "one", "local", "")
	stranger.write("state/posted.json", numbered(700, "stranger"))
	killMidway(t, stranger)
	one := c.machine("one", "one", "local", "")
	one.write("state/posted.json", `["https://site.example/1"]`)
	require.Contains(t, one.fails(1, "migrate", "firestore"), "the local one stays in use, and the guard with it")
	one.must("", "status")
	one.must("", "enqueue", "--url", "https://site.example/1")
	require.Contains(t, c.machine("two", "", "firestore", "").fails(4, "run"), "was not opened")
}

func numbered(n int, site string) string {
	records := make([]string, 0, n)
	for i := range n {
		records = append(records, fmt.Sprintf(`{"webhook":"wh_0123456789abcdef0123456789abcdef","url":"https://%s.example/%d","title":%q}`,
			site, i, strings.Repeat("題", 300)))
	}
	return "[" + strings.Join(records, ",\n") + "]"
}

// killMidway kills a migration when some of it is there, and not all.
func killMidway(t *testing.T, f *fleet) {
	t.Helper()
	m := f.command(0, "migrate", "firestore")
	require.NoError(t, m.Start())
	require.Eventually(t, func() bool { return countEntries(t, f) > 0 }, time.Minute, 2*time.Millisecond)
	require.NoError(t, m.Process.Kill())
	m.Wait()
}

// countEntries asks the emulator how many entries a project has.
func countEntries(t *testing.T, f *fleet) int {
	t.Helper()
	var emulator string
	for _, v := range f.env {
		if host, ok := strings.CutPrefix(v, "FIRESTORE_EMULATOR_HOST="); ok {
			emulator = host
		}
	}
	config, err := os.ReadFile(filepath.Join(f.dir, "bot.yaml"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(config), "project: ")
	project, _, _ := strings.Cut(rest, ",")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		fmt.Sprintf("http://%s/v1/projects/%s/databases/(default)/documents/bot_fleets/f/bot_entries?pageSize=1", emulator, project), nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer owner")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	var list struct{ Documents []any }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&list))
	return len(list.Documents)
}

func TestAMigrationThatWasKilledGoesOn(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "http://127.0.0.1:1", "a")
	one := c.machine("one", "one", "local", "")
	one.write("state/posted.json", numbered(5000, "site"))
	killMidway(t, one)
	require.Contains(t, c.machine("two", "", "firestore", "").fails(4, "run"), "was not opened")
	// Meanwhile the fleet has gone on.
	one.must("", "posted", "add", "https://site.example/more")
	var report struct {
		Created, Same, Replaced int
		Opened                  bool
	}
	require.NoError(t, json.Unmarshal([]byte(one.must("", "migrate", "firestore", "--json", "-q")), &report))
	require.Equal(t, 5001, report.Created+report.Same)
	require.NotZero(t, report.Same)
	require.True(t, report.Opened)
}

func TestSetUpsThatLeadAstrayAreRefused(t *testing.T) {
	t.Parallel()
	f := &fleet{t: t, dir: t.TempDir()}
	f.write("bot.yaml", "state: {backend: firestore, project: production}\n")
	f.env = append(os.Environ(), "FIRESTORE_EMULATOR_HOST=127.0.0.1:1", "BOT_CONFIG=", "GOOGLE_CLOUD_PROJECT=", "HOME="+f.dir)
	require.Contains(t, f.fails(64, "run"), "unset FIRESTORE_EMULATOR_HOST")
	f.write("bot.yaml", "state: {backend: firestore}\n")
	require.Contains(t, f.fails(64, "run"), "set state.project")
	f.write("bot.yaml", "state: {backend: firestore, project: demo-x}\n")
	require.Contains(t, f.fails(1, "status"), "Firestore cannot be reached")
	f.env = append(f.env, "FIRESTORE_EMULATOR_HOST=", "GOOGLE_APPLICATION_CREDENTIALS=/nowhere/key.json")
	require.Contains(t, f.fails(1, "status"), "look at the credentials")
}

func TestSixteenProcessesOnFirestoreSendOneEntryOnce(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newCloud(t, r.URL, "a").opened("")
	f.enqueue(1)
	require.Equal(t, make([]int, 16), f.together(16, "process"))
	require.Len(t, r.received(), 1)
	for id, e := range f.ledger() {
		require.Equal(t, "posted", e.Status)
		require.Equal(t, map[string][]int{id: {204}}, r.received())
	}
}

func TestSixteenProcessesOnFirestoreSendManyEntriesOnceEach(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	f := newCloud(t, r.URL, "a", "b", "c", "d").opened("")
	f.enqueue(100)
	require.Equal(t, make([]int, 16), f.together(16, "process"))
	requireEachSentOnce(t, 400, f.ledger(), r.received())
}

func TestPacingPausesAndClocksAcrossMachines(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	c := newCloud(t, r.URL, "a")
	c.settings = ", min_interval: 1h"
	one := c.opened("")
	two := c.machine("two", "", "firestore", "")
	one.enqueue(6)
	var wg sync.WaitGroup
	for _, f := range []*fleet{one, two} {
		wg.Go(func() { f.together(4, "process") })
	}
	wg.Wait()
	require.Len(t, r.received(), 1, "the interval holds for all machines together")

	// One whose clock is ahead sends early, says so, and sends nothing twice.
	early := two.command(3*time.Hour, "process")
	var stderr bytes.Buffer
	early.Stderr = &stderr
	require.Equal(t, 0, exitCode(t, early.Run()), "%s", stderr.Bytes())
	require.Contains(t, stderr.String(), "this machine's clock is ahead of the server's by 3h0m")
	late := two.command(-3*time.Hour, "process")
	require.Equal(t, 0, exitCode(t, late.Run()))
	require.Len(t, r.received(), 2)

	one.must("", "pause", "--reason", "enough")
	require.Equal(t, 0, exitCode(t, two.command(9*time.Hour, "process").Run()))
	require.Len(t, r.received(), 2, "a pause is everybody's")
	require.Contains(t, two.must("", "status"), "enough")
	for _, answers := range r.received() {
		require.Len(t, answers, 1)
	}
}

// TestThreeMachines lets three machines collect and send, and kills one now and then.
func TestThreeMachines(t *testing.T) {
	t.Parallel()
	length := 6 * time.Second
	if v := os.Getenv(machines); v != "" {
		var err error
		length, err = time.ParseDuration(v)
		require.NoError(t, err)
	}
	r := newReceiver(t, accept)
	// A source that grows.
	began := time.Now()
	articles := func() int { return 5 + int(time.Since(began)/(200*time.Millisecond)) }
	var last int
	var mu sync.Mutex
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(began) < length {
			last = articles()
		}
		for n := range last {
			fmt.Fprintf(w, "https://manga.example/%d\n", n)
		}
	}))
	t.Cleanup(source.Close)
	c := newCloud(t, r.URL, "a", "b", "c")
	config := fmt.Sprintf("sources: [{name: s, list: %s/list.txt, first_run: all, brake: 0}]\n", source.URL)
	fleets := []*fleet{c.opened(config), c.machine("two", "", "firestore", config), c.machine("three", "", "firestore", config)}

	var kills, runs int
	var wg sync.WaitGroup
	for i, f := range fleets {
		random := rand.New(rand.NewPCG(2026, uint64(i)))
		wg.Go(func() {
			for time.Since(began) < length {
				run := f.command(0, "run", "-q")
				if err := run.Start(); err != nil {
					t.Error(err)
					return
				}
				killed := random.IntN(5) == 0
				if killed {
					time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
					run.Process.Kill()
				}
				run.Wait()
				mu.Lock()
				runs++
				if killed {
					kills++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// Each machine ends what its own dead runs have left, and all is sent.
	for _, f := range append(fleets, fleets[0]) {
		run := f.command(0, "run", "-q")
		require.Contains(t, []int{0, 5}, exitCode(t, run.Run()))
	}
	ledger, received := fleets[1].ledger(), r.received()
	require.Len(t, ledger, 3*last)
	uncertain := 0
	for id, e := range ledger {
		require.LessOrEqual(t, len(received[id]), 1, "sent twice")
		if e.Status == "uncertain" {
			uncertain++
			continue
		}
		require.Equal(t, "posted", e.Status)
		require.Len(t, received[id], 1)
	}
	t.Logf("%d articles for 3 destinations in %d runs, %d of them killed: %d sent, %d uncertain, none twice", last, runs, kills, len(received), uncertain)
}
