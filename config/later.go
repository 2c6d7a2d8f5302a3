package config

import "strings"

// later notes what this version reads and cannot do yet, so that it is refused
// and never quietly left out. This is the whole list of it.
func (s *section) later() {
	for _, f := range s.n.fields {
		if what := notYet(s.name, f.key, f.value); what != "" {
			s.p.note(f.problem("%s is not available in this version", what))
		}
	}
}

// notYet names what is not available of a section's key with this value, or
// returns "".
func notYet(section, key string, n *node) string {
	switch section + "." + key {
	case "source.guid":
		return ifValue(key, n, "true")
	}
	return ""
}

func ifValue(key string, n *node, values ...string) string {
	for _, v := range values {
		if strings.EqualFold(n.text, v) {
			return key + ": " + v
		}
	}
	return ""
}
