package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newDemoCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See the whole thing work, without config or network",
		Long:  "Run the real program on sample feeds and a receiver on this machine's loopback, in a scratch directory that is removed afterwards.\nEvery number shown is counted.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.runDemo(c.Context()) },
	}
}

// demo is one run of the demonstration: the world it makes for the program, and
// what it has shown.
type demo struct {
	app   *app
	site  *demoSite
	dir   string
	host  string // what the machine is called
	owner string // FLEET_HOST
	now   time.Time
	shown []demoStep
}

// demoStep is one thing that was shown, in JSON.
type demoStep struct {
	Title   string `json:"title"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Result  string `json:"result"`
}

// demoOwner is what the scratch world calls its machine.
const demoOwner = "demo-machine"

func (a *app) runDemo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bot-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer os.RemoveAll(dir)
	site, err := newDemoSite(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer site.close()
	d := &demo{
		app: a, site: site, dir: dir, host: demoOwner, owner: demoOwner,
		now: time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC),
	}
	for _, show := range []func(context.Context) error{d.firstRuns, d.newArticles, d.olderRecords, d.guard, d.crash, d.race} {
		if err := show(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	a.printf("\nThat was the real program; nothing left this machine. Next: bot init https://your.site\n")
	return a.printJSON(struct {
		Command string     `json:"command"`
		Steps   []demoStep `json:"steps"`
	}{"demo", d.shown})
}

// firstRuns shows what a new fleet sees: what is fresh is announced, what was there
// before is not, and the second run finds nothing to do.
func (d *demo) firstRuns(ctx context.Context) error {
	if err := d.config("bot.yaml"); err != nil {
		return err
	}
	d.title("A new fleet: two sites, two accounts. The ledger is opened once, by hand.")
	if err := d.bot(ctx, exitDone, "init"); err != nil {
		return err
	}
	d.title("The first run announces what is fresh. An article of the manga site goes to both accounts; last month's is not announced.")
	if err := d.bot(ctx, exitDone, "run"); err != nil {
		return err
	}
	d.received()
	d.title("The second run finds the same articles, and has nothing to do.")
	d.now = d.now.Add(15 * time.Minute)
	if err := d.bot(ctx, exitDone, "run"); err != nil {
		return err
	}
	d.received()
	return nil
}

// newArticles shows an article that came since.
func (d *demo) newArticles(ctx context.Context) error {
	d.title("An hour later the games site has two new articles.")
	d.now = d.now.Add(time.Hour)
	d.site.later.Store(true)
	if err := d.bot(ctx, exitDone, "enqueue"); err != nil {
		return err
	}
	if err := d.bot(ctx, exitDone, "process", "--limit", "1"); err != nil {
		return err
	}
	d.received()
	return nil
}

// olderRecords shows that what an earlier bot left is respected.
func (d *demo) olderRecords(ctx context.Context) error {
	d.title("Another fleet comes from an earlier bot, whose posted.json knows only addresses. One of them is not announced again, to anybody.")
	if err := d.config("older.yaml"); err != nil {
		return err
	}
	state := filepath.Join(d.dir, "older")
	if err := os.Mkdir(state, 0o700); err != nil {
		return err
	}
	older := []byte("[\n  {\"url\": \"HTTP://manga.example/volume-12/\", \"posted_at\": \"2026-08-03T08:31:00Z\", \"note\": \"kept\"}\n]\n")
	if err := os.WriteFile(filepath.Join(state, "posted.json"), older, 0o600); err != nil {
		return err
	}
	return d.bot(ctx, exitDone, "-c", "older.yaml", "enqueue", "--source", "manga")
}

// guard shows who may not write local state.
func (d *demo) guard(ctx context.Context) error {
	d.title("Local state belongs to one machine. Without FLEET_HOST nothing is written or sent…")
	d.owner = ""
	if err := d.bot(ctx, exitRefused, "run"); err != nil {
		return err
	}
	d.title("…nor on a second machine that has the same config and a copy of the state.")
	d.owner, d.host = demoOwner, "second-machine"
	err := d.bot(ctx, exitRefused, "run")
	d.host = demoOwner
	return err
}

// title says what is shown next.
func (d *demo) title(text string) {
	d.shown = append(d.shown, demoStep{Title: text})
	d.app.printf("\n── %s\n", text)
}

// bot runs the program in the scratch world, shows what it says, and returns an
// error unless it exits as it should.
func (d *demo) bot(ctx context.Context, want int, args ...string) error {
	var out bytes.Buffer
	env := d.env(args)
	env.Stdout, env.Stderr = &out, &out
	code := Run(ctx, env)
	command := "bot " + strings.Join(args, " ")
	text := strings.TrimSpace(strings.ReplaceAll(out.String(), d.dir+string(filepath.Separator), ""))
	d.show(command, code, text)
	if code != want {
		return fmt.Errorf("%s: exit code %d, want %d", command, code, want)
	}
	return ctx.Err()
}

// show records and prints one command and what came of it.
func (d *demo) show(command string, code int, text string) {
	step := &d.shown[len(d.shown)-1]
	if step.Command != "" {
		d.shown = append(d.shown, demoStep{Title: step.Title})
		step = &d.shown[len(d.shown)-1]
	}
	lines := strings.Split(text, "\n")
	step.Command, step.Exit, step.Result = command, code, lines[len(lines)-1]
	d.app.printf("  $ %s\n%s\n", command, indent(indent(text)))
	if code != exitDone {
		d.app.printf("    (exit code %d)\n", code)
	}
}

// env is the scratch world: its own directory, environment, host name and clock.
func (d *demo) env(args []string) Env {
	vars := map[string]string{"SITE": d.site.url, "FLEET_HOST": d.owner}
	return Env{
		Args: args, Dir: d.dir, HTTP: d.site.client, Token: d.app.env.Token,
		Getenv:   func(name string) string { return vars[name] },
		Hostname: func() (string, error) { return d.host, nil },
		Now:      func() time.Time { return d.now },
	}
}

// received shows what the accounts were sent in all.
func (d *demo) received() {
	posts := d.site.received()
	d.app.printf("    the receiver has %d %s: news %d, fans %d\n", posts.total(), plural(posts.total(), "post", "posts"), posts["news"], posts["fans"])
}

// config writes a config file whose state directory has the file's name.
func (d *demo) config(name string) error {
	text, err := demoFiles.ReadFile("demo/bot.yaml")
	if err != nil {
		return err
	}
	text = append(text, "state: {dir: "+strings.TrimSuffix(name, ".yaml")+"}\n"...)
	return os.WriteFile(filepath.Join(d.dir, name), text, 0o600)
}
