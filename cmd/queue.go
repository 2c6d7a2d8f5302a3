package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bot/queue"

	"github.com/spf13/cobra"
)

func newQueueCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "queue", Short: "Look at and steer what is not posted yet", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newQueueListCmd(a), newQueueShowCmd(a), newQueueRescheduleCmd(a))

	c.AddCommand(newSteerCmd(a, steer{
		use: "cancel", short: "Drop entries for good", done: "cancelled", from: []queue.Status{queue.Held, queue.Queued, queue.Failed},
		change: func(e queue.Entry, _ time.Time) (queue.Entry, error) { return queue.Cancel(e) },
	}))
	c.AddCommand(newSteerCmd(a, steer{
		use: "retry", short: "Queue failed or skipped entries again", done: "queued", from: []queue.Status{queue.Failed},
		change: queue.Retry,
	}))
	c.AddCommand(newSteerCmd(a, steer{
		use: "release", short: "Let held entries go", done: "released", from: []queue.Status{queue.Held},
		change: queue.Release,
	}))
	return c
}

// selection picks entries: by ID, or all of a source or destination.
type selection struct {
	sources, to []string
	all         bool
}

func (s *selection) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.sources, "source", nil, "those of the source with this `NAME`; may be repeated")
	c.Flags().StringSliceVar(&s.to, "to", nil, "those for the destination with this `NAME`; may be repeated")
}

// takes reports whether the entry is of the sources and destinations that are meant.
func (s *selection) takes(f *fleet, e queue.Entry) bool {
	return (len(s.sources) == 0 || slices.Contains(s.sources, e.Article.Source)) &&
		(len(s.to) == 0 || slices.Contains(s.to, f.nameOf(e)))
}

// waitingEntries returns what waits and is meant, next due first.
func (s *selection) waitingEntries(ctx context.Context, f *fleet, statuses []queue.Status) ([]queue.Entry, error) {
	var entries []queue.Entry
	for e, err := range f.queue.Store.Waiting(ctx) {
		if err != nil {
			return nil, err
		}
		if s.takes(f, e) && (len(statuses) == 0 || slices.Contains(statuses, e.Status)) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(x, y queue.Entry) int {
		return cmp.Or(slices.Index(queue.Statuses, x.Status)-slices.Index(queue.Statuses, y.Status),
			x.DueAt.Compare(y.DueAt), x.QueuedAt.Compare(y.QueuedAt), cmp.Compare(x.ID, y.ID))
	})
	return entries, nil
}

func newQueueListCmd(a *app) *cobra.Command {
	var s selection
	var statuses []string
	c := &cobra.Command{
		Use: "list", Short: "List what is not posted yet", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			wanted, err := parseStatuses(statuses)
			if err != nil {
				return err
			}
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error {
				entries, err := s.waitingEntries(ctx, f, wanted)
				if err != nil {
					return err
				}
				return a.printEntries(f, "queue list", entries)
			})
		},
	}
	s.flags(c)
	c.Flags().StringSliceVar(&statuses, "status", nil, "those in this `STATE`: queued, sending, held, uncertain, failed")
	return c
}

func parseStatuses(names []string) ([]queue.Status, error) {
	var statuses []queue.Status
	for _, n := range names {
		if !slices.Contains(queue.Statuses, queue.Status(n)) {
			return nil, usagef("--status: %q is no state; there are %v", n, queue.Statuses)
		}
		statuses = append(statuses, queue.Status(n))
	}
	return statuses, nil
}

// entryReport is one entry in JSON: its record as it is kept.
type entryReport struct{ queue.Entry }

// MarshalJSON writes the entry's record.
func (e entryReport) MarshalJSON() ([]byte, error) { return queue.MarshalRecord(e.Entry) }

func (a *app) printEntries(f *fleet, command string, entries []queue.Entry) error {
	print := a.together()
	list := make([]entryReport, 0, len(entries))
	for _, e := range entries {
		list = append(list, entryReport{e})
		at := e.Due()
		if e.Status == queue.Posted {
			at = e.PostedAt
		}
		shadow := ""
		if e.Shadow {
			shadow = " (shadow)"
		}
		a.printf("%s  %-9s %s  %s  %s%s\n", e.ID, e.Status, when(at, f.cfg.Timezone), cmp.Or(f.nameOf(e), "-"), e.Article.URL, shadow)
		if note := cmp.Or(e.Reason, e.LastError); note != "" {
			a.printf("%38s%s\n", "", oneLine(note, 160))
		}
	}
	a.printf("%d %s\n", len(list), plural(len(list), "entry", "entries"))
	print()
	return a.printJSON(struct {
		Command string        `json:"command"`
		Entries []entryReport `json:"entries"`
	}{command, list})
}

func newQueueShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show ID…", Short: "Show all that is known of entries", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error {
				entries := make([]queue.Entry, 0, len(ids))
				for _, id := range ids {
					e, err := find(ctx, f.queue.Store, id)
					if err != nil {
						return err
					}
					entries = append(entries, e)
				}
				return a.printWhole(f, entries)
			})
		},
	}
}

func (a *app) printWhole(f *fleet, entries []queue.Entry) error {
	list := make([]entryReport, 0, len(entries))
	for _, e := range entries {
		list = append(list, entryReport{e})
		line := func(name, value string) {
			if value != "" {
				a.printf("%-12s %s\n", name, value)
			}
		}
		at := func(name string, t time.Time) {
			if !t.IsZero() {
				line(name, when(t, f.cfg.Timezone))
			}
		}
		line("id", e.ID)
		line("status", string(e.Status))
		line("reason", e.Reason)
		line("key", e.Key.String())
		line("url", e.Article.URL)
		line("title", e.Article.Title)
		line("destination", f.nameOf(e))
		line("rule", e.Rule)
		line("source", e.Article.Source)
		at("published", e.Article.Published)
		at("queued", e.QueuedAt)
		at("due", e.DueAt)
		line("attempts", fmt.Sprint(e.Attempts))
		line("last error", e.LastError)
		at("claimed", e.Claim.At)
		line("claimed by", e.Claim.By)
		at("lease until", e.Claim.LeaseUntil)
		at("posted", e.PostedAt)
		line("remote id", e.RemoteID)
		line("remote url", e.RemoteURL)
		if e.Message.Text != "" {
			a.printf("text\n%s\n", indent(e.Message.Text))
		}
		a.printf("\n")
	}
	return a.printJSON(struct {
		Command string        `json:"command"`
		Entries []entryReport `json:"entries"`
	}{"queue show", list})
}

func newQueueRescheduleCmd(a *app) *cobra.Command {
	var at string
	c := &cobra.Command{
		Use: "reschedule ID… --at TIME", Short: "Give queued entries another due time", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			var to time.Time
			check := func(f *fleet) (err error) {
				if to, err = parseWhen(at, f.cfg.Timezone); err != nil || to.IsZero() {
					return usagef("--at: want a time, such as 2006-01-02T15:04:05Z: %q", at)
				}
				return nil
			}
			return a.with(c.Context(), true, check, func(ctx context.Context, f *fleet) error {
				return a.change(ctx, f, "queue reschedule", "rescheduled", ids, func(e queue.Entry, _ time.Time) (queue.Entry, error) {
					return queue.Reschedule(e, to)
				})
			})
		},
	}
	c.Flags().StringVar(&at, "at", "", "the new due `TIME`: 2006-01-02T15:04:05Z, or \"2006-01-02 15:04\" in the config's zone")
	return c
}

// steer is a command that moves entries from one state to another.
type steer struct {
	use, short, done string
	from             []queue.Status // what a selection picks
	change           func(queue.Entry, time.Time) (queue.Entry, error)
}

func newSteerCmd(a *app, st steer) *cobra.Command {
	var s selection
	c := &cobra.Command{
		Use:   st.use + " [ID…]",
		Short: st.short,
		RunE: func(c *cobra.Command, ids []string) error {
			picked := s.all || len(s.sources) > 0 || len(s.to) > 0
			if picked == (len(ids) > 0) {
				return usagef("%s: name entries by ID, or pick them with --source, --to or --all", st.use)
			}
			return a.writing(c.Context(), func(ctx context.Context, f *fleet) error {
				if picked {
					entries, err := s.waitingEntries(ctx, f, st.from)
					if err != nil {
						return err
					}
					for _, e := range entries {
						ids = append(ids, e.ID)
					}
				}
				return a.change(ctx, f, "queue "+st.use, st.done, ids, st.change)
			})
		},
	}
	s.flags(c)
	states := make([]string, 0, len(st.from))
	for _, status := range st.from {
		states = append(states, string(status))
	}
	c.Flags().BoolVar(&s.all, "all", false, "all that are "+strings.Join(states, " or "))
	return c
}

// change applies one step to each entry and tells of it. An entry that does not
// take the step is reported, and the others are changed all the same.
func (a *app) change(ctx context.Context, f *fleet, command, done string, ids []string, step func(queue.Entry, time.Time) (queue.Entry, error)) error {
	type changed struct {
		ID     string       `json:"id"`
		URL    string       `json:"url"`
		Status queue.Status `json:"status"`
		Error  string       `json:"error,omitempty"`
	}
	list, refused := make([]changed, 0, len(ids)), 0
	for _, id := range ids {
		e, err := find(ctx, f.queue.Store, id)
		if err == nil {
			e, err = f.queue.Store.Update(ctx, e.ID, func(e queue.Entry) (queue.Entry, error) { return step(e, f.queue.Now()) })
		}
		if err != nil {
			if !mistaken(err) {
				return err
			}
			refused++
			list = append(list, changed{ID: id, Error: err.Error()})
			a.log.Error(err.Error())
			continue
		}
		list = append(list, changed{ID: e.ID, URL: e.Article.URL, Status: e.Status})
		a.printf("%-11s %s  %s  %s\n", done, e.ID, cmp.Or(f.nameOf(e), "-"), e.Article.URL)
	}
	a.printf("%d %s\n", len(list)-refused, done)
	if err := a.printJSON(struct {
		Command string    `json:"command"`
		Entries []changed `json:"entries"`
	}{command, list}); err != nil {
		return err
	}
	switch {
	case refused == 0:
		return nil
	case refused == len(list):
		return outcome(exitFailed)
	default:
		return outcome(exitPartly)
	}
}
