package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bot/queue"
	"bot/queue/collect"

	"github.com/spf13/cobra"
)

func newStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "The whole fleet at a glance", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error {
				s, err := a.status(ctx, f)
				if err != nil {
					return err
				}
				a.printStatus(f, s)
				return a.printJSON(s)
			})
		},
	}
}

// statusReport is the result of status in JSON.
type statusReport struct {
	Command      string               `json:"command"`
	State        stateStatus          `json:"state"`
	Paused       string               `json:"paused,omitempty"`
	Counts       map[queue.Status]int `json:"counts"`
	Destinations []destinationStatus  `json:"destinations"`
	Sources      []sourceStatus       `json:"sources"`
	Rules        []ruleStatus         `json:"rules"`
	NeedsPerson  []personStatus       `json:"needs_person"`
}

type stateStatus struct {
	Backend string `json:"backend"`
	// Dir is the folder of a local ledger, and project/database/fleet of one in
	// Firestore.
	Dir string `json:"dir"`
	// Moved tells that the fleet has moved, and this machine has not.
	Moved string `json:"moved,omitempty"`
	// Guard is "open" on the machine that may write, else why it may not.
	Guard string `json:"guard"`
}

type destinationStatus struct {
	Name          string   `json:"name"`
	Waiting       int      `json:"waiting"`
	Posted        int      `json:"posted"`
	NextDue       jsonTime `json:"next_due"`
	OldestWaiting jsonTime `json:"oldest_waiting"`
	LastPosted    jsonTime `json:"last_posted"`
	// Shadow counts what was done in shadow mode; Posted does not.
	Shadow int `json:"shadow"`
	// NeedsPerson counts what waits for somebody to decide.
	NeedsPerson int `json:"needs_person"`
	// QuietUntil is null unless it is quiet now.
	QuietUntil jsonTime `json:"quiet_until"`
	NotBefore  jsonTime `json:"not_before"`
	Paused     string   `json:"paused,omitempty"`
}

type sourceStatus struct {
	Name        string   `json:"name"`
	LastSuccess jsonTime `json:"last_success"`
	LastArticle jsonTime `json:"last_article"`
	// LastNew is when an article was last new to a run.
	LastNew jsonTime `json:"last_new"`
	// SilentSince is null unless it has been silent for longer than usual, which is
	// UsualSeconds between two articles.
	SilentSince  jsonTime `json:"silent_since"`
	UsualSeconds int      `json:"usual_seconds,omitempty"`
	FailingSince jsonTime `json:"failing_since"`
	Error        string   `json:"error,omitempty"`
	// MovedTo is where its address says that it has gone for good.
	MovedTo string `json:"moved_to,omitempty"`
	// Waiting counts its articles that wait for their pages.
	Waiting int `json:"waiting,omitempty"`
}

type ruleStatus struct {
	Name string `json:"name"`
	Mode string `json:"mode"`
	// EditedSince is when a run first had the rule as it is, if it was another
	// before. Edited says so in words.
	EditedSince jsonTime `json:"edited_since"`
	Edited      string   `json:"edited,omitempty"`
}

type personStatus struct {
	ID          string       `json:"id"`
	Status      queue.Status `json:"status"`
	Destination string       `json:"destination"`
	URL         string       `json:"url"`
	Reason      string       `json:"reason"`
}

func (a *app) status(ctx context.Context, f *fleet) (*statusReport, error) {
	s := &statusReport{
		Command: "status", Counts: make(map[queue.Status]int),
		State:       stateStatus{Backend: f.cfg.State.Backend, Dir: a.place(f.cfg.State), Guard: "open", Moved: a.elsewhere(ctx, f.cfg.State)},
		NeedsPerson: []personStatus{}, Sources: []sourceStatus{}, Destinations: []destinationStatus{},
		Rules: []ruleStatus{},
	}
	if err := a.guardOf(f.cfg.State); err != nil {
		s.State.Guard = err.Error()
	}
	for _, st := range queue.Statuses {
		s.Counts[st] = 0
	}
	if err := s.readPacing(ctx, f); err != nil {
		return nil, err
	}
	rhythms, err := s.readEntries(ctx, f)
	if err != nil {
		return nil, err
	}
	if err := s.readRules(ctx, f); err != nil {
		return nil, err
	}
	for _, source := range f.sources {
		p, err := queue.ReadBook[collect.Progress](ctx, f.queue.Store, queue.SourceBook(source.Name))
		if err != nil {
			return nil, err
		}
		waiting, err := f.waitingAt(ctx, source.Name, p)
		if err != nil {
			return nil, err
		}
		r := rhythms[source.Name]
		silent, usual := r.silent(f.queue.Now())
		s.Sources = append(s.Sources, sourceStatus{
			Name: source.Name, LastSuccess: jsonTime(p.LastSuccess), LastArticle: jsonTime(p.LastArticle),
			LastNew: jsonTime(r.lastNew), SilentSince: jsonTime(silent), UsualSeconds: int(usual.Seconds()),
			FailingSince: jsonTime(p.FailingSince), Error: p.LastError, MovedTo: p.Moved, Waiting: len(waiting),
		})
	}
	return s, nil
}

func (s *statusReport) readPacing(ctx context.Context, f *fleet) error {
	fleet, err := queue.ReadBook[queue.Pacing](ctx, f.queue.Store, queue.FleetBook)
	if err != nil {
		return err
	}
	if fleet.Paused != nil {
		s.Paused = fleet.Paused.Reason
	}
	for _, queued := range f.queue.Destinations {
		name := queued.Name
		p, err := queue.ReadBook[queue.Pacing](ctx, f.queue.Store, queue.DestinationBook(name))
		if err != nil {
			return err
		}
		d := destinationStatus{Name: name}
		if p.NotBefore.After(f.queue.Now()) {
			d.NotBefore = jsonTime(p.NotBefore)
		}
		if p.Paused != nil {
			d.Paused = p.Paused.Reason
		}
		if until := queued.Quiet.Until(f.queue.Now()); until.After(f.queue.Now()) {
			d.QuietUntil = jsonTime(until)
		}
		s.Destinations = append(s.Destinations, d)
	}
	return nil
}

// readRules tells which rules mean something else than they did.
func (s *statusReport) readRules(ctx context.Context, f *fleet) error {
	for _, r := range f.queue.Rules {
		e, err := queue.ReadBook[queue.Edited](ctx, f.queue.Store, queue.RuleBook(r.Name))
		if err != nil {
			return err
		}
		rule := ruleStatus{Name: r.Name, Mode: mode(r), Edited: editedNote(r, e, f.cfg.Timezone)}
		if rule.Edited != "" && e.Meaning == r.Meaning {
			rule.EditedSince = jsonTime(e.Since)
		}
		s.Rules = append(s.Rules, rule)
	}
	return nil
}

// readEntries reads the whole ledger, and returns the rhythm of each source.
func (s *statusReport) readEntries(ctx context.Context, f *fleet) (map[string]*rhythm, error) {
	rhythms := make(map[string]*rhythm)
	for _, name := range f.sourceNames() {
		rhythms[name] = &rhythm{}
	}
	for e, err := range f.queue.Store.All(ctx) {
		if err != nil {
			return nil, err
		}
		if r := rhythms[e.Article.Source]; r != nil {
			r.note(e)
		}
		s.Counts[e.Status]++
		name := f.nameOf(e)
		stray := f.queue.DestinationOf(e.Key.Webhook) == nil && !e.Status.Final()
		if stray || e.Status == queue.Uncertain || e.Status == queue.Failed || e.Status == queue.Held {
			reason := cmp.Or(e.Reason, e.LastError)
			if stray && e.Status == queue.Queued {
				reason = "belongs to no configured destination"
			}
			s.NeedsPerson = append(s.NeedsPerson, personStatus{e.ID, e.Status, name, e.Article.URL, reason})
		}
		if i := slices.IndexFunc(s.Destinations, func(d destinationStatus) bool { return d.Name == name }); i >= 0 {
			s.Destinations[i].count(e)
		}
	}
	slices.SortFunc(s.NeedsPerson, func(x, y personStatus) int {
		return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Destination, y.Destination), cmp.Compare(x.URL, y.URL))
	})
	return rhythms, nil
}

func (d *destinationStatus) count(e queue.Entry) {
	earlier := func(at *jsonTime, t time.Time) {
		if !t.IsZero() && (time.Time(*at).IsZero() || t.Before(time.Time(*at))) {
			*at = jsonTime(t)
		}
	}
	switch e.Status {
	case queue.Queued, queue.Sending:
		d.Waiting++
		earlier(&d.NextDue, e.DueAt)
		earlier(&d.OldestWaiting, e.QueuedAt)
	case queue.Held, queue.Uncertain, queue.Failed:
		d.NeedsPerson++
	case queue.Posted:
		if e.Shadow {
			d.Shadow++
			return
		}
		d.Posted++
		if e.PostedAt.After(time.Time(d.LastPosted)) {
			d.LastPosted = jsonTime(e.PostedAt)
		}
	}
}

func (a *app) printStatus(f *fleet, s *statusReport) {
	at := func(t jsonTime) string { return when(time.Time(t), f.cfg.Timezone) }
	a.printf("state   %s in %s\n", s.State.Backend, s.State.Dir)
	if s.State.Guard != "open" {
		a.printf("guard   this machine may not write: %s\n", s.State.Guard)
	}
	if s.State.Moved != "" {
		a.printf("moved   %s\n", s.State.Moved)
	}
	counts := make([]string, 0, len(queue.Statuses))
	for _, st := range queue.Statuses {
		counts = append(counts, fmt.Sprintf("%s=%d", st, s.Counts[st]))
	}
	a.printf("entries %s\n", strings.Join(counts, " "))
	if s.Paused != "" {
		a.printf("paused  everything: %s; `bot resume` goes on\n", s.Paused)
	}
	a.printf("\ndestinations\n")
	for _, d := range s.Destinations {
		a.printf("  %-20s waiting=%d posted=%d  next due %s  oldest waiting since %s  last posted %s\n",
			d.Name, d.Waiting, d.Posted, at(d.NextDue), at(d.OldestWaiting), at(d.LastPosted))
		if d.NeedsPerson > 0 || d.Shadow > 0 {
			a.printf("  %-20s needs a person=%d shadow=%d\n", "", d.NeedsPerson, d.Shadow)
		}
		if t := time.Time(d.QuietUntil); !t.IsZero() {
			a.printf("  %-20s quiet until %s\n", "", when(t, f.cfg.Timezone))
		}
		if d.Paused != "" {
			a.printf("  %-20s paused: %s; `bot resume %s` goes on\n", "", d.Paused, d.Name)
		}
		if t := time.Time(d.NotBefore); !t.IsZero() {
			a.printf("  %-20s asked to be left alone until %s\n", "", when(t, f.cfg.Timezone))
		}
	}
	a.printf("\nsources\n")
	for _, src := range s.Sources {
		a.printf("  %-20s last read %s  last new %s  newest article %s\n", src.Name, at(src.LastSuccess), at(src.LastNew), at(src.LastArticle))
		if t := time.Time(src.SilentSince); !t.IsZero() {
			a.printf("  %-20s silent since %s, longer than usual: %s between two articles as a rule\n",
				"", when(t, f.cfg.Timezone), span(time.Duration(src.UsualSeconds)*time.Second))
		}
		if src.Error != "" {
			a.printf("  %-20s failing since %s: %s\n", "", at(src.FailingSince), src.Error)
		}
		if src.MovedTo != "" {
			a.printf("  %-20s has moved for good to %s: write that into the config\n", "", src.MovedTo)
		}
		if src.Waiting > 0 {
			a.printf("  %-20s %d %s\n", "", src.Waiting, plural(src.Waiting, "article waits for its page", "articles wait for their pages"))
		}
	}
	for i, r := range slices.DeleteFunc(slices.Clone(s.Rules), func(r ruleStatus) bool { return r.Edited == "" && r.Mode == "live" }) {
		if i == 0 {
			a.printf("\nrules\n")
		}
		a.printf("  %-20s %s  %s\n", r.Name, r.Mode, r.Edited)
	}
	if len(s.NeedsPerson) > 0 {
		a.printf("\nneeds a person\n")
	}
	for _, p := range s.NeedsPerson {
		a.printf("  %s  %-9s %s  %s\n  %36s  %s\n", p.ID, p.Status, cmp.Or(p.Destination, "-"), p.URL, "", oneLine(p.Reason, 200))
	}
}
