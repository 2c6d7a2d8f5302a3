package cmd

import (
	"fmt"
	"time"

	"bot/queue"
)

// enqueueReport is the result of enqueue in JSON.
type enqueueReport struct {
	Command   string          `json:"command"`
	DryRun    bool            `json:"dry_run"`
	Collected int             `json:"collected"`
	Matched   int             `json:"matched"`
	Queued    int             `json:"queued"`
	Already   int             `json:"already"`
	Skipped   int             `json:"skipped"`
	Held      int             `json:"held"`
	Refused   int             `json:"refused"`
	Filtered  int             `json:"filtered"`
	Waiting   []waitingReport `json:"waiting,omitempty"`
	Sources   []sourceReport  `json:"sources"`
	Entries   []verdictReport `json:"entries"`

	partly bool
}

type verdictReport struct {
	ID          string   `json:"id"`
	Destination string   `json:"destination"`
	Source      string   `json:"source"`
	Rule        string   `json:"rule"`
	URL         string   `json:"url"`
	Title       string   `json:"title"`
	PublishedAt jsonTime `json:"published_at"`
	Verdict     string   `json:"verdict"`
	Reason      string   `json:"reason"`
	DueAt       jsonTime `json:"due_at"`
}

// newEnqueueReport lists all that was decided, or what is shown without JSON.
func newEnqueueReport(got *collected, added queue.Added, dryRun, all bool) *enqueueReport {
	r := &enqueueReport{
		Command: "enqueue", DryRun: dryRun, Collected: got.articles, Matched: added.Matched,
		Queued: added.Queued, Already: added.Already, Skipped: added.Skipped, Held: added.Held,
		Refused: added.Refused, Filtered: added.Filtered,
		Sources: []sourceReport{}, Entries: []verdictReport{},
	}
	for _, s := range got.results {
		r.Sources = append(r.Sources, newSourceReport(s))
		r.partly = r.partly || s.Err != nil
	}
	for _, w := range added.Waiting {
		r.Waiting = append(r.Waiting, newWaitingReport(w))
	}
	for i := range added.Decisions {
		d := &added.Decisions[i]
		if !all && !isShown(d.Verdict) {
			continue
		}
		e := &d.Entry
		r.Entries = append(r.Entries, verdictReport{
			ID: e.ID, Destination: e.Destination, Source: e.Article.Source, Rule: e.Rule,
			URL: e.Article.URL, Title: e.Article.Title, PublishedAt: jsonTime(e.Article.Published),
			Verdict: string(d.Verdict), Reason: d.Reason, DueAt: jsonTime(e.DueAt),
		})
	}
	return r
}

// isShown reports whether somebody may ask for each decision with this verdict.
func isShown(v queue.Verdict) bool {
	return v == queue.VerdictQueued || v == queue.VerdictHeld || v == queue.VerdictRefused
}

// printEnqueued shows what was decided anew, and why not where somebody may ask.
func (a *app) printEnqueued(f *fleet, r *enqueueReport) {
	defer a.together()()
	for _, s := range r.Sources {
		if s.Error != "" {
			a.printf("%-9s %s: %s\n", "error", s.Name, s.Error)
		}
	}
	shown := make(map[string]bool)
	for _, e := range r.Entries {
		switch queue.Verdict(e.Verdict) {
		case queue.VerdictQueued:
			a.printf("%-9s %s  %s  due %s\n", "queued", e.Destination, e.URL, when(time.Time(e.DueAt), f.cfg.Timezone))
			if e.Reason != "" {
				a.printf("%-9s %s\n", "", e.Reason)
			}
		case queue.VerdictHeld:
			if !shown[e.Reason] {
				a.printf("%-9s %s: %s\n", "held", e.Source, e.Reason)
			}
			shown[e.Reason] = true
		case queue.VerdictRefused:
			a.printf("%-9s %s  %s: %s\n", "refused", e.Destination, e.URL, e.Reason)
		}
	}
	for _, w := range r.Waiting {
		a.printf("%-9s %s  %s: %s; its page is looked at again on the next run\n", "waiting", w.Source, w.URL, w.Reason)
	}
	a.printf("%s\n", r.sum())
}

// sum is the report in one line.
func (r *enqueueReport) sum() string {
	return fmt.Sprintf("matched=%d queued=%d already=%d skipped=%d held=%d refused=%d",
		r.Matched, r.Queued, r.Already, r.Skipped, r.Held, r.Refused)
}
