package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"bot/config"
	"bot/dedupe"
	"bot/poster"
	"bot/poster/platforms"
	"bot/queue"
	"bot/queue/collect"
)

// fleet is what the config describes, wired: sources to collect from, and the
// queue with its rules and destinations. The queue has a store once openStore gave
// it one.
type fleet struct {
	cfg     *config.Config
	queue   *queue.Queue
	sources []collect.Source
}

// fleet reads the config and wires everything but the store. Every problem of the
// config is in the error, those that only a platform finds as well.
func (a *app) fleet() (*fleet, error) {
	path := a.configPath()
	cfg, err := config.Load(path, a.env.Getenv)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no config at %s: write one with `bot init`, or name another with --config", path)
	}
	if cfg == nil {
		return nil, err
	}
	problems := []error{err}
	f := &fleet{cfg: cfg, queue: &queue.Queue{Now: a.env.Now, Zone: cfg.Timezone}}
	for _, s := range cfg.Sources {
		f.addSource(s)
	}
	f.queue.Pages = func(ctx context.Context, articles []queue.Article) []queue.Page {
		return a.collector().Pages(ctx, articles, f.hosts())
	}
	for _, d := range cfg.Destinations {
		problems = append(problems, a.addDestination(f, d))
	}
	f.addFormer()
	for _, r := range cfg.Rules {
		problems = append(problems, f.addRule(r))
	}
	problems = append(problems, f.checkServe())
	if err := config.Join(problems...); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *fleet) addSource(s config.Source) {
	f.sources = append(f.sources, collect.Source{
		Name: s.Name, Kind: collect.Kind(s.Kind), Location: s.Location, Zone: s.Timezone, StripParams: s.StripParams,
		Hosts: s.Hosts,
	})
	site := dedupe.Site{Aliases: s.Hosts, StripParams: s.StripParams}
	if u, err := url.Parse(s.Location); err == nil {
		site.Host = u.Hostname()
		if strings.Contains(site.Host, ":") {
			site.Host = "[" + site.Host + "]"
		}
	}
	f.queue.Sources = append(f.queue.Sources, queue.Source{
		Name: s.Name, Site: site, MaxAge: s.MaxAge, Brake: s.Brake, Ready: s.Ready, GUID: s.GUID,
		FirstRun: s.FirstRun.Within, FirstRunAll: s.FirstRun.All,
	})
}

// hosts are those that the config names for each source.
func (f *fleet) hosts() map[string][]string {
	all := make(map[string][]string, len(f.sources))
	for _, s := range f.sources {
		all[s.Name] = s.OwnHosts()
	}
	return all
}

// addDestination makes the destination's poster and text.
func (a *app) addDestination(f *fleet, d config.Destination) error {
	driver, ok := platforms.Find(d.Type)
	if !ok {
		return d.Errorf("type", "unknown type %q; there are %s", d.Type, strings.Join(platforms.Names(), ", "))
	}
	p, err := driver.New(d.Settings, poster.Options{
		Destination: d.Name, HTTP: a.env.HTTP, Now: a.env.Now, UserAgent: userAgent, Stdout: a.resultWriter(),
		Dir: f.cfg.State.Dir, Hosts: f.hosts(), Getenv: a.env.Getenv,
	})
	text, textErr := parseText(d.Text)
	slots, slotsErr := f.slots(d)
	if err := config.Join(err, textErr, slotsErr); err != nil {
		return err
	}
	webhook := dedupe.Fingerprint(p.Traits().Identity.Reveal())
	if other := f.queue.DestinationOf(webhook); other != nil {
		return sameAccount(d, other.Name, p.Traits().Apart)
	}
	former := make([]string, 0, len(d.FormerWebhooks))
	for _, w := range d.FormerWebhooks {
		former = append(former, dedupe.Fingerprint(w.Reveal()))
	}
	f.queue.Destinations = append(f.queue.Destinations, queue.Destination{
		Name: d.Name, Webhook: webhook, FormerWebhooks: former, Poster: p, Text: text,
		Slots: slots, Quiet: queue.Quiet{From: d.Quiet.From, To: d.Quiet.To, Zone: f.cfg.Timezone},
		MinInterval: d.MinInterval, MaxPerDay: d.MaxPerDay, MaxPerRun: d.MaxPerRun, Settings: d.Settings.Fingerprint(),
	})
	return nil
}

// sameAccount says that two destinations are one account, or that a setting has to
// tell them apart.
func sameAccount(d config.Destination, other, apart string) error {
	if apart == "" {
		return d.Errorf("name", "destination %s has the same webhook as %s: one account is one destination", d.Name, other)
	}
	return d.Errorf("name", "destination %s is the same account as %s: one account is one destination; if they are two, set %s in one of them",
		d.Name, other, apart)
}

// parseText reads a template of the config, the default one if there is none.
func parseText(t config.Text) (*poster.Template, error) {
	value := t.Value
	if value == "" {
		value = poster.DefaultTemplate
	}
	parsed, err := poster.ParseTemplate(value)
	if err != nil {
		return nil, t.Errorf("text: %v", err)
	}
	return parsed, nil
}

func (f *fleet) addRule(r config.Rule) error {
	rule := queue.Rule{
		Name: r.Name, From: r.From, To: r.To,
		Match:   queue.Filter{Title: r.Match.Title, URL: r.Match.URL, Categories: r.Match.Category},
		Exclude: queue.Filter{Title: r.Exclude.Title, URL: r.Exclude.URL, Categories: r.Exclude.Category},
		Cadence: dedupe.Cadence{Period: dedupe.Period(r.Announce), N: r.Every},
		Per:     queue.Per(r.Per), Shadow: r.Shadow,
	}
	if rule.From == nil {
		rule.From = f.sourceNames()
	}
	if rule.To == nil {
		for _, d := range f.cfg.Destinations {
			rule.To = append(rule.To, d.Name)
		}
	}
	if r.Text.Value != "" {
		text, err := parseText(r.Text)
		if err != nil {
			return err
		}
		rule.Text = text
	}
	rule.Meaning = meaning(rule, r.Text.Value)
	f.queue.Rules = append(f.queue.Rules, rule)
	return nil
}

// guard pins local state to the machine that owns it. It goes only where shared
// state has taken the place of the local files; see dedupe/guard.go.
func (a *app) guard() dedupe.Guard {
	return dedupe.Guard{Owner: a.env.Getenv("FLEET_HOST"), Hostname: a.env.Hostname}
}

// reading runs do with the ledger open for reading.
func (a *app) reading(ctx context.Context, do func(context.Context, *fleet) error) error {
	return a.with(ctx, false, nil, do)
}

// writing runs do with the ledger open for writing, behind the guard.
func (a *app) writing(ctx context.Context, do func(context.Context, *fleet) error) error {
	return a.with(ctx, true, nil, do)
}

// with runs do with the ledger open. What check finds wrong with the command line
// is said first; nil: nothing is to be checked.
func (a *app) with(ctx context.Context, write bool, check func(*fleet) error, do func(context.Context, *fleet) error) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	if check != nil {
		if err := check(f); err != nil {
			return err
		}
	}
	store, err := a.openStore(ctx, f, write)
	if err != nil {
		return err
	}
	err = do(ctx, f)
	if closeErr := store.Close(); closeErr != nil {
		if errors.As(err, new(outcome)) {
			// The result was printed, and is not the whole truth.
			return closeErr
		}
		return errors.Join(err, closeErr)
	}
	return err
}

func (a *app) collector() *collect.Collector {
	return &collect.Collector{HTTP: a.env.HTTP, Now: a.env.Now, UserAgent: userAgent}
}

func (f *fleet) sourceNames() []string {
	names := make([]string, 0, len(f.sources))
	for _, s := range f.sources {
		names = append(names, s.Name)
	}
	return names
}

func (f *fleet) destinationNames() []string {
	names := make([]string, 0, len(f.queue.Destinations))
	for _, d := range f.queue.Destinations {
		names = append(names, d.Name)
	}
	return names
}

// known returns a usage error for the first name that is not in the config.
func (f *fleet) known(flag string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return usagef("%s: the config has no %q; it has %s", flag, n, strings.Join(all, ", "))
		}
	}
	return nil
}

// nameOf names the destination that an entry belongs to now, which older records
// do not.
func (f *fleet) nameOf(e queue.Entry) string {
	if d := f.queue.DestinationOf(e.Key.Webhook); d != nil {
		return d.Name
	}
	return e.Destination
}

// shortestID is how many characters of an ID are enough, if they are its alone.
const shortestID = 6

// find returns the entry with this ID, or the one waiting entry whose ID begins so.
func find(ctx context.Context, store queue.Store, id string) (queue.Entry, error) {
	e, err := store.Get(ctx, id)
	if !errors.Is(err, queue.ErrNotFound) || len(id) < shortestID {
		return e, err
	}
	var found []queue.Entry
	for e, err := range store.Waiting(ctx) {
		if err != nil {
			return queue.Entry{}, err
		}
		if strings.HasPrefix(e.ID, id) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return queue.Entry{}, fmt.Errorf("%w: %s", queue.ErrNotFound, id)
	case 1:
		return found[0], nil
	default:
		return queue.Entry{}, fmt.Errorf("%w: %s is the beginning of %d IDs", queue.ErrNotFound, id, len(found))
	}
}

// mistaken reports whether an error is about the entry that was named, and not
// about the ledger.
func mistaken(err error) bool {
	return errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrForbidden) || errors.Is(err, queue.ErrNotDue)
}
