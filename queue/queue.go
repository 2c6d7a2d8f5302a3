package queue

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"bot/dedupe"
	"bot/poster"
)

// Queue is the rules over a Store. Its fields are set once and not changed.
type Queue struct {
	// Store keeps the ledger.
	Store Store
	// Now is the program's clock.
	Now func() time.Time
	// Zone is the fleet's, for days, weeks and months. Nil: UTC.
	Zone *time.Location
	// Sources, Destinations and Rules are the fleet's, in the order of its config.
	Sources      []Source
	Destinations []Destination
	Rules        []Rule
	// Pages looks at the pages of articles, and answers index by index. It is asked for
	// sources with Ready. Nil: there are none.
	Pages func(ctx context.Context, articles []Article) []Page
}

// Source is what the rules need to know of one source.
type Source struct {
	// Name is the source's, unique.
	Name string
	// Site says which addresses are the same page there.
	Site dedupe.Site
	// MaxAge is the age from which a dated article is skipped.
	MaxAge time.Duration
	// FirstRun is the age up to which an article is taken on first sight. Zero:
	// none is.
	FirstRun time.Duration
	// FirstRunAll takes every article on first sight, undated ones too.
	FirstRunAll bool
	// Brake is the number of new articles in one run above which all of them are
	// held. Zero: no brake.
	Brake int
	// Ready: an article is queued only once its page answers 200.
	Ready bool
	// GUID: an article that has the guid of a known one is that one under a new
	// address, within the bounds of Renamed.
	GUID bool
}

// Destination is one account or channel that announcements go to.
type Destination struct {
	// Name is the destination's, unique.
	Name string
	// Webhook is the fingerprint of its identity.
	Webhook string
	// FormerWebhooks are the fingerprints of earlier webhooks of the same account.
	FormerWebhooks []string
	// Poster announces there.
	Poster poster.Poster
	// Text is the template of what is said there.
	Text *poster.Template
	// Slots are the times at which one entry each is sent there. Nil: at any time.
	Slots *Slots
	// Quiet is when nothing is sent there.
	Quiet Quiet
	// MaxPerDay is the greatest number of posts there in a day of the fleet's zone.
	// Zero: no limit.
	MaxPerDay int
	// MinInterval is the least time between two attempts there. Zero: none.
	MinInterval time.Duration
	// MaxPerRun is the greatest number of attempts in one run. Zero: no limit.
	MaxPerRun int
	// Settings is a fingerprint of its settings, to see that they were changed.
	Settings string
}

// Rule says which sources' articles go to which destinations.
type Rule struct {
	// Name is the rule's, unique.
	Name string
	// From and To name sources and destinations.
	From, To []string
	// Match lets an article through when all it asks for holds. Exclude stops one
	// when any of it holds.
	Match, Exclude Filter
	// Cadence says how often one thing is announced, and Per what one thing is.
	Cadence dedupe.Cadence
	Per     Per
	// Shadow: everything is done but the request itself.
	Shadow bool
	// Text overrides the destination's. Nil: it does not.
	Text *poster.Template
	// Meaning is a fingerprint of what the rule says, to see that it was edited.
	Meaning string
}

// Per is what counts as one thing for a rule.
type Per string

// What may count as one thing.
const (
	// PerArticle: each article. The default.
	PerArticle Per = "article"
	// PerSource: all that a source holds.
	PerSource Per = "source"
	// PerCategory: all that a source labels alike.
	PerCategory Per = "category"
)

// Filter looks at an article. What is not set is not asked.
type Filter struct {
	// Title and URL match any part of the title and of the address.
	Title, URL *regexp.Regexp
	// Categories names labels of which the article must have one, in any case.
	Categories []string
}

// checks returns what each part of the filter that is set says of the article.
func (f Filter) checks(a Article) []bool {
	var found []bool
	if f.Title != nil {
		found = append(found, f.Title.MatchString(a.Title))
	}
	if f.URL != nil {
		found = append(found, f.URL.MatchString(a.URL))
	}
	if len(f.Categories) > 0 {
		found = append(found, slices.ContainsFunc(a.Categories, func(c string) bool {
			return slices.ContainsFunc(f.Categories, func(want string) bool { return strings.EqualFold(c, want) })
		}))
	}
	return found
}

// takes reports whether the rule lets the article through.
func (r Rule) takes(a Article) bool {
	return !slices.Contains(r.Match.checks(a), false) && !slices.Contains(r.Exclude.checks(a), true)
}

// Reach returns the webhooks' fingerprints of the destinations that some rule gives
// articles of the source to.
func (q *Queue) Reach(source string) []string {
	var webhooks []string
	for _, d := range q.Destinations {
		if slices.ContainsFunc(q.Rules, func(r Rule) bool {
			return slices.Contains(r.From, source) && slices.Contains(r.To, d.Name)
		}) {
			webhooks = append(webhooks, d.Webhook)
		}
	}
	return webhooks
}

// DestinationOf returns the destination that this webhook's fingerprint stands for,
// by its present or an earlier webhook, or nil.
func (q *Queue) DestinationOf(webhook string) *Destination {
	for i, d := range q.Destinations {
		if webhook != "" && (d.Webhook == webhook || slices.Contains(d.FormerWebhooks, webhook)) {
			return &q.Destinations[i]
		}
	}
	return nil
}

// rule returns the rule with this name, or nil.
func (q *Queue) rule(name string) *Rule {
	for i := range q.Rules {
		if q.Rules[i].Name == name {
			return &q.Rules[i]
		}
	}
	return nil
}

// text returns the template for an entry: its rule's own, or the destination's.
func (q *Queue) text(e Entry, d *Destination) *poster.Template {
	if r := q.rule(e.Rule); r != nil && r.Text != nil {
		return r.Text
	}
	return d.Text
}

// Render makes of an entry what will be sent to the destination, or says why it
// cannot be sent.
func (q *Queue) Render(e Entry, d *Destination) (poster.Message, error) {
	text, err := q.text(e, d).Render(e.Article, d.Name, d.Poster.Traits())
	if err != nil {
		return poster.Message{}, err
	}
	return d.Poster.Render(poster.Post{ID: e.ID, Destination: d.Name, Text: text, Article: e.Article})
}
