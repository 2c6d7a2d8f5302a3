// Package cmd is the command line: it wires the parts together, and is the only
// place that prints errors and picks exit codes.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"bot/config"
	"bot/dedupe"
	"bot/queue"
	"bot/queue/jsonstore"

	"github.com/spf13/cobra"
)

// The exit codes. 2 is never among them: a panic exits 2.
const (
	exitDone        = 0
	exitFailed      = 1
	exitPartly      = 3
	exitRefused     = 4
	exitNeedsPerson = 5
	exitLocked      = 6
	exitUsage       = 64
	exitInterrupted = 130
)

// Run runs the program in env and returns its exit code. It keeps no state
// between two calls but what is in the store.
func Run(ctx context.Context, env Env) int {
	a := newApp(env)
	a.collectGarbage(seldom)
	root := newRootCmd(a)
	err := root.ExecuteContext(ctx)
	if err == nil {
		// A result that nobody can read was not given.
		err = a.stdout.err
	}
	code := exitCode(ctx, err, a.started)
	if code == exitInterrupted && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil && !errors.As(err, new(outcome)) {
		for _, line := range errorLines(err) {
			fmt.Fprintf(a.stderr, "bot: %s\n", line)
		}
	}
	if code == exitNeedsPerson && a.quiet {
		// Whoever has cron mail what is printed would not know of it.
		fmt.Fprintln(a.stderr, "bot: something needs a person; `bot status` says what")
	}
	return code
}

// exitCode picks the code for the error that ended a command. An error before the
// command started is one of usage.
func exitCode(ctx context.Context, err error, started bool) int {
	var done outcome
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &done):
		return int(done)
	case !started, errors.As(err, new(usageError)), errors.As(err, new(config.Problems)):
		return exitUsage
	case errors.Is(err, dedupe.ErrRefused), errors.Is(err, queue.ErrNoLedger), errors.Is(err, jsonstore.ErrMoved):
		return exitRefused
	case errors.Is(err, queue.ErrLocked):
		return exitLocked
	case ctx.Err() != nil:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// outcome is the exit code of a command that did its work and printed its result.
type outcome int

func (o outcome) Error() string { return fmt.Sprintf("exit code %d", int(o)) }

// finish returns the outcome of a command that ran to its end: what needs a person
// wins over what was only partly done, and an interruption over both.
func finish(ctx context.Context, partly, needsPerson bool) error {
	switch {
	case ctx.Err() != nil:
		return outcome(exitInterrupted)
	case needsPerson:
		return outcome(exitNeedsPerson)
	case partly:
		return outcome(exitPartly)
	default:
		return nil
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// app is one run of the program: its world and its global flags.
type app struct {
	env            Env
	stdout, stderr *cleanWriter
	log            *slog.Logger
	// started is set when the command line was understood.
	started bool

	configFile string
	json       bool
	quiet      bool
	logLevel   string
	logFormat  string
}

func newApp(env Env) *app {
	a := &app{env: env.complete()}
	var mu sync.Mutex
	a.stdout, a.stderr = &cleanWriter{w: a.env.Stdout, mu: &mu}, &cleanWriter{w: a.env.Stderr, mu: &mu}
	return a
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "bot",
		Short: "Announce every new article once per account",
		Long: "bot announces every new article of your sites once per account, on schedule, and never twice.\n\n" +
			"  bot init https://your.site    write a config and open an empty ledger\n" +
			"  bot run                       look for new articles and send what is due (from cron)\n" +
			"  bot status                    the whole fleet at a glance\n" +
			"  bot demo                      see it work, without config or network",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.started = true
			return a.setLogger()
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpCommand(newHelpCmd())
	flags := root.PersistentFlags()
	flags.StringVarP(&a.configFile, "config", "c", "", "config `FILE` (default $BOT_CONFIG, ./bot.yaml, or bot/bot.yaml in your config directory)")
	flags.BoolVar(&a.json, "json", false, "print the result as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print nothing but errors, that something needs a person, and JSON")
	flags.StringVar(&a.logLevel, "log-level", "info", "what to log on stderr: debug, info, warn or error")
	flags.StringVar(&a.logFormat, "log-format", "text", "how to log: text or json")
	root.AddCommand(
		newInitCmd(a), newEnqueueCmd(a), newProcessCmd(a), newRunCmd(a), newServeCmd(a), newStatusCmd(a),
		newQueueCmd(a), newPostedCmd(a), newResolveCmd(a), newPreviewCmd(a), newExplainCmd(a), newBacktestCmd(a), newCheckCmd(a),
		newPauseCmd(a), newResumeCmd(a), newExportCmd(a), newImportCmd(a), newMigrateCmd(a), newDemoCmd(a), newVersionCmd(a),
	)
	root.SetArgs(spread(root, a.env.Args))
	return root
}

// newHelpCmd is cobra's help, but that asking for what is not there is a mistake.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the flags of a command",
		RunE: func(c *cobra.Command, names []string) error {
			about, rest, err := c.Root().Find(names)
			if err != nil || len(rest) > 0 {
				return usagef("help: there is no command %q", strings.Join(names, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// setLogger makes the logger that the global flags ask for. It logs to stderr.
func (a *app) setLogger() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usagef("--log-level: %q is none of debug, info, warn, error", a.logLevel)
	}
	if a.quiet {
		level = max(level, slog.LevelError)
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "json":
		options.ReplaceAttr = func(groups []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.TimeKey && len(groups) == 0 {
				attr.Value = slog.TimeValue(a.env.Now())
			}
			return attr
		}
		a.log = slog.New(slog.NewJSONHandler(a.stderr, options))
	case "text":
		// Cron and journald put their own times on what they keep.
		options.ReplaceAttr = func(groups []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.TimeKey && len(groups) == 0 {
				return slog.Attr{}
			}
			return attr
		}
		a.log = slog.New(slog.NewTextHandler(a.stderr, options))
	default:
		return usagef("--log-format: %q is neither text nor json", a.logFormat)
	}
	return nil
}

// path makes a path of the command line absolute.
func (a *app) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(a.env.Dir, p)
}

// configPath returns the path of the config file: what --config or $BOT_CONFIG
// name, or the first of the usual places that exists, or the first of them.
func (a *app) configPath() string {
	if a.configFile != "" {
		return a.path(a.configFile)
	}
	if p := a.env.Getenv("BOT_CONFIG"); p != "" {
		return a.path(p)
	}
	here := a.path("bot.yaml")
	if _, err := os.Stat(here); err == nil {
		return here
	}
	dir := a.env.Getenv("XDG_CONFIG_HOME")
	if home := a.env.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir != "" {
		p := filepath.Join(dir, "bot", "bot.yaml")
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return here
}
