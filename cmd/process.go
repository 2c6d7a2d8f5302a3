package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"bot/queue"

	"github.com/spf13/cobra"
)

// processOptions are the flags of process.
type processOptions struct {
	limit  int
	to     []string
	dryRun bool
}

func newProcessCmd(a *app) *cobra.Command {
	var o processOptions
	c := &cobra.Command{
		Use:   "process",
		Short: "Send what is due",
		Long: "Send what is due, oldest first, destinations side by side.\n" +
			"Each entry is claimed before it is sent, so that however many runs there are at once, one of them sends it.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runProcess(c.Context(), o) },
	}
	o.limitFlag(c)
	c.Flags().StringSliceVar(&o.to, "to", nil, "only to the destination with this `NAME`; may be repeated")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be sent; claim and send nothing")
	return c
}

// limitFlag is the flag that run has as well.
func (o *processOptions) limitFlag(c *cobra.Command) {
	c.Flags().IntVar(&o.limit, "limit", 0, "send at most `N` (0: no limit)")
}

func (o processOptions) check(f *fleet) error {
	if o.limit < 0 {
		return usagef("--limit: want a number of sends, not %d", o.limit)
	}
	return f.known("--to", o.to, f.destinationNames())
}

func (a *app) runProcess(ctx context.Context, o processOptions) error {
	return a.with(ctx, !o.dryRun, o.check, func(ctx context.Context, f *fleet) error {
		report, err := a.process(ctx, f, o)
		if report == nil {
			return err
		}
		a.printProcessed(f, report)
		if err := errors.Join(err, a.printJSON(report)); err != nil {
			return err
		}
		return finish(ctx, report.Later > 0, report.needsPerson)
	})
}

// process makes one pass over what is due. The report tells what was done, with an
// error too; it is nil if that was nothing.
func (a *app) process(ctx context.Context, f *fleet, o processOptions) (*processReport, error) {
	return a.processWith(ctx, f, o, nil)
}

// processWith is process that tells observe how long its steps took.
func (a *app) processWith(ctx context.Context, f *fleet, o processOptions, observe func(string, time.Duration)) (*processReport, error) {
	a.collectGarbage(often)
	defer a.collectGarbage(seldom)
	bar := a.progress("sent", 0)
	p := a.processor(f)
	p.Observe = observe
	p.Report = func(s queue.Sent) { bar.step(s.Destination) }
	done, err := p.Run(ctx, queue.ProcessOptions{Limit: o.limit, To: o.to, DryRun: o.dryRun})
	bar.done()
	if err != nil && len(done.Sent) == 0 {
		return nil, err
	}
	report := newProcessReport(done, o.dryRun)
	if err != nil {
		return report, err
	}
	for _, n := range done.Notices {
		a.log.Warn(n.Text)
	}
	stray, err := f.stray(ctx, done)
	if err != nil {
		return report, err
	}
	stray = slices.DeleteFunc(stray, func(e queue.Entry) bool { return !goesOn(e) })
	for _, e := range stray {
		a.log.Warn("queued for no configured destination, and kept; see `bot queue show "+e.ID+"`", "url", e.Article.URL, "destination", e.Destination)
	}
	report.needsPerson = report.needsPerson || len(stray) > 0
	return report, nil
}

// goesOn reports whether an entry is on its way to a destination. One that failed or
// is uncertain was reported by the run in which it became so.
func goesOn(e queue.Entry) bool {
	return !e.Status.Final() && e.Status != queue.Failed && e.Status != queue.Uncertain
}

// stray returns what waits and belongs to no configured destination. In Firestore
// every entry that is looked at costs a read, so there it is only what is due.
func (f *fleet) stray(ctx context.Context, done queue.Processed) ([]queue.Entry, error) {
	if f.cfg.State.Backend == sharedBackend {
		return done.Stray, nil
	}
	return f.queue.Stray(ctx)
}

// processor returns this process's worker.
func (a *app) processor(f *fleet) *queue.Processor {
	return &queue.Processor{Queue: f.queue, Worker: worker(a.env), Gone: gone(a.env), Token: a.env.Token}
}

// processReport is the result of process in JSON.
type processReport struct {
	Command   string       `json:"command"`
	DryRun    bool         `json:"dry_run"`
	Due       int          `json:"due"`
	Posted    int          `json:"posted"`
	Shadow    int          `json:"shadow"`
	Later     int          `json:"later"`
	Failed    int          `json:"failed"`
	Uncertain int          `json:"uncertain"`
	Entries   []sentReport `json:"entries"`

	needsPerson bool
}

type sentReport struct {
	ID          string   `json:"id"`
	Destination string   `json:"destination"`
	URL         string   `json:"url"`
	Title       string   `json:"title"`
	Outcome     string   `json:"outcome"`
	Status      string   `json:"status"`
	Attempt     int      `json:"attempt"`
	RemoteID    string   `json:"remote_id"`
	RemoteURL   string   `json:"remote_url"`
	Error       string   `json:"error"`
	NextAt      jsonTime `json:"next_at"`
	Text        string   `json:"text,omitempty"`
}

func newProcessReport(done queue.Processed, dryRun bool) *processReport {
	r := &processReport{
		Command: "process", DryRun: dryRun, Due: done.Due, Posted: done.Posted, Shadow: done.Shadow,
		Later: done.Later, Failed: done.Failed, Uncertain: done.Uncertain,
		Entries: []sentReport{}, needsPerson: done.NeedsPerson(),
	}
	for _, s := range done.Sent {
		e := s.Entry
		line := sentReport{
			ID: e.ID, Destination: s.Destination, URL: e.Article.URL, Title: e.Article.Title,
			Outcome: s.Outcome, Status: string(e.Status), Attempt: e.Attempts,
			RemoteID: e.RemoteID, RemoteURL: e.RemoteURL, Error: e.LastError,
		}
		if line.Error == "" && e.Status == queue.Failed {
			line.Error = e.Reason
		}
		if e.Status == queue.Queued && !dryRun {
			line.NextAt = jsonTime(e.DueAt)
		}
		if dryRun {
			line.Text = s.Text
		}
		r.Entries = append(r.Entries, line)
	}
	return r
}

func (a *app) printProcessed(f *fleet, r *processReport) {
	defer a.together()()
	for _, e := range r.Entries {
		if r.DryRun {
			a.printf("would post to %s:\n%s\n\n", e.Destination, indent(e.Text))
			continue
		}
		line := fmt.Sprintf("%-9s %s  %s", e.Status, e.Destination, e.URL)
		if note := cmp.Or(e.Error, e.RemoteURL); note != "" {
			line += "  " + note
		}
		if next := time.Time(e.NextAt); !next.IsZero() {
			line += "; next attempt " + when(next, f.cfg.Timezone)
		}
		a.printf("%s\n", line)
		if e.Status == string(queue.Uncertain) {
			a.printf("          it may have been announced: look there, then `bot resolve %s --posted`, `--resend` or `--drop`\n", e.ID)
		}
	}
	a.printf("%s\n", r.sum())
}

// sum is the report in one line.
func (r *processReport) sum() string {
	return fmt.Sprintf("due=%d posted=%d shadow=%d later=%d failed=%d uncertain=%d",
		r.Due, r.Posted, r.Shadow, r.Later, r.Failed, r.Uncertain)
}
