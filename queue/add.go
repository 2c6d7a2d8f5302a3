package queue

import (
	"context"
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
	// Waiting are articles that the source listed before and whose pages were not
	// there yet. They count as listed.
	Waiting []Waiting
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
	// Waiting are the articles whose pages are not there yet. They have no decision,
	// and are to be brought again by the next run's Batch.
	Waiting []Waiting
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
	// page is the article's canonical address, elsewhere the other addresses at which
	// its site has the same page.
	page      string
	elsewhere []string
	// also are further addresses that its page was found to have. Nil: it was not
	// looked at, or has none.
	also                []string
	ownAliases, ownKeys int // without those
	// byGUID: the source's guids tell its articles apart, beside their addresses.
	byGUID bool
	// The rest is set for rules that do not announce each article once. keys are the
	// entry's own key and its aliases, without a bucket, skips the keys under which
	// it is recorded as decided against, and occurrence tells it from others that
	// are counted. twin tells it by the article's guid. Empty: it has none.
	keys, skips      []dedupe.Key
	occurrence, twin string
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
	added := q.matches(batches, sources, o)
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
	list := candidates(decisions)
	known, err := q.Store.Lookup(ctx, list)
	if err != nil {
		return Added{}, err
	}
	judge(decisions, known, batches, sources, now, o)
	if err := q.ready(ctx, &added, sources, batches, now); err != nil {
		return Added{}, err
	}
	decisions = added.Decisions
	brake(decisions, sources)
	if err := q.count(ctx, decisions, books, now, o.DryRun); err != nil {
		return Added{}, err
	}
	if err := q.plan(ctx, decisions, now, o); err != nil {
		return Added{}, err
	}
	if !o.DryRun {
		if err := q.insert(ctx, decisions, list[:0]); err != nil {
			return Added{}, err
		}
		if err := q.noteAlso(ctx, decisions); err != nil {
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
	q.match(&added, b, q.sourceNamed(b.Source), q.takers(b.Source, AddOptions{To: to}))
	return added.Decisions
}

// matches lists the decisions that the batches ask for.
func (q *Queue) matches(batches []Batch, sources map[string]Source, o AddOptions) Added {
	takers := make([][]taker, len(batches))
	n := 0
	for i, b := range batches {
		takers[i] = q.takers(b.Source, o)
		n += (len(b.Articles) + len(b.Waiting)) * len(takers[i])
	}
	added := Added{Decisions: make([]Decision, 0, n)}
	for i, b := range batches {
		b.Articles = b.ordered(sources[b.Source])
		q.match(&added, b, sources[b.Source], takers[i])
	}
	return added
}

// taker is a rule, nil for what is given by hand, and a destination that it means.
type taker struct {
	rule *Rule
	d    Destination
}

// takers lists who may want what a source holds, in the order of the config.
func (q *Queue) takers(source string, o AddOptions) []taker {
	var all []taker
	add := func(r *Rule, to []string) {
		for _, d := range q.Destinations {
			if (to == nil || slices.Contains(to, d.Name)) && (len(o.To) == 0 || slices.Contains(o.To, d.Name)) {
				all = append(all, taker{r, d})
			}
		}
	}
	if source == "" {
		add(nil, nil)
		return all
	}
	for i := range q.Rules {
		if r := &q.Rules[i]; slices.Contains(r.From, source) {
			add(r, r.To)
		}
	}
	return all
}

// match lists the decisions that a batch asks for.
func (q *Queue) match(added *Added, b Batch, source Source, all []taker) {
	// The last of a document is its oldest.
	for _, a := range slices.Backward(b.Articles) {
		for _, one := range all {
			switch {
			case one.rule == nil:
				added.Decisions = append(added.Decisions, q.decision(a, nil, one.d, Source{Site: q.siteOf(a.URL)}))
			case one.rule.takes(a):
				added.Decisions = append(added.Decisions, q.decision(a, one.rule, one.d, source))
			default:
				added.filter(one.rule.Name, 1)
			}
		}
	}
}

// decision gives an article its identity at one destination.
func (q *Queue) decision(a Article, rule *Rule, d Destination, source Source) Decision {
	site := source.Site
	dec := Decision{Entry: Entry{Destination: d.Name, Article: a}, rule: rule, byGUID: source.GUID}
	if rule != nil {
		dec.Entry.Rule = rule.Name
	}
	canonical, err := site.Canonical(a.URL)
	if err != nil {
		dec.Verdict, dec.Reason = VerdictRefused, err.Error()
		return dec
	}
	dec.page, dec.elsewhere = canonical, others(canonical, q.samePlaces(canonical, a, site))
	if !rule.plain() {
		main := canonical
		if rule.Cadence.Counts() {
			main = q.mainOf(canonical, site)
		}
		dec.identify(d, main, others(main, append([]string{canonical}, dec.elsewhere...)))
		return dec
	}
	dec.Entry.Key = dedupe.Key{Webhook: d.Webhook, URL: canonical}
	dec.Entry.ID = dec.Entry.Key.ID()
	urls := append([]string{canonical}, dec.elsewhere...)
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
	for i := range decisions {
		if d := &decisions[i]; d.Verdict == "" {
			all = append(all, d.candidate())
		}
	}
	return all
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

func (a *Added) filter(rule string, n int) {
	if a.FilteredBy == nil {
		a.FilteredBy = make(map[string]int)
	}
	a.Filtered += n
	a.FilteredBy[rule] += n
}

// Count adds what other counted.
func (a *Added) Count(other Added) {
	a.Matched += other.Matched
	a.Queued += other.Queued
	a.Already += other.Already
	a.Skipped += other.Skipped
	a.Held += other.Held
	a.Refused += other.Refused
	for rule, n := range other.FilteredBy {
		a.filter(rule, n)
	}
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
