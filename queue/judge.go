package queue

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"bot/dedupe"
)

// judge gives every decision that has none its verdict. known is index by index what
// the ledger has of these.
func judge(decisions []Decision, known []Known, batches []Batch, sources map[string]Source, now time.Time, o AddOptions) {
	seen := make(map[string][]string, len(batches))
	for _, b := range batches {
		seen[b.Source] = b.Seen
	}
	newest := newestOf(batches, o.Latest)
	first := make(map[string]*Decision, len(decisions))
	for i, k := range undecided(decisions, known) {
		d := &decisions[i]
		earlier := first[k.ID]
		if !k.New() && earlier == nil {
			d.known(k)
			continue
		}
		if source := d.Entry.Article.Source; source == "" || newest[source][d.Entry.Article.URL] {
			d.Verdict = VerdictQueued
		} else {
			d.Verdict, d.Reason = sources[source].age(d.Entry.Article, d.firstSight(seen[source]), now)
		}
		if earlier != nil && (earlier.status() != Skipped || len(earlier.skips) == 0) {
			if earlier.Verdict != SkippedBaseline || d.Verdict != VerdictQueued || earlier.Entry.ID != d.Entry.ID {
				d.known(Known{ID: k.ID, Status: earlier.status(), Rule: earlier.Entry.Rule})
				continue
			}
			// It is new to this source, however many others are seen for the first time.
			earlier.known(Known{ID: k.ID, Status: Queued, Rule: d.Entry.Rule})
		}
		first[d.Entry.ID] = d
		if d.Verdict == VerdictQueued && d.occurrence != "" && d.rule.Cadence.Timed() {
			d.Reason = "the article has no date, so the time it was first seen counts"
		}
	}
}

// undecided yields where the decisions without a verdict are, with what the ledger has
// of each: known, index by index.
func undecided(decisions []Decision, known []Known) iter.Seq2[int, Known] {
	return func(yield func(int, Known) bool) {
		n := 0
		for i := range decisions {
			if decisions[i].Verdict != "" {
				continue
			}
			if n++; !yield(i, known[n-1]) {
				return
			}
		}
	}
}

// firstSight reports whether the decision's destination is not among those for
// which its source was looked at, by its present or an earlier webhook.
func (d *Decision) firstSight(seen []string) bool {
	return !slices.Contains(seen, d.Entry.Key.Webhook) && !slices.ContainsFunc(d.aliases, func(k dedupe.Key) bool {
		return slices.Contains(seen, k.Webhook)
	})
}

// newestOf returns, by source, the addresses of its n newest articles.
func newestOf(batches []Batch, n int) map[string]map[string]bool {
	newest := make(map[string]map[string]bool)
	if n <= 0 {
		return newest
	}
	for _, b := range batches {
		sorted := slices.Clone(b.Articles)
		slices.SortStableFunc(sorted, func(x, y Article) int { return y.Published.Compare(x.Published) })
		newest[b.Source] = make(map[string]bool)
		for _, a := range sorted[:min(n, len(sorted))] {
			newest[b.Source][a.URL] = true
		}
	}
	return newest
}

// age tells whether the article is fresh enough for its source.
func (s Source) age(a Article, firstSight bool, now time.Time) (Verdict, string) {
	if firstSight && !s.FirstRunAll {
		if a.Published.IsZero() {
			return SkippedBaseline, "first sight of the source here, and the article has no date"
		}
		if s.FirstRun == 0 || now.Sub(a.Published) > s.FirstRun {
			return SkippedBaseline, "first sight of the source here: what was there before is not announced"
		}
	}
	if age := now.Sub(a.Published); !a.Published.IsZero() && age > s.MaxAge {
		return SkippedOld, fmt.Sprintf("published %s, longer ago than max_age", a.Published.Format(time.DateOnly))
	}
	return VerdictQueued, ""
}

// brake holds all new articles of a source that has more of them than it may.
func brake(decisions []Decision, sources map[string]Source) {
	fresh := make(map[string]map[string]bool)
	for _, d := range decisions {
		if s := d.Entry.Article.Source; s != "" && d.Verdict == VerdictQueued {
			if fresh[s] == nil {
				fresh[s] = make(map[string]bool)
			}
			fresh[s][d.page] = true
		}
	}
	for i := range decisions {
		d := &decisions[i]
		s := sources[d.Entry.Article.Source]
		if n := len(fresh[s.Name]); d.Verdict == VerdictQueued && s.Brake > 0 && n > s.Brake {
			d.Verdict = VerdictHeld
			d.Reason = fmt.Sprintf("brake: %d new articles in one run are more than %d; let them go with `bot queue release --source %s`, or drop them with `bot queue cancel --source %s`",
				n, s.Brake, s.Name, s.Name)
		}
	}
}
