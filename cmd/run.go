package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

func newRunCmd(a *app) *cobra.Command {
	var e enqueueOptions
	var p processOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Enqueue, then process: what cron calls",
		Args:  cobra.NoArgs,
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
	f, err := a.fleet()
	if err != nil {
		return err
	}
	if err := e.check(f); err != nil {
		return err
	}
	if err := p.check(f); err != nil {
		return err
	}
	store, err := a.openStore(ctx, f, !e.dryRun)
	if err != nil {
		return err
	}
	report := runReport{Command: "run"}
	report.Enqueue, err = a.enqueue(ctx, f, e)
	if err == nil {
		report.Process, err = a.process(ctx, f, p)
	}
	err = closeStore(store, err)
	if report.Enqueue != nil {
		a.printEnqueued(f, report.Enqueue)
	}
	if report.Process != nil {
		a.printProcessed(report.Process)
	}
	if err := a.printJSON(report); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return finish(ctx, report.Enqueue.partly || report.Process.Later > 0, report.Enqueue.Held > 0 || report.Process.needsPerson)
}

// runReport is the result of run in JSON. A part that was not reached is null.
type runReport struct {
	Command string         `json:"command"`
	Enqueue *enqueueReport `json:"enqueue"`
	Process *processReport `json:"process"`
}
