package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Gate is one thing that decides whether an article is announced.
type Gate struct {
	// Name is source, address, rule, age, first sight, ledger, page, brake, schedule,
	// pause or quiet.
	Name string `json:"gate"`
	// Passes tells that the article gets through.
	Passes bool `json:"passes"`
	// Detail says why, or why not.
	Detail string `json:"detail"`
}

// Explanation is why an article was, was not or will be announced at one
// destination. Gates are in the order in which they are met; the last one may be
// where the article ended.
type Explanation struct {
	Destination string `json:"destination"`
	// Source and Rule are those by which the article got furthest. Empty: none.
	Source string `json:"source"`
	Rule   string `json:"rule"`
	// Key is what is announced only once, as text. Empty: the address has none.
	Key        string `json:"key"`
	Gates      []Gate `json:"gates"`
	Conclusion string `json:"conclusion"`
}

func (x *Explanation) gate(name string, passes bool, format string, args ...any) bool {
	x.Gates = append(x.Gates, Gate{name, passes, fmt.Sprintf(format, args...)})
	return passes
}

// end says how it ends for the article. It returns nil, for its caller to return.
func (x *Explanation) end(format string, args ...any) error {
	x.Conclusion = fmt.Sprintf(format, args...)
	return nil
}

// Explain tells for every destination why the article at an address was, was not
// or will be announced there. found is what the sources that list it have of it
// now, a batch of one article for each, and whole is all that these sources hold,
// which the brake counts. It changes nothing.
func (q *Queue) Explain(ctx context.Context, url string, found, whole []Batch) ([]Explanation, error) {
	next := nextRun{decide: sync.OnceValues(func() (Added, error) { return q.Add(ctx, whole, AddOptions{DryRun: true}) })}
	for _, b := range whole {
		next.listed += len(b.Articles) + len(b.Waiting)
	}
	all := make([]Explanation, 0, len(q.Destinations))
	for i := range q.Destinations {
		x := Explanation{Destination: q.Destinations[i].Name}
		if err := q.explain(ctx, &x, &q.Destinations[i], url, found, next); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// nextRun is what the next run would do with all that some sources hold: listed counts
// their articles, and decide finds out when it is first asked.
type nextRun struct {
	listed int
	decide func() (Added, error)
}

func (q *Queue) explain(ctx context.Context, x *Explanation, d *Destination, url string, found []Batch, next nextRun) error {
	names := make([]string, 0, len(found))
	for _, b := range found {
		names = append(names, b.Source)
	}
	x.gate("source", len(found) > 0, "%s", listing(names))

	dec := q.decision(Article{URL: url}, nil, *d, Source{Site: q.siteOf(url)})
	matched, batch := q.matching(d, found)
	if matched != nil {
		dec = *matched
		x.Source, x.Rule = dec.Entry.Article.Source, dec.Entry.Rule
	}
	if !x.gate("address", dec.Verdict != VerdictRefused, "%s", orKey(dec)) {
		return x.end("never announced: the address is refused")
	}
	one := []Decision{dec}
	if _, err := q.recall(ctx, one, q.now()); err != nil {
		return err
	}
	dec = one[0]
	x.Key = dec.Entry.Key.String()
	switch {
	case len(found) == 0:
	case matched == nil:
		x.gate("rule", false, "%s", q.ruledOut(d, found))
	default:
		x.gate("rule", true, "rule %s brings it from %s", x.Rule, x.Source)
	}
	if dec.Verdict != "" {
		x.gate("ledger", false, "%s", dec.Reason)
		return x.end("not announced by rule %s: %s", x.Rule, dec.Verdict)
	}

	known, err := q.Store.Lookup(ctx, []Candidate{dec.candidate()})
	if err != nil {
		return err
	}
	if !known[0].New() {
		return q.explainKnown(ctx, x, d, known[0])
	}
	if dec.occurrence != "" && dec.rule.Cadence.Counts() {
		x.Key = dec.Entry.Key.Webhook + "|" + dec.Entry.Key.URL + "|every …"
	}
	source := q.sourceNamed(x.Source)
	skipped := ""
	if matched != nil {
		skipped = x.age(source, dec.Entry.Article, dec.firstSight(batch.Seen), q.now())
	}
	x.gate("ledger", true, "nothing is known of it here")
	switch {
	case len(found) == 0:
		return x.end("not announced: no source lists it; `bot enqueue --url` announces it by hand")
	case matched == nil:
		return x.end("not announced: no rule brings it here")
	case skipped != "":
		return x.end("the next run skips it: %s", skipped)
	}
	if on, err := q.explainPage(ctx, x, d, dec, source); err != nil || !on {
		return err
	}
	if on, err := x.brake(dec, source, next); err != nil || !on {
		return err
	}
	planner, err := q.planner(ctx, nil)
	if err != nil {
		return err
	}
	e := dec.Entry
	e.DueAt = ceilMilli(planner.next(e, q.now(), ceilMilli(latest(q.now(), e.Article.Published))))
	if err := q.explainSending(ctx, x, d, e); err != nil {
		return err
	}
	switch {
	case dec.rule.Cadence.Counts():
		return x.end("the next run counts it, and queues it if its turn has come: the first, and then every %d", dec.rule.Cadence.N)
	case dec.rule.Shadow:
		return x.end("the next run queues it, in shadow mode")
	}
	return x.end("the next run queues it")
}

// age tells whether an article that the ledger does not know is fresh enough, and
// returns why not.
func (x *Explanation) age(source Source, a Article, firstSight bool, now time.Time) (skipped string) {
	verdict, old := source.age(a, false, now)
	x.gate("age", verdict != SkippedOld, "%s", cmp.Or(old, "within max_age"))
	verdict, skipped = source.age(a, firstSight, now)
	x.gate("first sight", verdict != SkippedBaseline, "%s",
		orElse(verdict == SkippedBaseline, skipped, "the source was looked at before, or the article is fresh"))
	return skipped
}

// explainPage tells what the article's page says, if its source waits for it. It
// reports whether that lets the article through.
func (q *Queue) explainPage(ctx context.Context, x *Explanation, d *Destination, dec Decision, source Source) (bool, error) {
	if !source.Ready {
		return true, nil
	}
	page := q.Pages(ctx, []Article{dec.Entry.Article})[0]
	if page.Err != nil {
		x.gate("page", false, "%s", page.Err)
		return false, x.end("waits until its page answers 200; each run looks at it again")
	}
	q.alsoAt(&dec, q.addresses(&dec, page, source.Site))
	if dec.also != nil {
		known, err := q.Store.Lookup(ctx, []Candidate{dec.candidate()})
		if err != nil {
			return false, err
		}
		if k := known[0]; !k.New() {
			if same, err := q.isSame(ctx, &dec, k); err != nil {
				return false, err
			} else if same {
				x.gate("page", true, "it answers 200, and is at %s", dec.also[0])
				return false, q.explainKnown(ctx, x, d, k)
			}
		}
	}
	x.gate("page", true, "it answers 200")
	return true, nil
}

// brake tells whether the brake holds the article, by what the next run would decide of
// all that its source holds. It reports whether that lets the article through.
func (x *Explanation) brake(dec Decision, source Source, next nextRun) (bool, error) {
	if source.Brake == 0 {
		return x.gate("brake", true, "there is none"), nil
	}
	if next.listed > source.Brake {
		added, err := next.decide()
		if err != nil {
			return false, err
		}
		for _, d := range added.Decisions {
			if d.Verdict == VerdictHeld && d.page == dec.page && d.Entry.Destination == dec.Entry.Destination && d.Entry.Rule == dec.Entry.Rule {
				return x.gate("brake", false, "%s", d.Reason), x.end("the next run holds it: too many articles of %s are new at once", source.Name)
			}
		}
	}
	return x.gate("brake", true, "passes unless more than %d articles are new in that run", source.Brake), nil
}

// explainKnown tells what the ledger has of it, and what becomes of that.
func (q *Queue) explainKnown(ctx context.Context, x *Explanation, d *Destination, k Known) error {
	e, err := q.Store.Get(ctx, k.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	what := fmt.Sprintf("entry %s is %s", k.ID, k.Status)
	if k.URLOnly {
		what = "an older record without a webhook has this address"
	}
	if k.RenamedFrom != "" {
		what += fmt.Sprintf(", of the same article as %s: source %s gave both the guid %q", k.RenamedFrom, e.Article.Source, e.Article.GUID)
	}
	if e.Reason != "" {
		what += ": " + e.Reason
	}
	x.gate("ledger", false, "%s", what)
	if k.URLOnly && (k.Status == Held || k.Status == Skipped) {
		return x.end("not announced: the record names no destination; %s", howAnnounced(e))
	}
	switch k.Status {
	case Posted:
		if e.Shadow {
			return x.end("done in shadow mode already, at %s", e.PostedAt.Format(time.RFC3339))
		}
		if e.PostedAt.IsZero() {
			return x.end("announced already")
		}
		return x.end("announced already, at %s", e.PostedAt.Format(time.RFC3339))
	case Skipped:
		return x.end("not announced: skipped; `bot queue retry %s` announces it all the same", k.ID)
	case Held:
		return x.end("held; `bot queue release %s` lets it go", k.ID)
	case Failed:
		return x.end("failed: %s; `bot queue retry %s` tries again", e.LastError, k.ID)
	case Uncertain:
		return x.end("may have been announced; look there, then `bot resolve %s`", k.ID)
	case Sending:
		return x.end("being sent since %s", e.Claim.At.Format(time.RFC3339))
	}
	if err := q.explainSending(ctx, x, d, e); err != nil {
		return err
	}
	return x.end("queued, due %s", e.DueAt.Format(time.RFC3339))
}

// explainSending tells what may keep an entry that is queued, or would be, waiting.
func (q *Queue) explainSending(ctx context.Context, x *Explanation, d *Destination, e Entry) error {
	fleet, err := ReadBook[Pacing](ctx, q.Store, FleetBook)
	if err != nil {
		return err
	}
	pacing, err := ReadBook[Pacing](ctx, q.Store, DestinationBook(d.Name))
	if err != nil {
		return err
	}
	now := q.now()
	l := &lane{pass: &pass{Processor: &Processor{Queue: q}}, d: d, shadow: q.shadow(e)}
	wait := l.atPace(pacing, now, d.slotted(e))
	if e.DueAt.After(now) {
		wait = waitError("due " + e.DueAt.Format(time.RFC3339))
	}
	x.mayWait("schedule", wait, "it is due now")
	wait = l.unpaused(pacing, now)
	if fleet.Paused != nil {
		wait = waitError("everything is paused: " + fleet.Paused.Reason)
	}
	x.mayWait("pause", wait, "nothing is paused")
	x.mayWait("quiet", l.awake(now), "it is not quiet now")
	return nil
}

// mayWait is a gate that opens by itself, or when somebody opens it.
func (x *Explanation) mayWait(name string, wait error, open string) {
	if wait != nil {
		open = wait.Error()
	}
	x.gate(name, wait == nil, "%s", open)
}

// matching returns the decision of the first batch and rule that bring the article
// to the destination, and the batch; nil if none does.
func (q *Queue) matching(d *Destination, found []Batch) (*Decision, Batch) {
	for _, b := range found {
		for _, dec := range q.Matches(b, []string{d.Name}) {
			return &dec, b
		}
	}
	return nil, Batch{}
}

// ruledOut says why no rule brings an article that was found.
func (q *Queue) ruledOut(d *Destination, found []Batch) string {
	for _, b := range found {
		for _, r := range q.Rules {
			if slices.Contains(r.From, b.Source) && slices.Contains(r.To, d.Name) {
				return fmt.Sprintf("match or exclude of rule %s leaves it out", r.Name)
			}
		}
	}
	return "no rule takes its source to this destination"
}

func (q *Queue) sourceNamed(name string) Source {
	for _, s := range q.Sources {
		if s.Name == name {
			return s
		}
	}
	return Source{}
}

func listing(names []string) string {
	if len(names) == 0 {
		return "no source lists it now"
	}
	return "listed by " + strings.Join(names, ", ")
}

func orKey(d Decision) string {
	if d.Verdict == VerdictRefused {
		return d.Reason
	}
	return d.Entry.Key.URL
}

func orElse(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
