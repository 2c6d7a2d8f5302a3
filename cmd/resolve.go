package cmd

import (
	"context"
	"time"

	"bot/queue"

	"github.com/spf13/cobra"
)

func newResolveCmd(a *app) *cobra.Command {
	var posted, resend, drop, probe bool
	var remoteURL string
	c := &cobra.Command{
		Use:   "resolve ID… --posted|--resend|--drop|--probe",
		Short: "Decide an uncertain or failed entry",
		Long: "Decide an uncertain or failed entry after looking at the account.\n" +
			"  --posted  it was announced: count it as posted\n" +
			"  --resend  it was not: send it again with the next process\n" +
			"  --drop    let it be: it is not announced, and not looked at again\n" +
			"  --probe   ask the platform, where it can be asked; it tells what it said",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			r := queue.Resolution{RemoteURL: remoteURL}
			switch {
			case !exactlyOne(posted, resend, drop, probe):
				return usagef("say what became of it with exactly one of --posted, --resend, --drop and --probe")
			case posted:
				r.To = queue.Posted
			case resend:
				r.To = queue.Queued
			case drop:
				r.To = queue.Skipped
			}
			if remoteURL != "" && !posted {
				return usagef("--remote-url goes with --posted")
			}
			return a.writing(c.Context(), func(ctx context.Context, f *fleet) error {
				if probe {
					return a.runProbe(ctx, f, ids)
				}
				return a.change(ctx, f, "resolve", "resolved", ids, func(e queue.Entry, now time.Time) (queue.Entry, error) {
					return queue.Resolve(e, now, r)
				})
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&posted, "posted", false, "it was announced")
	flags.BoolVar(&resend, "resend", false, "it was not announced: send it again")
	flags.BoolVar(&drop, "drop", false, "let it be")
	flags.BoolVar(&probe, "probe", false, "ask the platform")
	flags.StringVar(&remoteURL, "remote-url", "", "where it was announced (with --posted)")
	return c
}

func exactlyOne(flags ...bool) bool {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n == 1
}
