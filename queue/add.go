package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"bot/dedupe"
)

// Verdict is what was decided of one article for one rule and destination.
type Verdict string

// The verdicts. Every already_… counts as already.
const (
	VerdictQueued   Verdict = "queued"
	AlreadyQueued   Verdict = "already_queued"
	AlreadyPosted   Verdict = "already_posted"
	AlreadySkipped  Verdict = "already_skipped"
	AlreadyLegacy   Verdict = "already_legacy"
	SkippedBaseline Verdict = "skipped_baseline"
	SkippedOld      Verdict = "skipped_old"
	VerdictHeld     Verdict = "held"
	VerdictRefused  Verdict = "refused"
)

// Batch is what one source holds now.
type Batch struct {
	// Source names the source. Empty: the articles were given by hand, so age,
	// first sight, brake and rules do not apply, and every destination is meant.
	Source string
	// Articles are in the order of the document, which is newest first as a rule.
	Articles []Article
	// Seen holds the webhooks' fingerprints of the destinations for which this source
	// was looked at before. For all others it is first sight.
	Seen []string
}

// AddOptions steer one Add.
type AddOptions struct {
	// DryRun decides everything and changes nothing.
	DryRun bool
	// At is the earliest due time. Zero: now.
	At time.Time
	// To names the only destinations that are meant. Empty: all.
	To []string
	// Latest announces the newest so many articles of each source whatever their
	// age, even on first sight.
	Latest int
}

// Added is what one Add decided. Matched is the sum of the counts below it but
// Filtered, which is not part of it.
type Added struct {
	// Matched counts article × rule × destination; the others say with what verdict.
	Matched, Queued, Already, Skipped, Held, Refused int
	// Filtered counts what a rule's match or exclude left out, and FilteredBy by
	// which rule.
	Filtered   int
	FilteredBy map[string]int
	// Decisions are one for each that matched, oldest article first.
	Decisions []Decision
}

// Decision is the verdict on one article for one rule and destination.
type Decision struct {
	// Entry is what is, or would be, in the ledger. Its ID is empty if the address
	// was refused.
	Entry Entry
	// Verdict is what was decided.
	Verdict Verdict
	// Reason says why, unless it was simply queued.
	Reason string

	aliases []dedupe.Key
	// rule is the one that asks. Nil for what is given by hand.
	rule *Rule
	// page is the article's canonical address.
	page string
	// The rest is set for rules that do not announce each article once. keys are the
	// entry's own key and its aliases, without a bucket, skips the keys under which
	// it is recorded as decided against, and occurrence tells it from others that
	// are counted.
	keys, skips []dedupe.Key
	occurrence  string
}

// Add decides of every article, for every rule and destination it meets, whether
// it is to be announced there, and records each decision that is new. Nothing is
// decided twice: what the ledger knows stays as it is.
func (q *Queue) Add(ctx context.Context, batches []Batch, o AddOptions) (Added, error) {
	now := q.Now().UTC().Truncate(time.Millisecond)
	sources := make(map[string]Source, len(q.Sources))
	for _, s := range q.Sources {
		sources[s.Name] = s
	}
	var added Added
	for _, b := range batches {
		q.match(&added, b, sources[b.Source].Site, o)
	}
	decisions := added.Decisions
	oldestFirst(decisions)

	if !o.DryRun {
		if err := q.replan(ctx); err != nil {
			return Added{}, err
		}
	}
	books, err := q.recall(ctx, decisions, now)
	if err != nil {
		return Added{}, err
	}
	known, err := q.Store.Lookup(ctx, candidates(decisions))
	if err != nil {
		return Added{}, err
	}
	judge(decisions, known, batches, sources, now, o)
	brake(decisions, sources)
	if err := q.count(ctx, decisions, books, now, o.DryRun); err != nil {
		return Added{}, err
	}
	if err := q.plan(ctx, decisions, now, o); err != nil {
		return Added{}, err
	}
	if !o.DryRun {
		if err := q.insert(ctx, decisions); err != nil {
			return Added{}, err
		}
	}
	added.count()
	return added, nil
}

// Matches returns a decision without verdict for each rule and destination that a
// batch meets, whatever the ledger knows. Empty to: every destination.
func (q *Queue) Matches(b Batch, to []string) []Decision {
	var added Added
	q.match(&added, b, q.SiteOf(b.Source), AddOptions{To: to})
	return added.Decisions
}

// match lists the decisions that a batch asks for.
func (q *Queue) match(added *Added, b Batch, site dedupe.Site, o AddOptions) {
	meant := func(to []string, name string) bool {
		return (to == nil || slices.Contains(to, name)) && (len(o.To) == 0 || slices.Contains(o.To, name))
	}
	// The last of a document is its oldest.
	for _, a := range slices.Backward(b.Articles) {
		if b.Source == "" {
			for _, d := range q.Destinations {
				if meant(nil, d.Name) {
					added.Decisions = append(added.Decisions, q.decision(a, nil, d, q.siteOf(a.URL)))
				}
			}
			continue
		}
		for i := range q.Rules {
			r := &q.Rules[i]
			if !slices.Contains(r.From, b.Source) {
				continue
			}
			for _, d := range q.Destinations {
				switch {
				case !meant(r.To, d.Name):
				case r.takes(a):
					added.Decisions = append(added.Decisions, q.decision(a, r, d, site))
				default:
					added.filter(r.Name)
				}
			}
		}
	}
}

// decision gives an article its identity at one destination.
func (q *Queue) decision(a Article, rule *Rule, d Destination, site dedupe.Site) Decision {
	dec := Decision{Entry: Entry{Destination: d.Name, Article: a}, rule: rule}
	if rule != nil {
		dec.Entry.Rule = rule.Name
	}
	canonical, err := site.Canonical(a.URL)
	if err != nil {
		dec.Verdict, dec.Reason = VerdictRefused, err.Error()
		return dec
	}
	dec.page = canonical
	if !rule.plain() {
		dec.identify(d, canonical, site.Elsewhere(canonical))
		return dec
	}
	dec.Entry.Key = dedupe.Key{Webhook: d.Webhook, URL: canonical}
	dec.Entry.ID = dec.Entry.Key.ID()
	urls := append([]string{canonical}, site.Elsewhere(canonical)...)
	for i, url := range urls {
		if i > 0 {
			dec.aliases = append(dec.aliases, dedupe.Key{Webhook: d.Webhook, URL: url})
		}
		for _, former := range d.FormerWebhooks {
			dec.aliases = append(dec.aliases, dedupe.Key{Webhook: former, URL: url})
		}
		dec.aliases = append(dec.aliases, dedupe.Key{URL: url})
	}
	return dec
}

// oldestFirst orders decisions by their articles' age. Undated ones come last, and
// what is of one age stays in the order of match: rules and destinations as in the
// config, so that the first rule that asks for an article has it.
func oldestFirst(decisions []Decision) {
	slices.SortStableFunc(decisions, func(a, b Decision) int {
		x, y := a.Entry.Article.Published, b.Entry.Article.Published
		switch {
		case x.IsZero() && y.IsZero():
			return 0
		case x.IsZero():
			return 1
		case y.IsZero():
			return -1
		}
		return x.Compare(y)
	})
}

func candidates(decisions []Decision) []Candidate {
	all := make([]Candidate, 0, len(decisions))
	for _, d := range decisions {
		if d.Verdict == "" {
			all = append(all, Candidate{Entry: d.Entry, Aliases: d.aliases})
		}
	}
	return all
}

// judge gives every decision that has none its verdict. known is index by index what
// the ledger has of these.
func judge(decisions []Decision, known []Known, batches []Batch, sources map[string]Source, now time.Time, o AddOptions) {
	seen := make(map[string][]string, len(batches))
	for _, b := range batches {
		seen[b.Source] = b.Seen
	}
	newest := newestOf(batches, o.Latest)
	first := make(map[string]*Decision, len(decisions))
	n := 0
	for i := range decisions {
		d := &decisions[i]
		if d.Verdict != "" {
			continue
		}
		k := known[n]
		n++
		earlier := first[k.ID]
		if earlier != nil && (earlier.status() != Skipped || len(earlier.skips) == 0) {
			d.known(Known{ID: k.ID, Status: earlier.status(), Rule: earlier.Entry.Rule})
			continue
		}
		if !k.New() && earlier == nil {
			d.known(k)
			continue
		}
		first[d.Entry.ID] = d
		if source := d.Entry.Article.Source; source == "" || newest[source][d.Entry.Article.URL] {
			d.Verdict = VerdictQueued
		} else {
			d.Verdict, d.Reason = sources[source].age(d.Entry.Article, d.firstSight(seen[source]), now)
		}
		if d.Verdict == VerdictQueued && d.occurrence != "" && d.rule.Cadence.Timed() {
			d.Reason = "the article has no date, so the time it was first seen counts"
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

// plan makes of every new decision the entry that is inserted.
func (q *Queue) plan(ctx context.Context, decisions []Decision, now time.Time, o AddOptions) error {
	planner, err := q.planner(ctx, nil)
	if err != nil {
		return err
	}
	for i := range decisions {
		d := &decisions[i]
		e := &d.Entry
		switch d.Verdict {
		case VerdictQueued, VerdictHeld:
			earliest := ceilMilli(latest(latest(now, o.At), e.Article.Published))
			e.Status, e.DueAt = Queued, earliest
			if d.Verdict == VerdictHeld {
				e.Status, e.Reason = Held, d.Reason
			} else {
				if o.At.After(now) {
					e.Reason = askedFor + o.At.UTC().Format(time.RFC3339)
				}
				e.DueAt = ceilMilli(planner.next(*e, now, earliest))
			}
		case SkippedBaseline, SkippedOld:
			d.skip()
			e.Status, e.Reason = Skipped, d.Reason
		default:
			continue
		}
		// A millisecond apart, so that their order is kept.
		e.QueuedAt = now.Add(time.Duration(i) * time.Millisecond)
	}
	return nil
}

// insert records the new decisions, and lets the ledger overrule each that
// another run has made since.
func (q *Queue) insert(ctx context.Context, decisions []Decision) error {
	var fresh []*Decision
	var list []Candidate
	for i := range decisions {
		if d := &decisions[i]; d.Entry.Status != "" {
			fresh = append(fresh, d)
			list = append(list, Candidate{Entry: d.Entry, Aliases: d.aliases})
		}
	}
	if len(list) == 0 {
		return nil
	}
	known, err := q.Store.Insert(ctx, list)
	if err != nil {
		return err
	}
	for i, k := range known {
		if !k.New() {
			fresh[i].known(k)
		}
	}
	return nil
}

// known gives the verdict on what the ledger has already.
func (d *Decision) known(k Known) {
	d.Entry.ID = k.ID
	d.Entry.Status, d.Entry.DueAt, d.Entry.QueuedAt = "", time.Time{}, time.Time{}
	switch {
	case k.URLOnly:
		d.Verdict, d.Reason = AlreadyLegacy, "an older record without a webhook has this address"
	case d.rule != nil && (!d.rule.perArticle() || d.rule.Cadence.Counts()):
		d.Verdict, d.Reason = AlreadyCounted, cmp.Or(d.Entry.Key.Bucket, "announced once")+" is taken"
	case k.Status == Posted:
		d.Verdict, d.Reason = AlreadyPosted, "posted"
	case k.Status == Skipped:
		d.Verdict, d.Reason = AlreadySkipped, "skipped"
	default:
		d.Verdict, d.Reason = AlreadyQueued, string(k.Status)
	}
	if k.Rule != "" && k.Rule != d.Entry.Rule {
		d.Reason += " by rule " + k.Rule
	}
}

// status is the state that a decision which was just made leads to.
func (d *Decision) status() Status {
	switch d.Verdict {
	case VerdictHeld:
		return Held
	case SkippedBaseline, SkippedOld:
		return Skipped
	default:
		return Queued
	}
}

func (a *Added) filter(rule string) {
	if a.FilteredBy == nil {
		a.FilteredBy = make(map[string]int)
	}
	a.Filtered++
	a.FilteredBy[rule]++
}

func (a *Added) count() {
	a.Matched = len(a.Decisions)
	for _, d := range a.Decisions {
		switch d.Verdict {
		case VerdictQueued:
			a.Queued++
		case SkippedBaseline, SkippedOld:
			a.Skipped++
		case VerdictHeld:
			a.Held++
		case VerdictRefused:
			a.Refused++
		default:
			a.Already++
		}
	}
}

// SiteOf returns which addresses are the same page at the named source.
func (q *Queue) SiteOf(source string) dedupe.Site { return q.sourceNamed(source).Site }

// siteOf returns the site that an address given by hand belongs to, so that it
// has the same identity as through its source.
func (q *Queue) siteOf(url string) dedupe.Site {
	for _, s := range q.Sources {
		if s.Site.Has(url) {
			return s.Site
		}
	}
	return dedupe.Site{}
}
