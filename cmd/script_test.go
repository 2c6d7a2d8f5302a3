package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"bot/cmd"

	"github.com/rogpeppe/go-internal/testscript"
)

// update rewrites the expectations in the scripts with what the program printed.
var update = flag.Bool("update", false, "rewrite the golden files in the scripts")

const (
	// machine is what the scripts' machine is called, unless a script says otherwise.
	machine = "owner-host"
	// secret stands in the webhooks of the scripts. It must not be seen anywhere.
	secret = "s3cr3t-t0ken"
)

// TestScripts runs testdata/script/*.txtar: the whole program in this process, with
// a clock of the script's own and a web of the script's own. Beside testscript's
// commands there are:
//
//	bot ARG…              run the program; it has to exit 0
//	exits CODE bot ARG…   run the program; it has to exit with CODE
//	input FILE            what the next run reads from stdin
//	clock TIME|+DURATION  set or advance the clock (at first 2026-08-03T09:00:00Z)
//	id NAME URL DEST      set the variable NAME to the ID of an entry
//	pretty                indent the JSON on stdout
//	answer PATH ANSWER…   what the receiver answers next at PATH: a status, perhaps
//	                      with a header as in 429,Retry-After=120, or reset
//	received N            N posts came since the script began
//	posts                 print the posts, one per line, by path
//	lock FILE | unlock    take and leave the lock on a file
//
// The web is the folder www: www/HOST/PATH is what http://HOST/PATH and
// https://HOST/PATH hold, and a host without a folder cannot be reached. Every post
// is answered 204, unless a script has it otherwise.
//
// In what the program prints, the script's folder is written $WORK. After every run
// it is checked that no secret and no host name was let out.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup:              setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bot":      func(ts *testscript.TestScript, neg bool, args []string) { never(ts, neg); run(ts, 0, args) },
			"exits":    exits,
			"input":    func(ts *testscript.TestScript, neg bool, args []string) { worldOf(ts).stdin = ts.ReadFile(args[0]) },
			"clock":    clock,
			"id":       id,
			"pretty":   pretty,
			"answer":   func(ts *testscript.TestScript, neg bool, args []string) { worldOf(ts).web.answer(args[0], args[1:]...) },
			"received": received,
			"posts": func(ts *testscript.TestScript, neg bool, args []string) {
				fmt.Fprint(ts.Stdout(), worldOf(ts).web.posted())
			},
			"lock":   lock,
			"unlock": func(ts *testscript.TestScript, neg bool, args []string) { ts.Check(worldOf(ts).locked.Close()) },
		},
	})
}

// world is what a script's runs of the program see.
type world struct {
	web    *web
	now    time.Time
	stdin  string
	locked *os.File
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value("world").(*world) }

func setup(env *testscript.Env) error {
	w := &world{web: newWeb(filepath.Join(env.WorkDir, "www")), now: time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)}
	env.Defer(w.web.close)
	env.Values["world"] = w
	env.Setenv("MACHINE", machine)
	env.Setenv("FLEET_HOST", machine)
	env.Setenv("NEWS", "http://hooks.example/news?key="+secret)
	env.Setenv("FANS", "http://hooks.example/fans?key="+secret)
	return nil
}

func never(ts *testscript.TestScript, neg bool) {
	if neg {
		ts.Fatalf("say which exit code is meant with exits")
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg)
	if len(args) < 2 || args[1] != "bot" {
		ts.Fatalf("usage: exits CODE bot ARG…")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	run(ts, code, args[2:])
}

// run runs the program once, checks what must hold for every run, and returns what
// is on stdout.
func run(ts *testscript.TestScript, want int, args []string) string {
	w := worldOf(ts)
	var stdout, stderr bytes.Buffer
	got := cmd.Run(context.Background(), cmd.Env{
		Args: args, Stdin: strings.NewReader(w.stdin), Stdout: &stdout, Stderr: &stderr,
		Getenv: ts.Getenv, Hostname: func() (string, error) { return ts.Getenv("MACHINE"), nil },
		Now: func() time.Time { return w.now }, HTTP: w.web.client, Dir: ts.MkAbs("."),
	})
	w.stdin = ""
	for to, from := range map[io.Writer]*bytes.Buffer{ts.Stdout(): &stdout, ts.Stderr(): &stderr} {
		fmt.Fprint(to, strings.ReplaceAll(from.String(), ts.Getenv("WORK"), "$WORK"))
	}
	for name, text := range map[string][]byte{"stdout": stdout.Bytes(), "stderr": stderr.Bytes()} {
		if bytes.Contains(text, []byte(secret)) {
			ts.Fatalf("a secret is on %s:\n%s", name, text)
		}
		if i := bytes.IndexFunc(text, steers); i >= 0 {
			ts.Fatalf("what steers a terminal is on %s at byte %d: %q", name, i, text)
		}
	}
	if name := ts.Getenv("MACHINE"); name != "" && bytes.Contains(stderr.Bytes(), []byte(name)) {
		ts.Fatalf("the machine's name is on stderr:\n%s", stderr.Bytes())
	}
	noSecretUnder(ts)
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout:\n%sstderr:\n%s", got, want, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}

// steers reports whether r does something to a terminal.
func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || strings.ContainsRune("\u202e\u2066\u200f", r)
}

// noSecretUnder looks for the secret in every file that the script or the program
// made.
func noSecretUnder(ts *testscript.TestScript) {
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil && bytes.Contains(text, []byte(secret)) {
			return fmt.Errorf("a secret is in %s", name)
		}
		return nil
	}))
}

func clock(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	if d, ok := strings.CutPrefix(args[0], "+"); ok {
		step, err := time.ParseDuration(d)
		ts.Check(err)
		w.now = w.now.Add(step)
		return
	}
	now, err := time.Parse(time.RFC3339, args[0])
	ts.Check(err)
	w.now = now
}

// id sets a variable to the ID of the entry of an address at a destination.
func id(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(run(ts, 0, []string{"export"})) {
		var r struct{ ID, URL, Destination string }
		ts.Check(json.Unmarshal([]byte(line), &r))
		if r.URL == args[1] && r.Destination == args[2] {
			ts.Setenv(args[0], r.ID)
			return
		}
	}
	ts.Fatalf("no entry of %s at %s", args[1], args[2])
}

func pretty(ts *testscript.TestScript, _ bool, _ []string) {
	var b bytes.Buffer
	ts.Check(json.Indent(&b, []byte(ts.ReadFile("stdout")), "", "  "))
	ts.Stdout().Write(b.Bytes())
}

func received(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if posts := worldOf(ts).web.posted(); strings.Count(posts, "\n") != want {
		ts.Fatalf("the receiver has %d posts, want %d:\n%s", strings.Count(posts, "\n"), want, posts)
	}
}

func lock(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR|os.O_CREATE, 0o600)
	ts.Check(err)
	ts.Check(syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	worldOf(ts).locked = file
}
