package cmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"bot/poster"

	"github.com/spf13/cobra"
)

func newCheckCmd(a *app) *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check config, secrets, sources, destinations, state, guard and clock",
		Long:  "Check everything a run needs, without posting: one line each. --offline leaves out what needs the network.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.runCheck(c.Context(), offline) },
	}
	c.Flags().BoolVar(&offline, "offline", false, "do not use the network")
	return c
}

// checkReport is the result of check in JSON.
type checkReport struct {
	Command string      `json:"command"`
	Checks  []checkLine `json:"checks"`
}

type checkLine struct {
	// What is config, secrets, destination, source, state, guard or clock.
	What string `json:"what"`
	// Name is that of the destination, source or rule.
	Name string `json:"name,omitempty"`
	// Result is ok, warning, failed or skipped.
	Result string `json:"result"`
	Detail string `json:"detail"`
}

func (r *checkReport) add(what, name, result, format string, args ...any) {
	r.Checks = append(r.Checks, checkLine{what, name, result, fmt.Sprintf(format, args...)})
}

// outcome adds a line for a check that either went well or ended in err.
func (r *checkReport) outcome(what, name, ok string, err error) {
	if err != nil {
		r.add(what, name, "failed", "%v", err)
		return
	}
	r.add(what, name, "ok", "%s", ok)
}

func (a *app) runCheck(ctx context.Context, offline bool) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	r := &checkReport{Command: "check"}
	r.add("config", "", "ok", "%s: %d %s, %d %s, %d %s", f.cfg.File,
		len(f.sources), plural(len(f.sources), "source", "sources"),
		len(f.queue.Destinations), plural(len(f.queue.Destinations), "destination", "destinations"),
		len(f.queue.Rules), plural(len(f.queue.Rules), "rule", "rules"))
	if len(f.sources) == 0 {
		r.add("config", "", "warning", "there are no sources, so nothing is ever found")
	}
	if len(f.queue.Destinations) == 0 {
		r.add("config", "", "warning", "there are no destinations, so nothing is ever queued")
	}
	r.secrets(f)
	r.destinations(ctx, f, offline)
	if err := r.sources(ctx, a, f, offline); err != nil {
		return err
	}
	if f.cfg.State.Backend == sharedBackend {
		r.shared(ctx, a, f, offline)
	} else {
		r.local(ctx, a, f, offline)
	}
	failed := false
	for _, c := range r.Checks {
		failed = failed || c.Result == "failed"
		a.printf("%-8s %-11s %s\n", c.Result, c.What, join(c.Name, c.Detail))
	}
	if err := a.printJSON(r); err != nil {
		return err
	}
	if failed {
		return outcome(exitFailed)
	}
	return finish(ctx, false, false)
}

// secrets looks at who can read the config, in which webhooks may stand. That all
// secrets are there is known by now: the config names what it lacks.
func (r *checkReport) secrets(f *fleet) {
	info, err := os.Stat(f.cfg.File)
	switch {
	case err != nil:
		r.add("secrets", "", "failed", "%v", err)
	case info.Mode().Perm()&0o077 != 0:
		r.add("secrets", "", "warning", "all are there; other users can read %s: if webhooks stand in it, `chmod 600` it", f.cfg.File)
	default:
		r.add("secrets", "", "ok", "all are there, and other users cannot read the config")
	}
	for _, path := range f.cfg.SecretFiles() {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o007 != 0 {
			r.add("secrets", "", "warning", "every user of this machine can read the secret in %s: `chmod 600` it", path)
		}
	}
}

func (r *checkReport) destinations(ctx context.Context, f *fleet, offline bool) {
	for _, d := range f.queue.Destinations {
		checker, ok := d.Poster.(poster.Checker)
		switch {
		case !ok:
			r.add("destination", d.Name, "skipped", "its settings are right; the platform cannot be asked without posting")
		case offline:
			r.add("destination", d.Name, "skipped", "its settings are right; not asked (--offline)")
		default:
			r.outcome("destination", d.Name, "the platform takes its settings", checker.Check(ctx))
		}
	}
}

func (r *checkReport) sources(ctx context.Context, a *app, f *fleet, offline bool) error {
	if offline {
		for _, s := range f.sources {
			r.add("source", s.Name, "skipped", "not fetched (--offline)")
		}
		return nil
	}
	results, err := a.pollFresh(ctx, f, nil)
	for _, res := range results {
		newest := time.Time{}
		for _, article := range res.Articles {
			if article.Published.After(newest) {
				newest = article.Published
			}
		}
		ok := fmt.Sprintf("%d %s, newest %s", len(res.Articles), plural(len(res.Articles), "article", "articles"), when(newest, f.cfg.Timezone))
		var warnings []string
		if n := res.Dropped; n > 0 {
			warnings = append(warnings, fmt.Sprintf("%d %s no address of a page, and nothing can be announced of %s",
				n, plural(n, "item has", "items have"), plural(n, "it", "them")))
		}
		if res.Next.Moved != "" {
			warnings = append(warnings, fmt.Sprintf("it has moved for good to %s: write that into the config", res.Next.Moved))
		}
		if len(warnings) > 0 && res.Err == nil {
			r.add("source", res.Source, "warning", "%s; %s", ok, strings.Join(warnings, "; "))
			continue
		}
		r.outcome("source", res.Source, ok, res.Err)
	}
	return err
}
