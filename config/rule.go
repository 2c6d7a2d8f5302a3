package config

import (
	"regexp"
	"slices"
	"strings"
)

// rules reads the rules, or makes the one that stands for none.
func (p *parser) rules(s *section, c *Config) []Rule {
	n := s.take("rules")
	if n == nil {
		return []Rule{{Spot: s.spot(), Name: "default", Announce: "once", Per: "article"}}
	}
	if !p.want("rules", n, isList) {
		return nil
	}
	if len(n.items) == 0 {
		p.note(n.problem("rules is empty, so nothing would be announced; leave it out for every source to every destination"))
	}
	var sources, destinations []string
	for _, source := range c.Sources {
		sources = append(sources, source.Name)
	}
	for _, d := range c.Destinations {
		destinations = append(destinations, d.Name)
	}
	var rules []Rule
	seen := make(names)
	for _, item := range n.items {
		rules = append(rules, p.rule(item, seen, sources, destinations))
	}
	return rules
}

// rule reads one rule.
func (p *parser) rule(n *node, seen names, sources, destinations []string) Rule {
	s := p.section("rule", n)
	rule := Rule{
		Spot:    s.spot(),
		Name:    seen.read(s),
		From:    s.references("from", "source", sources),
		To:      s.references("to", "destination", destinations),
		Match:   s.filter("match"),
		Exclude: s.filter("exclude"),
		Text:    s.template("text"),
	}
	s.announce(&rule)
	rule.Per = s.oneOf("per", "article", "source", "category")
	rule.Shadow = s.oneOf("mode", "live", "shadow") == "shadow"
	s.finish()
	return rule
}

// references reads a list of names of sources or destinations. Nil: the key is
// not there.
func (s *section) references(key, what string, all []string) []string {
	var found []string
	seen := make(map[string]bool)
	for _, n := range s.filled(key) {
		switch {
		case !slices.Contains(all, n.text):
			s.p.note(n.problem("%s: there is no %s %s%s", key, what, n.quote(), didYouMean(n.text, all)))
		case seen[n.text]:
			s.p.note(n.problem("%s: %s is here twice", key, n.quote()))
		}
		seen[n.text] = true
		found = append(found, n.text)
	}
	return found
}

// filter reads what a rule asks of an article.
func (s *section) filter(key string) Filter {
	n := s.take(key)
	if n == nil {
		return Filter{}
	}
	f := s.p.section(key, n)
	filter := Filter{Title: f.regexp("title"), URL: f.regexp("url"), Category: textsOf(f.filled("category"))}
	f.finish()
	return filter
}

// regexp reads a regular expression. Nil: the key is not there.
func (s *section) regexp(key string) *regexp.Regexp {
	text := s.text(key, "")
	if text == "" {
		return nil
	}
	re, err := regexp.Compile(text)
	if err == nil {
		return re
	}
	n := s.n.get(key)
	if n.expanded {
		s.p.note(n.problem("%s: %s is not a regular expression (RE2)", key, n.quote()))
	} else {
		s.p.note(n.problem("%s: not a regular expression (RE2): %s", key, strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return nil
}

// announce reads how often a rule announces: a word, or every: N.
func (s *section) announce(rule *Rule) {
	n := s.n.get("announce")
	if n == nil || n.kind != isMapping {
		rule.Announce = s.oneOf("announce", "once", "daily", "weekly", "monthly")
		return
	}
	s.take("announce")
	every := s.p.section("announce", n)
	rule.Announce, rule.Every = "every", every.count("every", 0)
	if rule.Every < 1 {
		s.p.note(n.problem("announce: want once, daily, weekly, monthly or every: N, with N from 1"))
	}
	every.finish()
}
