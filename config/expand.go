package config

import (
	"regexp"
	"strings"
	"sync"
)

// maxExpanded is how much text the environment may add to one config, in bytes.
const maxExpanded = 4 << 20

// variable is a reference to the environment: a name, and a default after :-.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`) })

// expand replaces the references to the environment in a text. It runs on what
// the YAML parser made of the file, so that no value of the environment can be
// anything but a text.
func (p *parser) expand(n *node) {
	text, expanded, what := p.expandText(n.raw)
	if what != "" {
		problem := n.problem("%s", what)
		p.note(problem)
		n.text, n.bad = "", &problem
		return
	}
	n.text, n.expanded = text, expanded
}

// expandText expands $$, ${NAME} and ${NAME:-default} in s. Where it cannot, it
// says what is wrong.
func (p *parser) expandText(s string) (text string, expanded bool, what string) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), expanded, ""
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			s = after[1:]
		case strings.HasPrefix(after, "{"):
			inner, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", false, "${ has no closing }; for a dollar write $$"
			}
			value, what := p.lookUp(inner)
			if what != "" {
				return "", false, what
			}
			b.WriteString(value)
			s, expanded = rest, true
		case startsName(after):
			return "", false, "a $ before a letter: write ${NAME} for a variable of the environment, or $$ for a dollar"
		default:
			b.WriteByte('$')
			s = after
		}
	}
}

// lookUp returns the value of what stands between ${ and }.
func (p *parser) lookUp(inner string) (value, what string) {
	m := variable().FindStringSubmatch(inner)
	switch {
	case m == nil:
		return "", "${…} takes a name, as in ${NAME} or ${NAME:-default}; for a dollar write $$"
	case strings.Contains(m[3], "${"):
		return "", "the default of ${" + clip(m[1]) + "} cannot hold another ${"
	}
	value = p.getenv(m[1])
	if value == "" && m[2] == "" {
		return "", "${" + clip(m[1]) + "} is not set in the environment, or empty; set " + clip(m[1]) + ", or give a default as in ${NAME:-default}"
	}
	if value == "" {
		value = strings.ReplaceAll(m[3], "$$", "$")
	}
	if p.expanded += len(value); p.expanded > maxExpanded {
		return "", "the environment adds too much text to the config"
	}
	return value, ""
}

func startsName(s string) bool {
	return s != "" && (s[0] == '_' || isLetter(s[0]|0x20))
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
