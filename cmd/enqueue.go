package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/collect"

	"github.com/spf13/cobra"
)

// enqueueOptions are the flags of enqueue.
type enqueueOptions struct {
	sources, to, urls []string
	from              string
	title             string
	fetchTitles       bool
	at                string
	latest            int
	dryRun            bool
}

func newEnqueueCmd(a *app) *cobra.Command {
	var o enqueueOptions
	c := &cobra.Command{
		Use:   "enqueue",
		Short: "Collect articles and queue those that are new",
		Long: "Collect articles from the sources, keep those that are neither posted nor queued, and queue them with a due time.\n" +
			"With --url or --from, queue these addresses instead: sources are not polled, age, first sight and brake do not apply,\n" +
			"and every destination is meant unless --to names some.",
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return a.runEnqueue(c.Context(), o) },
	}
	flags := c.Flags()
	o.sourceFlags(c)
	flags.StringArrayVar(&o.urls, "url", nil, "queue this `URL`; may be repeated")
	flags.StringVar(&o.from, "from", "", "queue the URLs in `FILE`, one per line, # for comments; - is stdin")
	flags.StringVar(&o.title, "title", "", "the title of the one --url")
	flags.BoolVar(&o.fetchTitles, "fetch-titles", false, "look up the titles of --url and --from on their pages")
	flags.StringVar(&o.at, "at", "", "due not before `TIME`: 2006-01-02T15:04:05Z, or \"2006-01-02 15:04\" in the config's zone")
	return c
}

// sourceFlags are the flags that run has as well.
func (o *enqueueOptions) sourceFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&o.sources, "source", nil, "poll only the source with this `NAME`; may be repeated")
	flags.StringSliceVar(&o.to, "to", nil, "only for the destination with this `NAME`; may be repeated")
	flags.IntVar(&o.latest, "latest", 0, "announce the newest `N` of each source, even on first sight")
	flags.BoolVar(&o.dryRun, "dry-run", false, "decide everything, change nothing")
}

// byHand reports whether addresses were given instead of polling the sources.
func (o enqueueOptions) byHand() bool { return len(o.urls) > 0 || o.from != "" }

func (o enqueueOptions) check(f *fleet) error {
	if err := f.known("--source", o.sources, f.sourceNames()); err != nil {
		return err
	}
	if err := f.known("--to", o.to, f.destinationNames()); err != nil {
		return err
	}
	switch {
	case o.latest < 0:
		return usagef("--latest: want a number of articles, not %d", o.latest)
	case o.byHand() && (len(o.sources) > 0 || o.latest > 0):
		return usagef("--url and --from do not go with --source and --latest: sources are not polled then")
	case o.title != "" && (len(o.urls) != 1 || o.from != ""):
		return usagef("--title goes with exactly one --url")
	case o.fetchTitles && !o.byHand():
		return usagef("--fetch-titles goes with --url or --from")
	}
	if _, err := parseWhen(o.at, f.cfg.Timezone); err != nil {
		return usagef("--at: %w", err)
	}
	return nil
}

func (a *app) runEnqueue(ctx context.Context, o enqueueOptions) error {
	return a.with(ctx, !o.dryRun, o.check, func(ctx context.Context, f *fleet) error {
		report, err := a.enqueue(ctx, f, o)
		if err != nil {
			return err
		}
		a.printEnqueued(f, report)
		if err := a.printJSON(report); err != nil {
			return err
		}
		return finish(ctx, report.partly || o.byHand() && report.Refused > 0, report.Held > 0)
	})
}

// enqueue collects and adds.
func (a *app) enqueue(ctx context.Context, f *fleet, o enqueueOptions) (*enqueueReport, error) {
	at, err := parseWhen(o.at, f.cfg.Timezone)
	if err != nil {
		return nil, err
	}
	if !o.byHand() {
		a.collectGarbage(often)
		defer a.collectGarbage(seldom)
	}
	options := queue.AddOptions{DryRun: o.dryRun, At: at, To: o.to, Latest: o.latest}
	got, err := a.collect(ctx, f, o, options)
	if err != nil {
		return nil, err
	}
	added, err := f.queue.Add(ctx, got.batches, options)
	if err != nil {
		return nil, err
	}
	added.Count(got.sifted)
	if !o.dryRun && len(o.to) == 0 {
		// Not for some destinations alone, since the others have not seen it. Only now, so that what a source holds is looked at again after a crash.
		if err := got.save(ctx, f, added.Waiting); err != nil {
			return nil, err
		}
		if !o.byHand() && len(o.sources) == 0 {
			if err := f.queue.NoteRules(ctx); err != nil {
				return nil, err
			}
		}
	}
	return newEnqueueReport(got, added, o.dryRun, a.json), nil
}

// collected is what the sources hold, or what was given by hand.
type collected struct {
	batches  []queue.Batch
	results  []collect.Result
	articles int
	// sifted counts what is in no batch any more.
	sifted queue.Added
}

func (a *app) collect(ctx context.Context, f *fleet, o enqueueOptions, options queue.AddOptions) (*collected, error) {
	if o.byHand() {
		return a.collectByHand(ctx, f, o)
	}
	got := &collected{}
	progress, err := f.progress(ctx)
	if err != nil {
		return nil, err
	}
	// A source that has not changed would have no newest articles to show, nor any
	// for a rule that was edited.
	edited, err := f.queue.RulesEdited(ctx)
	if err != nil {
		return nil, err
	}
	sifter := sifter{f: f, o: options, progress: progress}
	read := func(r *collect.Result) {
		// JSON tells of every article.
		if !a.json {
			sifter.take(ctx, r)
		}
	}
	got.results, err = a.poll(ctx, f, o.sources, progress, edited || o.latest > 0, read)
	if err = cmp.Or(err, sifter.err); err != nil {
		return nil, err
	}
	got.sifted = sifter.sifted
	for _, r := range got.results {
		b := queue.Batch{Source: r.Source, Articles: r.Articles, Seen: progress[r.Source].Seen}
		if b.Waiting, err = f.waiting(ctx, r, progress[r.Source]); err != nil {
			return nil, err
		}
		got.articles += r.Listed
		got.batches = append(got.batches, b)
	}
	return got, nil
}

// progress returns how far each source was read.
func (f *fleet) progress(ctx context.Context) (map[string]collect.Progress, error) {
	read := make([]collect.Progress, len(f.sources))
	err := atOnce(len(f.sources), func(i int) (err error) {
		read[i], err = queue.ReadBook[collect.Progress](ctx, f.queue.Store, queue.SourceBook(f.sources[i].Name))
		return err
	})
	if err != nil {
		return nil, err
	}
	progress := make(map[string]collect.Progress, len(f.sources))
	for i, s := range f.sources {
		p := read[i]
		if r := f.queue.Reach(s.Name); len(union(p.Seen, r)) > len(p.Seen) {
			// A destination is new here, so what the others have seen is read again.
			p.Forget()
		}
		progress[s.Name] = p
	}
	return progress, nil
}

// collectByHand makes articles of the addresses on the command line.
func (a *app) collectByHand(ctx context.Context, f *fleet, o enqueueOptions) (*collected, error) {
	urls := o.urls
	if o.from != "" {
		listed, err := a.readURLs(o.from)
		if err != nil {
			return nil, err
		}
		urls = append(slices.Clone(urls), listed...)
	}
	b := queue.Batch{Articles: make([]queue.Article, 0, len(urls))}
	c := a.collector()
	for _, u := range urls {
		article := queue.Article{URL: dedupe.StripTracking(u, nil), Title: o.title}
		if o.fetchTitles && article.Title == "" {
			title, err := c.Title(ctx, article.URL)
			if err != nil {
				a.log.Warn("no title", "url", article.URL, "error", err)
			}
			article.Title = title
		}
		b.Articles = append(b.Articles, article)
	}
	// The first given is the first sent.
	slices.Reverse(b.Articles)
	return &collected{batches: []queue.Batch{b}, articles: len(b.Articles)}, nil
}

// readURLs reads the list that --from names.
func (a *app) readURLs(from string) ([]string, error) {
	r := a.env.Stdin
	if from != "-" {
		file, err := os.Open(a.path(from))
		if err != nil {
			return nil, usagef("--from: %w", err)
		}
		defer file.Close()
		r = file
	}
	urls, err := collect.ReadList(r)
	if err != nil {
		return nil, fmt.Errorf("read --from %s: %w", from, err)
	}
	return urls, nil
}

// save records how far each source was read. What waits goes first: once a source's
// validators are saved, it may not be read again.
func (c *collected) save(ctx context.Context, f *fleet, waiting []queue.Waiting) error {
	return atOnce(len(c.results), func(i int) error {
		r := c.results[i]
		own := waitingOf(r.Source, waiting)
		all, err := f.queue.KeepWaiting(ctx, c.batches[i], own)
		if err != nil {
			return err
		}
		seen := r.Next.Seen
		// What could not be read in part is seen for the first time the next time.
		if r.Listed > 0 && r.Err == nil {
			seen = union(seen, f.queue.Reach(r.Source))
		}
		return queue.ChangeBook(ctx, f.queue.Store, queue.SourceBook(r.Source), func(p *collect.Progress) error {
			next := r.Next
			next.Waiting = len(own) > 0
			if !all {
				next.Forget()
			}
			next.Seen = union(p.Seen, seen)
			*p = next
			return nil
		})
	})
}

// union returns a with those of b that it lacks.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// parseWhen reads a time of the command line. Empty: the zero time.
func parseWhen(s string, zone *time.Location) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write 2006-01-02T15:04:05Z, or \"2006-01-02 15:04\" in the config's zone", s)
}
