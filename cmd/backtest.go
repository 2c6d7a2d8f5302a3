package cmd

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bot/queue"
	"bot/queue/collect"
	"bot/queue/memstore"

	"github.com/spf13/cobra"
)

// backtestOptions are the flags of backtest.
type backtestOptions struct {
	days, samples int
	sources       []string
}

func newBacktestCmd(a *app) *cobra.Command {
	o := backtestOptions{days: 30, samples: 3}
	c := &cobra.Command{
		Use:   "backtest",
		Short: "What the rules would have announced over the last days",
		Long: "Replay what the sources hold over the last days against the rules, on an empty ledger in memory.\n" +
			"The ledger is not looked at, and nothing is queued or sent.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runBacktest(c.Context(), o) },
	}
	c.Flags().IntVar(&o.days, "days", o.days, "how many days to go back, `N`")
	c.Flags().IntVar(&o.samples, "samples", o.samples, "show the newest `N` announcements of each rule")
	c.Flags().StringSliceVar(&o.sources, "source", nil, "only the source with this `NAME`; may be repeated")
	return c
}

// backtestReport is the result of backtest in JSON.
type backtestReport struct {
	Command string           `json:"command"`
	Days    int              `json:"days"`
	From    jsonTime         `json:"from"`
	To      jsonTime         `json:"to"`
	Sources []backtestSource `json:"sources"`
	Rules   []*backtestRule  `json:"rules"`
	Unknown []string         `json:"unknown"`
}

type backtestSource struct {
	sourceReport
	// Oldest is the oldest dated article that the source still holds.
	Oldest jsonTime `json:"oldest"`
	// Reaches tells that the source holds articles from before the first day.
	Reaches bool `json:"reaches"`
}

type backtestRule struct {
	Name      string `json:"name"`
	Matched   int    `json:"matched"`
	WouldPost int    `json:"would_post"`
	Already   int    `json:"already"`
	Refused   int    `json:"refused"`
	Filtered  int    `json:"filtered"`
	// Undated counts the matched pairs whose article has no date.
	Undated int              `json:"undated"`
	PerDay  []backtestDay    `json:"per_day"`
	Samples []backtestSample `json:"samples"`
}

type backtestDay struct {
	Day       string `json:"day"`
	WouldPost int    `json:"would_post"`
}

type backtestSample struct {
	Destination string   `json:"destination"`
	URL         string   `json:"url"`
	PublishedAt jsonTime `json:"published_at"`
	Text        string   `json:"text"`
	Error       string   `json:"error,omitempty"`
}

func (a *app) runBacktest(ctx context.Context, o backtestOptions) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	switch {
	case o.days < 1 || o.days > 36_500:
		return usagef("--days: want a number of days from 1, not %d", o.days)
	case o.samples < 0:
		return usagef("--samples: want a number of announcements, not %d", o.samples)
	}
	if err := f.known("--source", o.sources, f.sourceNames()); err != nil {
		return err
	}
	results, err := a.pollFresh(ctx, f, o.sources)
	if err != nil {
		return err
	}
	r, err := f.backtest(ctx, results, o)
	if err != nil {
		return err
	}
	a.printBacktest(f, r)
	if err := a.printJSON(r); err != nil {
		return err
	}
	partly := slices.ContainsFunc(results, func(res collect.Result) bool { return res.Err != nil })
	return finish(ctx, partly, false)
}

// backtest replays what was collected on an empty ledger.
func (f *fleet) backtest(ctx context.Context, results []collect.Result, o backtestOptions) (*backtestReport, error) {
	now := f.queue.Now().UTC().Truncate(time.Millisecond)
	y, m, d := now.In(f.cfg.Timezone).Date()
	from := time.Date(y, m, d-o.days+1, 0, 0, 0, 0, f.cfg.Timezone)
	r := &backtestReport{
		Command: "backtest", Days: o.days, From: jsonTime(from), To: jsonTime(now),
		Sources: []backtestSource{}, Rules: []*backtestRule{}, Unknown: []string{},
	}
	var batches []queue.Batch
	for _, res := range results {
		batches = append(batches, r.addSource(res, from, now))
	}
	q := *f.queue
	q.Store = memstore.New()
	q.Sources = nil
	for _, s := range f.queue.Sources {
		// Whether an article is fresh enough for a run of today is not asked.
		q.Sources = append(q.Sources, queue.Source{Name: s.Name, Site: s.Site, MaxAge: math.MaxInt64, FirstRunAll: true})
	}
	added, err := q.Add(ctx, batches, queue.AddOptions{})
	if err != nil {
		return nil, err
	}
	for _, rule := range q.Rules {
		r.Rules = append(r.Rules, f.backtestRule(rule, added, from, o))
	}
	r.unknown(f)
	return r, nil
}

// addSource notes how far back the source goes, and returns what it has of the days
// that are asked for.
func (r *backtestReport) addSource(res collect.Result, from, now time.Time) queue.Batch {
	s := backtestSource{sourceReport: newSourceReport(res)}
	b := queue.Batch{Source: res.Source}
	for _, article := range res.Articles {
		p := article.Published
		if !p.IsZero() && (time.Time(s.Oldest).IsZero() || p.Before(time.Time(s.Oldest))) {
			s.Oldest = jsonTime(p)
		}
		if p.IsZero() || !p.Before(from) && !p.After(now) {
			b.Articles = append(b.Articles, article)
		}
	}
	oldest := time.Time(s.Oldest)
	s.Reaches = !oldest.IsZero() && oldest.Before(from)
	r.Sources = append(r.Sources, s)
	return b
}

func (f *fleet) backtestRule(rule queue.Rule, added queue.Added, from time.Time, o backtestOptions) *backtestRule {
	r := &backtestRule{Name: rule.Name, Samples: []backtestSample{}, PerDay: []backtestDay{}, Filtered: added.FilteredBy[rule.Name]}
	perDay := make(map[string]int)
	var posts []queue.Entry
	for _, d := range added.Decisions {
		if d.Entry.Rule != rule.Name {
			continue
		}
		r.Matched++
		if d.Entry.Article.Published.IsZero() {
			r.Undated++
		}
		switch d.Verdict {
		case queue.VerdictQueued:
			r.WouldPost++
			posts = append(posts, d.Entry)
			if p := d.Entry.Article.Published; !p.IsZero() {
				perDay[p.In(f.cfg.Timezone).Format(time.DateOnly)]++
			}
		case queue.VerdictRefused:
			r.Refused++
		default:
			r.Already++
		}
	}
	for n := range o.days {
		day := from.AddDate(0, 0, n).Format(time.DateOnly)
		r.PerDay = append(r.PerDay, backtestDay{day, perDay[day]})
	}
	for _, e := range posts[max(0, len(posts)-o.samples):] {
		p := f.preview(e)
		r.Samples = append(r.Samples, backtestSample{e.Destination, e.Article.URL, jsonTime(e.Article.Published), p.Text, p.Error})
	}
	return r
}

// unknown says what such a replay cannot know.
func (r *backtestReport) unknown(f *fleet) {
	say := func(format string, args ...any) { r.Unknown = append(r.Unknown, fmt.Sprintf(format, args...)) }
	for _, s := range r.Sources {
		switch oldest := time.Time(s.Oldest); {
		case s.Error != "":
			say("%s could not be read, so nothing of it is counted", s.Name)
		case s.Collected > 0 && oldest.IsZero():
			say("%s gives no dates, so how old its articles are is not known", s.Name)
		case s.Collected > 0 && !s.Reaches:
			say("%s goes back to %s only: what it held before is not counted", s.Name, when(oldest, f.cfg.Timezone))
		}
	}
	for _, rule := range r.Rules {
		if rule.Undated > 0 {
			say("rule %s met %d without a date: they are counted as if they were of today", rule.Name, rule.Undated)
		}
	}
	say("sources hold recent articles only, as they are now: what was edited or taken down since is not seen as it was")
	say("the ledger, max_age, first_run, brake and the pace of destinations are left out")
}

func (a *app) printBacktest(f *fleet, r *backtestReport) {
	a.printf("from %s to %s\n", when(time.Time(r.From), f.cfg.Timezone), when(time.Time(r.To), f.cfg.Timezone))
	for _, rule := range r.Rules {
		a.printf("\n%s\n", rule.Name)
		most := 0
		for _, d := range rule.PerDay {
			most = max(most, d.WouldPost)
		}
		for _, d := range rule.PerDay {
			line := fmt.Sprintf("  %s %4d %s", d.Day, d.WouldPost, strings.Repeat("█", bar(d.WouldPost, most)))
			a.printf("%s\n", strings.TrimRight(line, " "))
		}
		for _, s := range rule.Samples {
			a.printf("  to %s, published %s:\n%s\n", s.Destination, when(time.Time(s.PublishedAt), f.cfg.Timezone), indent(indent(s.Text+s.Error)))
		}
	}
	a.printf("\nwhat this cannot know\n")
	for _, u := range r.Unknown {
		a.printf("  - %s\n", u)
	}
	a.printf("\n")
	for _, rule := range r.Rules {
		a.printf("%s: matched=%d would_post=%d already=%d undated=%d\n", rule.Name, rule.Matched, rule.WouldPost, rule.Already, rule.Undated)
	}
}

// bar is how long a bar is, of at most 50.
func bar(n, most int) int {
	if most <= 50 {
		return n
	}
	return (n*50 + most - 1) / most
}
