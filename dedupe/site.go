package dedupe

import (
	"slices"
	"strings"
)

// Site says which addresses are the same page at one source. The zero value adds
// nothing to the rules that hold everywhere.
type Site struct {
	// Host is the host of the source's own address, in any spelling. Empty: it has
	// none. It may be a third party's, which serves the feeds of many sites.
	Host string
	// Aliases are other hosts that are this site, in any spelling.
	Aliases []string
	// StripParams are names of query parameters that only track there, beside the
	// built-in ones, in any case.
	StripParams []string
}

// Has reports whether an address is on one of the site's hosts.
func (s Site) Has(raw string) bool {
	canonical, err := Canonical(raw)
	if err != nil {
		return false
	}
	_, host, _ := cutHost(canonical)
	return slices.Contains(s.hosts(), host)
}

// Elsewhere returns the other addresses at which the site has the same page: a
// canonical address with its host replaced by each other host of the site. It
// returns nil if the address is on none of them. An address keeps its own host in
// its key, so that keys do not change with what the config says of hosts.
func (s Site) Elsewhere(canonical string) []string {
	if len(s.Aliases) == 0 {
		return nil
	}
	hosts := s.hosts()
	scheme, host, rest := cutHost(canonical)
	if !slices.Contains(hosts, host) {
		return nil
	}
	var all []string
	for _, other := range hosts {
		if other != host {
			all = append(all, scheme+other+rest)
		}
	}
	return all
}

// Main returns the one spelling of a canonical address among those at which the site
// has the same page, for what is counted rather than known. The host is the first of
// Aliases: Host may be a third party's, where pages of other sites would have the
// same address.
func (s Site) Main(canonical string) string {
	if s.Elsewhere(canonical) == nil {
		return canonical
	}
	for _, alias := range s.Aliases {
		if main, err := canonicalHost(alias); err == nil {
			scheme, _, rest := cutHost(canonical)
			return scheme + main + rest
		}
	}
	return canonical
}

// hosts are the site's hosts in their one spelling, each once.
func (s Site) hosts() []string {
	all := make([]string, 0, 1+len(s.Aliases))
	for _, raw := range append([]string{s.Host}, s.Aliases...) {
		if host, err := canonicalHost(raw); err == nil && !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// SameHost reports whether two canonical addresses are on one host.
func SameHost(a, b string) bool {
	_, hostA, _ := cutHost(a)
	_, hostB, _ := cutHost(b)
	return hostA == hostB
}

// IsRoot reports whether a canonical address is that of a whole host.
func IsRoot(canonical string) bool {
	_, _, rest := cutHost(canonical)
	_, path, _ := strings.Cut(rest, "/")
	return path == "" && !strings.ContainsAny(rest, "?#")
}

// cutHost takes a canonical address apart around its host.
func cutHost(canonical string) (scheme, host, rest string) {
	start := strings.Index(canonical, "://") + len("://")
	end := start
	for end < len(canonical) && canonical[end] != '/' && (canonical[end] != ':' || canonical[start] == '[' && canonical[end-1] != ']') {
		end++
	}
	return canonical[:start], canonical[start:end], canonical[end:]
}
