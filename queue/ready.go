package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A source with Ready has each article's page looked at before the article is queued.
// One whose page is not there yet gets no verdict: it is left out of what matched,
// and given back to the caller, who brings it again with the next run, since the
// source may not list it any more by then.

// maxPages is how many pages of one source are looked at in one run.
const maxPages = 200

// Page is what a look at an article's page told. All addresses are absolute.
type Page struct {
	// Err says why the page is not there. Nil: it answered 200.
	Err error
	// NotBefore is when its server may be asked again. Zero: at any time.
	NotBefore time.Time
	// Final is its address after redirects.
	Final string
	// Canonical is the address that the page names as its own. Empty: none.
	Canonical string
}

// Waiting is an article whose page is not there yet.
type Waiting struct {
	// Article is what the source listed.
	Article Article
	// Since is when it was first looked for.
	Since time.Time
	// NotBefore is when its server may be asked again. Zero: at any time.
	NotBefore time.Time
	// Reason says what its page answered.
	Reason string
}

// errNotAsked tells of a page that has to wait for another run.
var errNotAsked = fmt.Errorf("not looked at yet, since no more than %d pages of a source are in one run", maxPages)

// IsReady reports whether the named source's articles wait for their pages.
func (q *Queue) IsReady(source string) bool { return q.sourceNamed(source).Ready }

// ready looks at the pages of the decisions that would be queued. It takes out those
// whose page is not there, and returns the others in their order.
func (q *Queue) ready(ctx context.Context, added *Added, sources map[string]Source, batches []Batch, now time.Time) error {
	asked := q.toAsk(added.Decisions, sources, batches, now)
	if len(asked.names) == 0 {
		return nil
	}
	if err := asked.look(ctx, q.Pages); err != nil {
		return err
	}
	kept := added.Decisions[:0]
	waits := make(map[string]bool) // by the entry that there would be
	for _, d := range added.Decisions {
		a := asked.of(&d)
		source := sources[d.Entry.Article.Source]
		switch {
		case a == nil && d.Verdict == AlreadyQueued && waits[d.Entry.ID]:
			// It was told from one that is not there after all.
			if source.Ready {
				continue
			}
			d.Entry.ID = d.Entry.Key.ID()
			d.Verdict, d.Reason = source.age(d.Entry.Article, d.firstSight(seenBy(batches, source.Name)), now)
			delete(waits, d.Entry.ID)
		case a == nil:
		case a.page.Err == nil:
			q.alsoAt(&d, q.addresses(&d, a.page, source.Site))
		case !a.waiting.Since.IsZero() && now.Sub(a.waiting.Since) > source.MaxAge:
			d.Verdict, d.Reason = SkippedOld, "its page was not there for longer than max_age: "+a.page.Err.Error()
		default:
			waits[d.Entry.ID] = true
			a.wait(added, now)
			continue
		}
		kept = append(kept, d)
	}
	clear(added.Decisions[len(kept):])
	added.Decisions = kept
	return q.judgeAlso(ctx, added.Decisions)
}

// seenBy returns the destinations for which a source was looked at before.
func seenBy(batches []Batch, source string) []string {
	for _, b := range batches {
		if b.Source == source {
			return b.Seen
		}
	}
	return nil
}

// asking are the pages to look at, by their source and address.
type asking struct {
	// names are the keys of pages in the order of the decisions.
	names []string
	pages map[string]*asked
}

// asked is one page.
type asked struct {
	article Article
	waiting Waiting
	page    Page
	noted   bool
}

func pageName(source, canonical string) string { return source + "\n" + canonical }

func (q *Queue) toAsk(decisions []Decision, sources map[string]Source, batches []Batch, now time.Time) *asking {
	all := &asking{pages: make(map[string]*asked)}
	known := make(map[string]Waiting)
	for _, b := range batches {
		for _, w := range b.Waiting {
			if canonical, err := sources[b.Source].Site.Canonical(w.Article.URL); err == nil {
				known[pageName(b.Source, canonical)] = w
			}
		}
	}
	perSource := make(map[string]int)
	for i := range decisions {
		d := &decisions[i]
		source := d.Entry.Article.Source
		name := pageName(source, d.page)
		if d.Verdict != VerdictQueued || !sources[source].Ready || all.pages[name] != nil {
			continue
		}
		a := &asked{article: d.Entry.Article, waiting: known[name]}
		switch {
		case a.waiting.NotBefore.After(now):
			a.page.Err, a.page.NotBefore = errors.New(a.waiting.Reason), a.waiting.NotBefore
		case perSource[source] >= maxPages:
			a.page.Err = errNotAsked
		default:
			perSource[source]++
		}
		all.pages[name] = a
		all.names = append(all.names, name)
	}
	return all
}

// look asks for every page that may be asked for.
func (all *asking) look(ctx context.Context, pages func(context.Context, []Article) []Page) error {
	var now []*asked
	var articles []Article
	for _, name := range all.names {
		if a := all.pages[name]; a.page.Err == nil {
			now = append(now, a)
			articles = append(articles, a.article)
		}
	}
	if len(articles) == 0 {
		return nil
	}
	for i, p := range pages(ctx, articles) {
		now[i].page = p
	}
	return ctx.Err()
}

func (all *asking) of(d *Decision) *asked {
	if d.Verdict != VerdictQueued {
		return nil
	}
	return all.pages[pageName(d.Entry.Article.Source, d.page)]
}

// wait notes an article that is not ready, once for all destinations.
func (a *asked) wait(added *Added, now time.Time) {
	if a.noted {
		return
	}
	a.noted = true
	w := Waiting{Article: a.article, Since: a.waiting.Since, NotBefore: a.page.NotBefore, Reason: a.page.Err.Error()}
	if w.Since.IsZero() {
		w.Since = now
	}
	added.Waiting = append(added.Waiting, w)
}
