package queue

import (
	"context"
	"slices"
	"strings"

	"bot/dedupe"
)

// A page that was looked at may have further addresses: where it was found after
// redirects, and what it names as its own. The article is the same under each. An
// entry's key is what its source listed, so that it is known again without another
// look; for each further address a record is kept beside it that says so.

// samePage begins the reason of such a record.
const samePage = "the same page as "

// addresses returns the further canonical addresses of the decision's page. What the
// page names counts on the same site only: it may name anything. The address of a
// whole host does not count: consent and login pages lead there, and broken pages name
// it. A parameter that the source strips may be one that chooses the page, so what the
// page names counts with its parameters, too.
func (q *Queue) addresses(d *Decision, p Page, site dedupe.Site) []string {
	var all []string
	add := func(canonical string, err error) {
		if err == nil && canonical != d.page && !dedupe.IsRoot(canonical) && !slices.Contains(all, canonical) {
			all = append(all, canonical)
		}
	}
	final, err := site.Canonical(p.Final)
	if err != nil {
		final = d.page
	}
	add(final, nil)
	if own, err := dedupe.Canonical(p.Canonical); err == nil && (q.sameSite(own, final) || q.sameSite(own, d.page)) {
		add(site.Canonical(p.Canonical))
		add(own, nil)
	}
	return all
}

// sameSite reports whether two canonical addresses are on one site.
func (q *Queue) sameSite(a, b string) bool {
	return slices.ContainsFunc(append(q.elsewhere(a), a), func(one string) bool { return dedupe.SameHost(one, b) })
}

// mayBeAlso reports whether the decision is of an article, and not of an occurrence
// that is counted or of another thing.
func (d *Decision) mayBeAlso() bool {
	return d.rule.plain() || d.rule.perArticle() && !d.rule.Cadence.Counts()
}

// alsoAt gives the decision the further addresses of its page.
func (q *Queue) alsoAt(d *Decision, urls []string) {
	if len(urls) == 0 || !d.mayBeAlso() {
		return
	}
	d.also, d.ownAliases, d.ownKeys = urls, len(d.aliases), len(d.keys)
	webhooks := []string{d.Entry.Key.Webhook}
	if to := q.DestinationOf(d.Entry.Key.Webhook); to != nil {
		webhooks = append(webhooks, to.FormerWebhooks...)
	}
	if d.rule.plain() {
		webhooks = append(webhooks, "") // older records without one
	}
	for _, url := range urls {
		for _, at := range append([]string{url}, q.elsewhere(url)...) {
			for _, w := range webhooks {
				k := dedupe.Key{Webhook: w, URL: at}
				if d.keys != nil {
					d.keys = append(d.keys, k)
				}
				k.Bucket = d.Entry.Key.Bucket
				d.aliases = append(d.aliases, k)
			}
		}
	}
}

// notAlso takes the further addresses back.
func (d *Decision) notAlso() {
	d.also, d.aliases, d.keys = nil, d.aliases[:d.ownAliases], d.keys[:d.ownKeys]
}

// judgeAlso gives a verdict to decisions whose page is known under a further address,
// by the ledger or by an earlier decision.
func (q *Queue) judgeAlso(ctx context.Context, decisions []Decision) error {
	var also []*Decision
	var list []Candidate
	for i := range decisions {
		if d := &decisions[i]; d.Verdict == VerdictQueued && d.also != nil {
			also = append(also, d)
			list = append(list, d.candidate())
		}
	}
	if len(list) == 0 {
		return nil
	}
	known, err := q.Store.Lookup(ctx, list)
	if err != nil {
		return err
	}
	for i, k := range known {
		// One without a state is another candidate of this call.
		if k.New() || k.Status == "" {
			continue
		}
		d := also[i]
		if same, err := q.isSame(ctx, d, k); err != nil {
			return err
		} else if same {
			d.known(k)
			d.Reason += "; its page is at " + d.also[0]
		} else {
			d.notAlso()
		}
	}
	judgeTwins(decisions)
	return nil
}

// isSame reports whether what is known under a further address of the decision's page
// is the same article. Where two articles only lead to one and the same page, which
// neither is listed at, it may be one that says nothing of either.
func (q *Queue) isSame(ctx context.Context, d *Decision, k Known) (bool, error) {
	if k.Status != Skipped || k.URLOnly {
		return true, nil
	}
	e, err := q.Store.Get(ctx, k.ID)
	if err != nil {
		return false, err
	}
	return !strings.HasPrefix(e.Reason, samePage) || alike(e.Article, d.Entry.Article), nil
}

// alike reports whether two articles have one title, or one of them none.
func alike(a, b Article) bool { return a.Title == "" || b.Title == "" || a.Title == b.Title }

// judgeTwins gives a verdict to decisions whose page is that of an earlier one.
func judgeTwins(decisions []Decision) {
	type place struct {
		d *Decision
		// own: the place is what its source lists.
		own bool
	}
	first := make(map[dedupe.Key]place)
	for i := range decisions {
		d := &decisions[i]
		if d.Verdict != VerdictQueued || !d.mayBeAlso() {
			continue
		}
		places := []dedupe.Key{d.Entry.Key}
		for _, url := range d.also {
			places = append(places, dedupe.Key{Webhook: d.Entry.Key.Webhook, URL: url, Bucket: d.Entry.Key.Bucket})
		}
		for n, key := range places {
			if p, ok := first[key]; ok && (p.own || n == 0 || alike(p.d.Entry.Article, d.Entry.Article)) {
				d.known(Known{ID: p.d.Entry.ID, Status: Queued, Rule: p.d.Entry.Rule})
				break
			}
		}
		if d.Verdict != VerdictQueued {
			continue
		}
		for n, key := range places {
			if _, ok := first[key]; !ok {
				first[key] = place{d, n == 0}
			}
		}
	}
}

// noteAlso records the further addresses of what was just inserted.
func (q *Queue) noteAlso(ctx context.Context, decisions []Decision) error {
	var list []Candidate
	for i := range decisions {
		d := &decisions[i]
		if d.also == nil || d.Entry.Status != Queued && d.Entry.Status != Held {
			continue
		}
		for _, url := range d.also {
			e := d.Entry
			note := Entry{
				Key:         dedupe.Key{Webhook: e.Key.Webhook, URL: url, Bucket: e.Key.Bucket},
				Destination: e.Destination, Rule: e.Rule, QueuedAt: e.QueuedAt,
				Article: Article{URL: url, Title: e.Article.Title, Source: e.Article.Source},
				Status:  Skipped, Reason: samePage + e.Article.URL,
			}
			note.ID = note.Key.ID()
			list = append(list, Candidate{Entry: &note})
		}
	}
	if len(list) == 0 {
		return nil
	}
	_, err := q.Store.Insert(ctx, list)
	return err
}
