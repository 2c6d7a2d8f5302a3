// Package config reads bot.yaml, strictly: an unknown key, a value of the wrong
// kind, a name used twice is a problem with its file, line and column, and all
// problems are found at once.
//
// It knows what every destination has in common. What else a destination is told
// is the platform's own, which decodes it from Settings.
package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	// Time zones have to be known where the system has no database of them, as in
	// a container that holds nothing but the program.
	_ "time/tzdata"
)

// The greatest sizes of the config file and of a file that holds a secret, in
// bytes.
const (
	maxFile       = 1 << 20
	maxSecretFile = 64 << 10
)

// Config is what a config file says, with every default filled in.
type Config struct {
	// File is the config file, as it was named to Load.
	File string
	// Dir is the absolute folder that relative paths in the file start from: the
	// file's own.
	Dir string
	// Timezone is the fleet's time zone. UTC if none is given.
	Timezone *time.Location
	// State says where the ledger is kept.
	State State
	// Sources, Destinations and Rules are in the order of the file. Names are
	// unique among each. Without rules in the file there is one, named default,
	// from every source to every destination.
	Sources      []Source
	Destinations []Destination
	Rules        []Rule
	// Serve says what the daemon does, and when.
	Serve Serve

	p *parser
}

// SecretFiles returns the absolute paths of the files that secrets were read from,
// those among them that were named in Settings that have been decoded.
func (c *Config) SecretFiles() []string {
	return slices.Compact(slices.Sorted(slices.Values(c.p.secretFiles)))
}

// Serve says what `bot serve` does, and when.
type Serve struct {
	Spot
	// Enqueue and Process are schedules, which are not checked here. The defaults
	// are filled in.
	Enqueue, Process Text
	// Listen is the address that health and metrics are served at, as host:port or
	// :port. Empty: none.
	Listen string
	// Ping is an address that is told of each run. Empty: none. It may be secret.
	Ping string
}

// State says where the ledger is kept.
type State struct {
	Spot
	// Backend is local or firestore.
	Backend string
	// Dir is the absolute path of the folder of the local files.
	Dir string
	// Project, Database and Fleet name the ledger in Firestore. Empty: the file does
	// not say.
	Project, Database, Fleet string
}

// Source is where articles come from.
type Source struct {
	Spot
	// Name is [a-z0-9][a-z0-9_-]*, at most 64 characters.
	Name string
	// Kind is feed, site, sitemap or list. Empty only beside problems.
	Kind string
	// Location is an absolute http(s) address, or the absolute path of a file.
	Location string
	// MaxAge is the age above which a dated article is skipped. 7 days if none is
	// given.
	MaxAge time.Duration
	// FirstRun says what is taken on first sight of the source.
	FirstRun FirstRun
	// Brake is the number of new articles in one run above which they are held. 20
	// if none is given. Zero: no brake.
	Brake int
	// Ready queues an article only once its page answers 200.
	Ready bool
	// StripParams are parameters to drop from addresses, beside the tracking
	// parameters known to everyone.
	StripParams []string
	// Hosts are other host names of the same site.
	Hosts []string
	// GUID says that one guid is one article, whatever its address. True if the file
	// says nothing.
	GUID bool
	// Timezone is for dates that name no zone. The fleet's if none is given.
	Timezone *time.Location
}

// FirstRun says which articles are taken on first sight of a source.
type FirstRun struct {
	// All takes every article, also those without a date.
	All bool
	// Within is the age up to which articles are taken, if not All. Zero: none is.
	// 24 hours if the file says nothing.
	Within time.Duration
}

// Destination is one account or channel that announcements go to.
type Destination struct {
	Spot
	// Name is [a-z0-9][a-z0-9_-]*, at most 64 characters.
	Name string
	// Type is the platform's name, which is not checked here. webhook if none is
	// given.
	Type string
	// FormerWebhooks are earlier webhooks of the same account.
	FormerWebhooks []Secret
	// MinInterval is the least time between two posts. Zero: none.
	MinInterval time.Duration
	// Slots are the times to post at, as cron expressions that are not checked here.
	// Nil: at once.
	Slots []Text
	// Quiet is when nothing is sent.
	Quiet Quiet
	// MaxPerDay and MaxPerRun are the greatest numbers of posts in one day of the
	// fleet's zone and in one run. Zero: no limit.
	MaxPerDay, MaxPerRun int
	// Text is the template of what is said.
	Text Text
	// Settings are the platform's own.
	Settings *Settings
}

// Quiet is a part of every day, in the fleet's zone. The zero value: none.
type Quiet struct {
	// From and To are wall-clock times since midnight, in whole minutes. If To is
	// before From, midnight is in between. To itself is outside.
	From, To time.Duration
}

// Text is a template or a schedule, which whoever knows what it may hold checks.
type Text struct {
	// Value is what is written. Empty: the default.
	Value string
	at    place
}

// Errorf returns a Problem at the text's place in the file.
func (t Text) Errorf(format string, args ...any) error {
	return t.at.problem(format, args...)
}

// Rule says which sources' articles go to which destinations.
type Rule struct {
	Spot
	// Name is [a-z0-9][a-z0-9_-]*, at most 64 characters.
	Name string
	// From and To name sources and destinations. Nil: all.
	From, To []string
	// Match lets an article through when all that it asks for holds; Exclude stops
	// it when any does.
	Match, Exclude Filter
	// Announce is once, daily, weekly, monthly or every, and Every the N of the
	// last.
	Announce string
	Every    int
	// Per is what counts as one thing: article, source or category.
	Per string
	// Shadow: everything is done but the request itself.
	Shadow bool
	// Text overrides the destination's. Empty: it does not.
	Text Text
}

// Filter looks at an article. What is not set is not asked.
type Filter struct {
	// Title and URL are searched for in the title and in the address.
	Title, URL *regexp.Regexp
	// Category names labels, of which the article has to have one.
	Category []string
}

// Load reads the config file at path. getenv looks up a variable of the
// environment; an empty one counts as not set.
//
// What is wrong in the file is returned as Problems, all of it. The Config is
// returned beside them, so that whoever checks what is not known here (platforms,
// templates) can find and Join the rest; it is good for nothing else. It is nil
// if the file cannot be read or is not YAML. If the file is not there, the error
// is fs.ErrNotExist.
func Load(path string, getenv func(string) string) (*Config, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	data, err := readFile(absolute, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return Parse(path, data, filepath.Dir(absolute), getenv)
}

// Parse does what Load does with the data of a file that is called file and lies
// in the absolute folder dir.
func Parse(file string, data []byte, dir string, getenv func(string) string) (*Config, error) {
	p := &parser{file: file, dir: dir, getenv: getenv}
	if len(data) > maxFile {
		p.note(p.at(0, 0).problem("larger than 1 MiB"))
		return nil, Join(p.problems)
	}
	root := p.document(data)
	if root == nil {
		return nil, Join(p.problems)
	}
	c := p.config(root)
	return c, Join(p.problems)
}

// readFile reads a file, up to one byte more than limit, so that the caller can
// see that there is more.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// parser reads one config file.
type parser struct {
	file, dir string
	getenv    func(string) string
	problems  Problems
	// secretFiles are the files that secrets were read from.
	secretFiles []string
	// expanded is how much the environment added, in bytes.
	expanded int
}

func (p *parser) note(problem Problem) { p.problems = append(p.problems, problem) }

func (p *parser) at(line, column int) place { return place{p.file, line, column} }

// path makes a path of the config absolute.
func (p *parser) path(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}

// config reads the whole document.
func (p *parser) config(root *node) *Config {
	s := p.section("config", root)
	c := &Config{File: p.file, Dir: p.dir, Timezone: s.zone("timezone", time.UTC), p: p}
	c.State = p.state(s.take("state"), root.place)
	seen := make(names)
	for _, n := range s.sections("sources") {
		c.Sources = append(c.Sources, p.source(n, seen, c.Timezone))
	}
	seen = make(names)
	for _, n := range s.sections("destinations") {
		c.Destinations = append(c.Destinations, p.destination(n, seen))
	}
	c.Rules = p.rules(s, c)
	c.Serve = p.serve(s)
	s.finish()
	return c
}

// sections reads a list whose items are mappings. Items of another kind are left
// to whoever reads them.
func (s *section) sections(key string) []*node {
	n := s.take(key)
	if n == nil || !s.p.want(key, n, isList) {
		return nil
	}
	return n.items
}
