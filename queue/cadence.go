package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"bot/dedupe"
)

// A rule that announces a thing again and again needs to remember, beside its
// entries, which occurrences it has counted and when it first saw what has no date.
// It remembers before anything is inserted. So whatever a run did not get to after
// that, the next one does again with the same numbers, and changes nothing that was
// done.

// AlreadyCounted: the period or the occurrence is taken.
const AlreadyCounted Verdict = "already_counted"

// counted is the small record of one rule at one destination.
type counted struct {
	// Ordinals holds, by thing, how many of its occurrences were counted.
	Ordinals map[string]int `json:"ordinals,omitempty"`
	// Seen holds, by occurrence, its ordinal, or when it was first seen, in Unix
	// milliseconds.
	Seen map[string]int64 `json:"seen,omitempty"`
}

// of returns what is known of the decision's occurrence, maybe under another address
// of its article. Zero: nothing.
func (c counted) of(d *Decision) int64 {
	if known := c.Seen[d.occurrence]; known != 0 || d.twin == "" {
		return known
	}
	return c.Seen[d.twin]
}

func (c counted) clone() counted { return counted{maps.Clone(c.Ordinals), maps.Clone(c.Seen)} }

// countBook names that record. It goes by the webhook, which is what a destination
// is.
func countBook(rule, webhook string) string { return "count/" + rule + "/" + webhook }

// plain reports whether the rule announces each article once, for ever. So does
// what is given by hand.
func (r *Rule) plain() bool { return r == nil || r.perArticle() && r.once() }

func (r *Rule) perArticle() bool { return r.Per == "" || r.Per == PerArticle }

func (r *Rule) once() bool { return !r.Cadence.Timed() && !r.Cadence.Counts() }

// thing is what the rule counts of the article: the second part of its keys.
func (r *Rule) thing(a Article, canonical string) string {
	switch r.Per {
	case PerSource:
		return "rule/" + r.Name + "/source/" + a.Source
	case PerCategory:
		return "rule/" + r.Name + "/category/" + url.PathEscape(r.category(a))
	default:
		return canonical
	}
}

// category is the one label that an article counts for: its first that the rule
// matches, so that one article is never two things.
func (r *Rule) category(a Article) string {
	for _, c := range a.Categories {
		c = strings.ToLower(strings.TrimSpace(c))
		if len(r.Match.Categories) == 0 || slices.ContainsFunc(r.Match.Categories, func(want string) bool { return strings.EqualFold(strings.TrimSpace(want), c) }) {
			return c
		}
	}
	return ""
}

// identify gives a decision its keys, for a rule that is not plain.
func (d *Decision) identify(to Destination, canonical string, elsewhere []string) {
	thing := d.rule.thing(d.Entry.Article, canonical)
	things := []string{thing}
	if d.rule.perArticle() {
		things = append(things, elsewhere...)
	}
	webhooks := append([]string{to.Webhook}, to.FormerWebhooks...)
	for _, t := range things {
		for _, w := range webhooks {
			d.keys = append(d.keys, dedupe.Key{Webhook: w, URL: t})
		}
	}
	if !d.rule.perArticle() || d.rule.Cadence.Counts() {
		// What is decided against must not take the period of what is not.
		for _, page := range append([]string{canonical}, elsewhere...) {
			for _, w := range webhooks {
				d.skips = append(d.skips, dedupe.Key{Webhook: w, URL: "rule/" + d.rule.Name + "/article/" + page})
			}
		}
	}
	a := d.Entry.Article
	switch {
	case d.rule.Cadence.Counts():
		d.occurrence = hashOf(thing, canonical)
		if d.rule.perArticle() {
			d.occurrence = hashOf(thing, a.Published.Format(time.RFC3339Nano))
		}
	case d.rule.Cadence.Timed() && a.Published.IsZero():
		d.occurrence = hashOf(thing, canonical)
	}
	if guid := dedupe.GUID(a.GUID); d.byGUID && d.occurrence != "" && guid != "" {
		if d.rule.perArticle() {
			thing = ""
		}
		d.twin = hashOf("guid", thing, a.Source, a.Published.Format(time.RFC3339Nano), guid)
	}
	d.setBucket("")
}

// hashOf tells an occurrence from all others of its rule and destination.
func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:10])
}

// setBucket completes the decision's keys.
func (d *Decision) setBucket(bucket string) {
	keys := slices.Clone(d.keys)
	for i := range keys {
		keys[i].Bucket = bucket
	}
	d.Entry.Key, d.aliases = keys[0], keys[1:]
	d.Entry.ID = d.Entry.Key.ID()
}

// skip gives the decision the keys under which it is recorded as decided against.
func (d *Decision) skip() {
	if len(d.skips) > 0 {
		d.Entry.Key, d.aliases = d.skips[0], d.skips[1:]
		d.Entry.ID = d.Entry.Key.ID()
	}
}

// bucket finds the decision's bucket from what its occurrence is known as. Zero:
// it was never counted, or is first seen now.
func (d *Decision) bucket(known int64, now time.Time, zone *time.Location) {
	c := d.rule.Cadence
	switch {
	case c.Counts() && known == 0:
		d.setBucket("every ? " + d.occurrence)
	case c.Counts():
		bucket, announced := c.Nth(int(known))
		d.setBucket(bucket)
		if !announced {
			d.Verdict = AlreadyCounted
			d.Reason = fmt.Sprintf("occurrence %d, and every %d from the first is announced", known, c.N)
		}
	case d.occurrence == "":
		d.setBucket(c.Bucket(d.Entry.Article.Published, zone))
	case known == 0:
		d.setBucket(c.Bucket(now, zone))
	default:
		d.setBucket(c.Bucket(time.UnixMilli(known), zone))
	}
}

// counts holds what is remembered of occurrences, by the name of its record.
type counts map[string]counted

// recall gives the decisions of rules that are not plain their buckets, and a
// verdict to those whose article was decided against before, whose address waits in
// an older record without a webhook, or whose occurrence is not one to be announced.
func (q *Queue) recall(ctx context.Context, decisions []Decision, now time.Time) (counts, error) {
	books := make(counts)
	var asked []*Decision
	var candidates []Candidate
	ask := func(d *Decision, keys []dedupe.Key) {
		asked = append(asked, d)
		as := Decision{Entry: Entry{ID: keys[0].ID(), Key: keys[0], Article: d.Entry.Article}, aliases: keys[1:], byGUID: d.byGUID}
		candidates = append(candidates, as.candidate())
	}
	for i := range decisions {
		d := &decisions[i]
		if d.keys == nil {
			continue
		}
		var known int64
		if d.occurrence != "" {
			book, err := q.countedAt(ctx, books, d)
			if err != nil {
				return nil, err
			}
			known = book.of(d)
		}
		d.bucket(known, now, q.zone())
		if d.Verdict != "" {
			continue
		}
		if len(d.skips) > 0 {
			ask(d, d.skips)
		}
		older := []dedupe.Key{{URL: d.page}}
		for _, url := range d.elsewhere {
			older = append(older, dedupe.Key{URL: url})
		}
		ask(d, older)
	}
	if len(candidates) == 0 {
		return books, nil
	}
	known, err := q.Store.Lookup(ctx, candidates)
	if err != nil {
		return nil, err
	}
	for i, k := range known {
		d := asked[i]
		switch {
		case k.New(), k.Status == "", d.Verdict != "":
			// One without a state is another candidate of this call.
		case !k.URLOnly:
			d.Verdict, d.Reason = AlreadySkipped, string(k.Status)
		case !k.Status.Final():
			d.known(k)
		}
	}
	return books, nil
}

// countedAt reads the decision's record, or that of an earlier webhook of its
// destination.
func (q *Queue) countedAt(ctx context.Context, books counts, d *Decision) (counted, error) {
	name := countBook(d.rule.Name, d.keys[0].Webhook)
	if book, ok := books[name]; ok {
		return book, nil
	}
	var book counted
	for _, key := range d.keys {
		var err error
		if book, err = ReadBook[counted](ctx, q.Store, countBook(d.rule.Name, key.Webhook)); err != nil {
			return counted{}, err
		}
		if len(book.Seen) > 0 {
			break
		}
	}
	books[name] = book
	return book, nil
}

// count remembers the occurrences that are new, oldest first, and gives their
// decisions the buckets that follow. A dry run remembers nothing.
func (q *Queue) count(ctx context.Context, decisions []Decision, books counts, now time.Time, dry bool) error {
	fresh := make(map[string][]*Decision)
	var names []string
	for i := range decisions {
		d := &decisions[i]
		if d.occurrence == "" || d.Verdict == VerdictRefused {
			continue
		}
		if d.rule.Cadence.Counts() && d.Verdict != VerdictQueued && d.Verdict != VerdictHeld {
			continue
		}
		name := countBook(d.rule.Name, d.keys[0].Webhook)
		if books[name].of(d) != 0 {
			continue
		}
		if fresh[name] == nil {
			names = append(names, name)
		}
		fresh[name] = append(fresh[name], d)
	}
	for _, name := range names {
		known := make([]int64, len(fresh[name]))
		number := func(c *counted) error {
			if len(c.Seen) == 0 {
				*c = books[name].clone() // an earlier webhook's, if any
			}
			for i, d := range fresh[name] {
				known[i] = c.number(d, now)
			}
			return nil
		}
		var err error
		if dry {
			book := books[name].clone()
			err = number(&book)
		} else {
			err = ChangeBook(ctx, q.Store, name, number)
		}
		if err != nil {
			return err
		}
		for i, d := range fresh[name] {
			if d.Verdict == VerdictQueued || d.Verdict == VerdictHeld {
				d.bucket(known[i], now, q.zone())
			}
		}
	}
	return nil
}

// number returns what the decision's occurrence is known as, from now on if it is
// new.
func (c *counted) number(d *Decision, now time.Time) int64 {
	if known := c.of(d); known != 0 {
		return known
	}
	if c.Seen == nil {
		c.Seen = make(map[string]int64)
	}
	c.Seen[d.occurrence] = now.UnixMilli()
	if d.rule.Cadence.Counts() {
		if c.Ordinals == nil {
			c.Ordinals = make(map[string]int)
		}
		thing := hashOf(d.keys[0].URL)
		c.Ordinals[thing]++
		c.Seen[d.occurrence] = int64(c.Ordinals[thing])
	}
	if d.twin != "" {
		c.Seen[d.twin] = c.Seen[d.occurrence]
	}
	return c.Seen[d.occurrence]
}
