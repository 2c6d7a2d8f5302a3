package cmd

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func newRunCmd(a *app) *cobra.Command {
	var e enqueueOptions
	var p processOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Enqueue, then process: what cron calls",
		Args:  onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error {
			p.to, p.dryRun = e.to, e.dryRun
			return a.runBoth(c.Context(), e, p)
		},
	}
	e.sourceFlags(c)
	p.limitFlag(c)
	return c
}

func (a *app) runBoth(ctx context.Context, e enqueueOptions, p processOptions) error {
	check := func(f *fleet) error { return cmp.Or(e.check(f), p.check(f)) }
	return a.with(ctx, !e.dryRun, check, func(ctx context.Context, f *fleet) error {
		report := runReport{Command: "run"}
		var err error
		if report.Enqueue, err = a.enqueue(ctx, f, e); err != nil {
			return err
		}
		a.printEnqueued(f, report.Enqueue)
		report.Process, err = a.process(ctx, f, p)
		if report.Process != nil {
			a.printProcessed(f, report.Process)
		}
		if err := errors.Join(err, a.printJSON(report)); err != nil {
			return err
		}
		return finish(ctx, report.Enqueue.partly || report.Process.Later > 0, report.Enqueue.Held > 0 || report.Process.needsPerson)
	})
}

// runReport is the result of run in JSON.
type runReport struct {
	Command string         `json:"command"`
	Enqueue *enqueueReport `json:"enqueue"`
	Process *processReport `json:"process"`
}
