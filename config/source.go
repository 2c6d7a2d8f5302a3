package config

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// The defaults of a source.
const (
	defaultMaxAge   = 7 * 24 * time.Hour
	defaultFirstRun = 24 * time.Hour
	defaultBrake    = 20
)

// source reads one source.
func (p *parser) source(n *node, seen names, zone *time.Location) Source {
	s := p.section("source", n)
	source := Source{
		Spot:        s.spot(),
		Name:        seen.read(s),
		MaxAge:      s.duration("max_age", defaultMaxAge),
		FirstRun:    s.firstRun(),
		Brake:       s.count("brake", defaultBrake),
		StripParams: textsOf(s.texts("strip_params")),
		Hosts:       s.hosts(),
		Timezone:    s.zone("timezone", zone),
	}
	source.Kind, source.Location = s.location()
	source.Ready = s.flag("ready")
	source.GUID = s.flagOr("guid", true)
	s.finish()
	return source
}

// location reads the one key that says where the source is.
func (s *section) location() (kind, location string) {
	for _, key := range []string{"feed", "site", "sitemap", "list"} {
		n := s.take(key)
		switch {
		case n == nil:
		case kind != "":
			s.p.note(n.problem("%s: the source has %s already; make two sources of them", key, kind))
		default:
			kind, location = key, s.address(key, n)
		}
	}
	if kind == "" && s.n.size > 1 {
		s.p.note(s.n.problem("this source has no address; give it one of feed, site, sitemap or list"))
	}
	return kind, location
}

// address reads a value that is an address or the path of a file. What it says
// never quotes the value: an address may hold a password.
func (s *section) address(key string, n *node) string {
	if !s.p.want(key, n, isText) {
		return ""
	}
	text := strings.TrimSpace(n.text)
	scheme, _, isAddress := strings.Cut(text, "://")
	switch {
	case text == "":
		s.p.note(n.problem("%s is empty; want an http(s) address or a path", key))
	case isAddress && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		s.p.note(n.problem("%s: want an address that begins with https:// or http://, or a path", key))
	case isAddress && !isHTTP(text):
		s.p.note(n.problem("%s: not an address that a request can be made to", key))
	case isAddress:
		return text
	case looksLikeHost().MatchString(text), key == "site" && looksLikeHost().MatchString(text+"/"):
		s.p.note(n.problem("%s: an address begins with https:// or http://; put ./ before the path of a file", key))
	default:
		return s.p.path(text)
	}
	return ""
}

// looksLikeHost finds addresses that lack their scheme: the path of a file seldom
// begins with a folder like example.com.
var looksLikeHost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)([a-z0-9-]+\.)+[a-z]{2,}(:[0-9]+)?/`) })

// isHTTP reports whether a request can be made to the address.
func isHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Hostname() != "" && !strings.ContainsAny(address, " \t\r\n")
}

// firstRun reads none, all or a duration.
func (s *section) firstRun() FirstRun {
	n := s.take("first_run")
	switch {
	case n == nil:
		return FirstRun{Within: defaultFirstRun}
	case n.kind == isText && n.text == "none":
		return FirstRun{}
	case n.kind == isText && n.text == "all":
		return FirstRun{All: true}
	}
	within, problem := duration("first_run", n)
	if problem != nil {
		if n.kind == isText && n.bad == nil {
			problem.Text += "; or none, or all"
		}
		s.p.note(*problem)
		return FirstRun{Within: defaultFirstRun}
	}
	return FirstRun{Within: within}
}

// hosts reads the site's other host names.
func (s *section) hosts() []string {
	var hosts []string
	for _, n := range s.texts("hosts") {
		u, err := url.Parse("https://" + n.text)
		if err != nil || u.Host != n.text || u.Hostname() == "" || u.Port() != "" || strings.HasSuffix(u.Host, ":") || strings.ContainsAny(n.text, " \t\r\n") {
			s.p.note(n.problem("hosts: want a host name only, as in old.example.com"))
			continue
		}
		hosts = append(hosts, n.text)
	}
	return hosts
}
