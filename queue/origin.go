package queue

import (
	"slices"
	"strings"
	"time"

	"bot/dedupe"
)

// reuse is from when on a source that gives an old guid to a new address means a
// new article by it: published so long after the first.
const reuse = 30 * 24 * time.Hour

// Origin returns what tells the entry's article apart, whatever its address. It is
// zero if the source gave it no guid, and for what a rule counts instead of
// articles.
func (e Entry) Origin() dedupe.Origin {
	a := &e.Article
	if e.Key.Webhook == "" || a.Source == "" || a.GUID == "" {
		return dedupe.Origin{}
	}
	o := dedupe.Origin{Webhook: e.Key.Webhook, Bucket: e.Key.Bucket, Source: a.Source, GUID: dedupe.GUID(a.GUID)}
	if rest, ok := strings.CutPrefix(e.Key.URL, "rule/"); ok {
		rule, thing, _ := strings.Cut(rest, "/")
		if !strings.HasPrefix(thing, "article/") {
			return dedupe.Origin{}
		}
		// What a rule decided against is known to that rule only.
		o.Bucket = "rule/" + rule
	}
	if o.GUID == "" {
		return dedupe.Origin{}
	}
	return o
}

// Renamed reports, by when they were published, whether an article is a known one
// under a new address. Both are of one origin; stores see to that. It is not if it was
// published more than 30 days after the known one: then the source has used the guid
// again. Zero times are not known.
func Renamed(known, now time.Time) bool {
	return known.IsZero() || now.IsZero() || now.Sub(known) <= reuse
}

// KnownAs returns what a store says of a candidate that is an article it has: by
// one of the candidate's keys, or under another address.
func KnownAs(e Entry, renamed bool) Known {
	k := Known{ID: e.ID, Status: e.Status, Rule: e.Rule, URLOnly: e.URLOnly()}
	if renamed {
		k.RenamedFrom = e.Article.URL
	}
	return k
}

// candidate asks for the decision's entry to be inserted.
func (d *Decision) candidate() Candidate {
	c := Candidate{Entry: &d.Entry, Aliases: d.aliases}
	own := d.Entry.Origin()
	if !d.byGUID || own == (dedupe.Origin{}) {
		return c
	}
	c.Origins = []dedupe.Origin{own}
	for _, alias := range d.aliases {
		former := own
		former.Webhook = alias.Webhook
		if alias.Webhook != "" && !slices.Contains(c.Origins, former) {
			c.Origins = append(c.Origins, former)
		}
	}
	return c
}

// Identified returns the articles of one document without the guids that tell none
// of them apart, since they stand on several, with more than one address.
func Identified(articles []Article, site dedupe.Site) []Article {
	first := make(map[string]string, len(articles))
	repeated := make(map[string]bool)
	for _, a := range articles {
		guid := dedupe.GUID(a.GUID)
		if guid == "" || repeated[guid] {
			continue
		}
		if other, again := first[guid]; !again {
			first[guid] = a.URL
		} else if orAsItIs(site, other) != orAsItIs(site, a.URL) {
			repeated[guid] = true
		}
	}
	if len(repeated) == 0 {
		return articles
	}
	articles = slices.Clone(articles)
	for i := range articles {
		if repeated[dedupe.GUID(articles[i].GUID)] {
			articles[i].GUID = ""
		}
	}
	return articles
}

// ordered returns the articles of a batch as they are to be looked at, from the last
// to the first. What is given by hand is no document.
func (b Batch) ordered(source Source) []Article {
	if b.Source == "" {
		return b.Articles
	}
	b.Articles = Identified(b.Articles, source.Site)
	if source.GUID {
		b.Waiting = b.waitingStill()
	}
	return lastFirst(b.listed(source.Site), source.Site)
}

// waitingStill returns the articles that wait but for those that the source lists
// under another address now: that one counts.
func (b Batch) waitingStill() []Waiting {
	if len(b.Waiting) == 0 {
		return nil
	}
	listed := make(map[string]bool, len(b.Articles))
	for _, a := range b.Articles {
		listed[dedupe.GUID(a.GUID)] = true
	}
	return slices.DeleteFunc(slices.Clone(b.Waiting), func(w Waiting) bool {
		guid := dedupe.GUID(w.Article.GUID)
		return guid != "" && listed[guid]
	})
}

// lastFirst returns the articles of one document in its order, but for items that
// list one page with one date. Those are in the reverse order, so that whoever begins
// at the document's end, with what is oldest, comes to the first of them first.
func lastFirst(articles []Article, site dedupe.Site) []Article {
	type item struct {
		page      string
		published time.Time
	}
	places := make(map[item][]int, len(articles))
	again := false
	for i, a := range articles {
		it := item{orAsItIs(site, a.URL), a.Published.UTC()}
		again = again || places[it] != nil
		places[it] = append(places[it], i)
	}
	if !again {
		return articles
	}
	out := slices.Clone(articles)
	for _, all := range places {
		for n, i := range all {
			out[i] = articles[all[len(all)-1-n]]
		}
	}
	return out
}
