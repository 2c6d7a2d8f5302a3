package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxShown is how much of a text a problem quotes, in bytes.
const maxShown = 60

func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`) })

// keyName is a key as problems name it. What does not look like a key may be a
// value that lost its key, and so a secret.
func keyName(key string) string {
	if !plainKey().MatchString(key) {
		return "(hidden)"
	}
	return key
}

// section reads the keys of one mapping, each once, and knows in the end which of
// them nobody asked for.
type section struct {
	p *parser
	n *node
	// name is what the section is called: source, destination, ….
	name string
	// known are the keys that were asked for.
	known []string
}

// section returns the mapping's keys for reading. A node of another kind is noted
// and read as an empty mapping.
func (p *parser) section(name string, n *node) *section {
	if !p.want(name, n, isMapping) {
		n = &node{place: n.place, kind: isMapping}
	}
	return &section{p: p, n: n, name: name}
}

// want reports whether the node is of this kind, and notes it if it is not.
func (p *parser) want(name string, n *node, k kind) bool {
	if problem := mismatch(name, n, k); problem != nil {
		p.note(*problem)
		return false
	}
	return true
}

// mismatch returns what is wrong if the node is not of this kind, or nil.
func mismatch(name string, n *node, k kind) *Problem {
	var problem Problem
	switch {
	case n.bad != nil:
		return n.bad
	case n.kind == k, k == isDuration && n.kind == isText:
		return nil
	case n.kind == isNull:
		problem = n.problem("%s has no value; want %s, or leave the key out", name, k)
	case k == isText && (n.kind == isNumber || n.kind == isBool):
		problem = n.problem("%s: want a text; put it in quotes", name)
	case k == isList && n.kind != isMapping:
		problem = n.problem("%s: want a list, as in [one, two]", name)
	case k == isNumber && n.kind == isText && !n.expanded && isDigits(n.raw):
		problem = n.problem("%s: want a number; leave the quotes out", name)
	default:
		problem = n.problem("%s: want %s, not %s", name, k, n.kind)
	}
	return &problem
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// take returns the value of the key, or nil if it is not there.
func (s *section) take(key string) *node {
	s.known = append(s.known, key)
	return s.n.get(key)
}

// finish notes the keys that nobody asked for.
func (s *section) finish() {
	for _, f := range s.n.fields {
		if !slices.Contains(s.known, f.key) {
			s.p.note(unknownKey(f, s.known))
		}
	}
}

func unknownKey(f field, known []string) Problem {
	if of, ok := strings.CutSuffix(f.key, fileSuffix); ok && slices.Contains(known, of) {
		return f.problem("unknown key %s; %s is no secret, so write it here", f.key, of)
	}
	if near := nearest(f.key, known); near != "" {
		return f.problem("unknown key %s; did you mean %s?", keyName(f.key), near)
	}
	return f.problem("unknown key %s; known here: %s", keyName(f.key), strings.Join(known, ", "))
}

// spot returns where the section and its values stand.
func (s *section) spot() Spot {
	values := make(map[string]*node, len(s.n.fields))
	for _, f := range s.n.fields {
		values[f.key] = f.value
	}
	return Spot{begin: s.n.place, values: values}
}

// text reads a text that is not empty, or returns otherwise.
func (s *section) text(key, otherwise string) string {
	n := s.take(key)
	if n == nil || !s.p.want(key, n, isText) {
		return otherwise
	}
	if n.text == "" {
		s.p.note(n.problem("%s is empty; leave it out, or give it a value", key))
		return otherwise
	}
	return n.text
}

// texts reads a list of texts that are not empty. Nil: the key is not there.
func (s *section) texts(key string) []*node {
	n := s.take(key)
	if n == nil || !s.p.want(key, n, isList) {
		return nil
	}
	items := []*node{}
	for _, item := range n.items {
		switch {
		case !s.p.want("in "+key, item, isText):
		case item.text == "":
			s.p.note(item.problem("an entry of %s is empty", key))
		default:
			items = append(items, item)
		}
	}
	return items
}

// filled reads a list that has something in it. Nil: the key is not there.
func (s *section) filled(key string) []*node {
	items := s.texts(key)
	if n := s.n.get(key); items != nil && len(n.items) == 0 {
		s.p.note(n.problem("%s is empty; leave it out for all", key))
	}
	return items
}

func textsOf(nodes []*node) []string {
	var texts []string
	for _, n := range nodes {
		texts = append(texts, n.text)
	}
	return texts
}

// count reads a whole number that is not negative, or returns otherwise.
func (s *section) count(key string, otherwise int) int {
	n := s.take(key)
	if n == nil {
		return otherwise
	}
	i, problem := number(key, n)
	if problem == nil && (i < 0 || i > math.MaxInt32) {
		bad := n.problem("%s: want a number from 0", key)
		problem = &bad
	}
	if problem != nil {
		s.p.note(*problem)
		return otherwise
	}
	return int(i)
}

// number reads a whole number, which may have come as a text from the environment.
func number(name string, n *node) (int64, *Problem) {
	if !n.expanded {
		if problem := mismatch(name, n, isNumber); problem != nil {
			return 0, problem
		}
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		problem := n.problem("%s: want a whole number, not %s", name, n.quote())
		return 0, &problem
	}
	return i, nil
}

// quote quotes a scalar as it was written, which says nothing of the environment.
func (n *node) quote() string { return strconv.Quote(clip(n.raw)) }

// flag reads true or false, which may have come as a text from the environment.
func flag(name string, n *node) (bool, *Problem) {
	if n.expanded && (n.text == "true" || n.text == "false") {
		return n.text == "true", nil
	}
	if problem := mismatch(name, n, isBool); problem != nil {
		return false, problem
	}
	return strings.EqualFold(n.raw, "true"), nil
}

// flag reads true or false. False if the key is not there.
func (s *section) flag(key string) bool { return s.flagOr(key, false) }

// flagOr reads true or false, or returns otherwise.
func (s *section) flagOr(key string, otherwise bool) bool {
	n := s.take(key)
	if n == nil {
		return otherwise
	}
	b, problem := flag(key, n)
	if problem != nil {
		s.p.note(*problem)
	}
	return b
}

// duration reads a duration, or returns otherwise.
func (s *section) duration(key string, otherwise time.Duration) time.Duration {
	n := s.take(key)
	if n == nil {
		return otherwise
	}
	d, problem := duration(key, n)
	if problem != nil {
		s.p.note(*problem)
		return otherwise
	}
	return d
}

func duration(name string, n *node) (time.Duration, *Problem) {
	if n.kind != isNumber {
		if problem := mismatch(name, n, isDuration); problem != nil {
			return 0, problem
		}
	}
	d, err := ParseDuration(n.text)
	switch {
	case err == nil:
		return d, nil
	case n.expanded:
		problem := n.problem("%s: %s is not a duration; %s", name, n.quote(), durationUnits)
		return 0, &problem
	default:
		problem := n.problem("%s: %s: %v", name, n.quote(), err)
		return 0, &problem
	}
}

// zone reads the name of a time zone, or returns otherwise.
func (s *section) zone(key string, otherwise *time.Location) *time.Location {
	name := s.text(key, "")
	if name == "" {
		return otherwise
	}
	n := s.n.get(key)
	// Local would make the same config mean something else on each machine.
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		s.p.note(n.problem("%s: %s is not a time zone; write one like Asia/Tokyo or UTC", key, n.quote()))
		return otherwise
	}
	return zone
}

// oneOf reads one of a few words, or returns the first.
func (s *section) oneOf(key string, words ...string) string {
	text := s.text(key, words[0])
	if slices.Contains(words, text) {
		return text
	}
	n := s.n.get(key)
	s.p.note(n.problem("%s: want %s, not %s%s", key, strings.Join(words, " or "), n.quote(), didYouMean(text, words)))
	return words[0]
}

func didYouMean(text string, words []string) string {
	near := nearest(text, words)
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}

// goodName is a name but for its length, which is costly to count in an expression.
var goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`) })

const maxName = 64

// names makes sure that the sections of one kind have names, each its own.
type names map[string]place

// read reads the section's name.
func (seen names) read(s *section) string {
	n := s.take("name")
	if n == nil {
		if s.n.size > 0 {
			s.p.note(s.n.problem("this %s has no name; give it one, as in name: %s", s.name, "news"))
		}
		return ""
	}
	if !s.p.want("name", n, isText) {
		return ""
	}
	if len(n.text) > maxName || !goodName().MatchString(n.text) {
		s.p.note(n.problem("name: %s: a name is a to z, 0 to 9, _ and -, begins with a letter or digit, and has at most %d characters", n.quote(), maxName))
		return n.text
	}
	if first, ok := seen[n.text]; ok {
		s.p.note(n.problem("there is another %s with the name %s, on line %d", s.name, n.quote(), first.line))
		return n.text
	}
	seen[n.text] = n.place
	return n.text
}
