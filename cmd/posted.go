package cmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/collect"

	"github.com/spf13/cobra"
)

func newPostedCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "posted", Short: "Look at and correct what counts as announced", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newPostedListCmd(a), newPostedAddCmd(a), newPostedForgetCmd(a))
	return c
}

func newPostedListCmd(a *app) *cobra.Command {
	var s selection
	var skipped bool
	limit := 50
	c := &cobra.Command{
		Use: "list", Short: "List what was announced, newest last", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return usagef("--limit: want a number of entries, not %d", limit)
			}
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error {
				wanted := queue.Posted
				if skipped {
					wanted = queue.Skipped
				}
				entries, err := s.newest(ctx, f, wanted, limit)
				if err != nil {
					return err
				}
				return a.printEntries(f, "posted list", entries)
			})
		},
	}
	s.flags(c)
	c.Flags().IntVar(&limit, "limit", limit, "the newest `N` (0: all)")
	c.Flags().BoolVar(&skipped, "skipped", false, "list what was decided against instead")
	return c
}

// newest returns the n newest entries in the state that are meant, newest last.
func (s *selection) newest(ctx context.Context, f *fleet, status queue.Status, n int) ([]queue.Entry, error) {
	byTime := func(x, y queue.Entry) int { return x.PostedAt.Compare(y.PostedAt) }
	var entries []queue.Entry
	for e, err := range f.queue.Store.All(ctx) {
		if err != nil {
			return nil, err
		}
		if e.Status != status || !s.takes(f, e) {
			continue
		}
		entries = append(entries, e)
		// The history may be long, so no more of it is kept than will be shown.
		if n > 0 && len(entries) >= 2*n+1024 {
			slices.SortStableFunc(entries, byTime)
			entries = slices.Delete(entries, 0, len(entries)-n)
		}
	}
	slices.SortStableFunc(entries, byTime)
	if n > 0 && len(entries) > n {
		entries = entries[len(entries)-n:]
	}
	return entries, nil
}

func newPostedAddCmd(a *app) *cobra.Command {
	var to []string
	c := &cobra.Command{
		Use: "add URL…", Short: "Count addresses as announced, without announcing them", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, urls []string) error {
			check := func(f *fleet) error { return f.known("--to", to, f.destinationNames()) }
			return a.with(c.Context(), true, check, func(ctx context.Context, f *fleet) error { return a.addPosted(ctx, f, urls, to) })
		},
	}
	c.Flags().StringSliceVar(&to, "to", nil, "only for the destination with this `NAME`; may be repeated (default: every destination)")
	return c
}

func (a *app) addPosted(ctx context.Context, f *fleet, urls, to []string) error {
	added, err := f.queue.AddPosted(ctx, urls, to)
	if err != nil {
		return err
	}
	type line struct {
		ID          string `json:"id"`
		Destination string `json:"destination"`
		URL         string `json:"url"`
		Verdict     string `json:"verdict"`
		Reason      string `json:"reason,omitempty"`
	}
	list := make([]line, 0, len(added.Decisions))
	for _, d := range added.Decisions {
		verdict := string(d.Verdict)
		if d.Verdict == queue.VerdictQueued {
			verdict = "added"
		}
		list = append(list, line{d.Entry.ID, d.Entry.Destination, d.Entry.Article.URL, verdict, d.Reason})
		a.printf("%-15s %s  %s  %s\n", verdict, d.Entry.Destination, d.Entry.Article.URL, d.Reason)
	}
	a.printf("added=%d already=%d refused=%d\n", added.Queued, added.Already, added.Refused)
	if err := a.printJSON(struct {
		Command string `json:"command"`
		Entries []line `json:"entries"`
	}{"posted add", list}); err != nil {
		return err
	}
	return finish(ctx, added.Refused > 0, false)
}

func newPostedForgetCmd(a *app) *cobra.Command {
	var s selection
	var yes bool
	c := &cobra.Command{
		Use: "forget ID|URL…", Short: "Forget that something was announced, so that it may be again", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return a.writing(c.Context(), func(ctx context.Context, f *fleet) error {
				entries, err := s.recorded(ctx, f, names)
				if err != nil {
					return err
				}
				if !yes {
					if err := a.confirm(fmt.Sprintf("forget %d %s, which may then be announced again", len(entries), plural(len(entries), "record", "records"))); err != nil {
						return err
					}
				}
				return a.forget(ctx, f, entries)
			})
		},
	}
	c.Flags().StringSliceVar(&s.to, "to", nil, "only for the destination with this `NAME`; may be repeated")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// recorded returns the entries at rest that the names mean: by ID, or all those of
// an address.
func (s *selection) recorded(ctx context.Context, f *fleet, names []string) ([]queue.Entry, error) {
	ids, urls := make(map[string]bool), make(map[string]bool)
	for _, n := range names {
		if canonical, err := dedupe.Canonical(n); err == nil {
			urls[canonical] = true
		} else {
			ids[n] = true
		}
	}
	var entries []queue.Entry
	found := make(map[string]bool)
	for e, err := range f.queue.Store.All(ctx) {
		if err != nil {
			return nil, err
		}
		if e.Status.Final() && s.takes(f, e) && (ids[e.ID] || urls[e.Key.URL]) {
			entries = append(entries, e)
			found[e.ID], found[e.Key.URL] = true, true
		}
	}
	for _, n := range names {
		canonical, _ := dedupe.Canonical(n)
		if !found[n] && !found[canonical] {
			return nil, fmt.Errorf("%w that is posted or skipped: %s", queue.ErrNotFound, n)
		}
	}
	return entries, nil
}

// readAgain lets the source be read whole next time, although it may not have
// changed since. An older record's source is not known, so all are.
func (f *fleet) readAgain(ctx context.Context, source string) error {
	for _, name := range f.sourceNames() {
		if source != "" && source != name {
			continue
		}
		err := queue.ChangeBook(ctx, f.queue.Store, queue.SourceBook(name), func(p *collect.Progress) error {
			p.Forget()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) forget(ctx context.Context, f *fleet, entries []queue.Entry) error {
	list := make([]entryReport, 0, len(entries))
	for _, e := range entries {
		if err := f.queue.Store.Delete(ctx, e.ID); err != nil {
			return err
		}
		if err := f.readAgain(ctx, e.Article.Source); err != nil {
			return err
		}
		list = append(list, entryReport{e})
		a.printf("forgotten   %s  %s  %s\n", e.ID, cmp.Or(f.nameOf(e), "-"), e.Article.URL)
	}
	a.printf("%d forgotten\n", len(list))
	return a.printJSON(struct {
		Command string        `json:"command"`
		Entries []entryReport `json:"entries"`
	}{"posted forget", list})
}

// confirm asks a person. Anything but yes is no.
func (a *app) confirm(what string) error {
	fmt.Fprintf(a.stderr, "%s? [y/N] ", what)
	answer, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if s := strings.ToLower(strings.TrimSpace(answer)); s == "y" || s == "yes" {
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.stderr)
	}
	return errors.New("not confirmed, so nothing was changed; --yes goes ahead without asking")
}
