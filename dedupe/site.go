package dedupe

import "strings"

// Site says which addresses are the same page at one source. The zero value adds
// nothing to the rules that hold everywhere.
type Site struct {
	// Host is the site's main host, in any spelling. Empty: Aliases do not count.
	Host string
	// Aliases are other hosts that are this site, in any spelling.
	Aliases []string
	// StripParams are names of query parameters that only track there, beside the
	// built-in ones, in any case.
	StripParams []string
}

// Has reports whether an address is on one of the site's hosts.
func (s Site) Has(raw string) bool {
	canonical, err := s.Canonical(raw)
	if err != nil || s.Host == "" {
		return false
	}
	_, host, _ := cutHost(canonical)
	main, err := canonicalHost(s.Host)
	return err == nil && host == main
}

// Elsewhere returns where older records may have the same page: a canonical
// address with the main host replaced by each other host of the site. It returns
// nil if the address is not on the main host.
func (s Site) Elsewhere(canonical string) []string {
	scheme, host, rest := cutHost(canonical)
	if main, err := canonicalHost(s.Host); err != nil || host != main {
		return nil
	}
	var all []string
	for _, alias := range s.Aliases {
		if other, err := canonicalHost(alias); err == nil && other != host {
			all = append(all, scheme+other+rest)
		}
	}
	return all
}

// mainHost returns the site's main host for each of its hosts, and any other host
// as it is. host is canonical.
func (s Site) mainHost(host string) string {
	if s.Host == "" {
		return host
	}
	for _, alias := range s.Aliases {
		if other, err := canonicalHost(alias); err == nil && other == host {
			if main, err := canonicalHost(s.Host); err == nil {
				return main
			}
		}
	}
	return host
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
