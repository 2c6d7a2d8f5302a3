package cmd

import (
	"cmp"
	"context"
	"time"

	"bot/queue"

	"github.com/spf13/cobra"
)

func newPauseCmd(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "pause [DEST…]",
		Short: "Stop sending, to some destinations or to all",
		Long:  "Stop sending, to the named destinations or to all, until `bot resume`. Articles are queued as before.",
		RunE: func(c *cobra.Command, names []string) error {
			return a.setPause(c.Context(), "pause", names, func(f *fleet, p *queue.Pacing) {
				p.Paused = &queue.Pause{Reason: cmp.Or(oneLine(reason, 200), "paused by hand"), Since: f.queue.Now().UTC()}
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for those who ask")
	return c
}

func newResumeCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [DEST…]",
		Short: "Send again, to some destinations or to all",
		Long:  "Send again: to the named destinations, or, without names, lift the pause of everything and of each destination.",
		RunE: func(c *cobra.Command, names []string) error {
			return a.setPause(c.Context(), "resume", names, func(_ *fleet, p *queue.Pacing) {
				// Whoever resumes has mended what was wrong, so nothing waits for a back-off.
				p.Paused, p.NotBefore = nil, time.Time{}
			})
		},
	}
}

// setPause changes the kill switch of the named destinations. Without names, pause
// throws the one switch for all, and resume lifts every switch.
func (a *app) setPause(ctx context.Context, command string, names []string, set func(*fleet, *queue.Pacing)) error {
	check := func(f *fleet) error { return f.known(command, names, f.destinationNames()) }
	return a.with(ctx, true, check, func(ctx context.Context, f *fleet) error {
		books := make([]string, 0, len(names))
		for _, n := range names {
			books = append(books, queue.DestinationBook(n))
		}
		if len(names) == 0 {
			books = append(books, queue.FleetBook)
			if command == "resume" {
				for _, n := range f.destinationNames() {
					books = append(books, queue.DestinationBook(n))
				}
			}
		}
		for _, book := range books {
			err := queue.ChangeBook(ctx, f.queue.Store, book, func(p *queue.Pacing) error {
				set(f, p)
				return nil
			})
			if err != nil {
				return err
			}
		}
		if len(names) == 0 {
			names = []string{"everything"}
		}
		for _, n := range names {
			a.printf("%sd  %s\n", command, n)
		}
		return a.printJSON(struct {
			Command      string   `json:"command"`
			Destinations []string `json:"destinations"`
		}{command, names})
	})
}
