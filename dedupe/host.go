package dedupe

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// cutAuthority splits what follows the scheme's slashes into the authority and
// the path, query and fragment.
func cutAuthority(s string) (authority, rest string) {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

// splitAuthority returns the host and the port as they are written, and drops the
// user info. An IPv6 address keeps its brackets.
func splitAuthority(s string) (host, port string, err error) {
	// Browsers take a backslash for a slash, others for part of the user info. What
	// goes to different hosts for different readers is not announced.
	if strings.IndexByte(s, '\\') >= 0 {
		return "", "", errors.New("the address has a backslash before its path")
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	end := strings.LastIndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		if end = strings.IndexByte(s, ']') + 1; end == 0 || end < len(s) && s[end] != ':' {
			return "", "", errBadHost()
		}
	}
	if end < 0 || end == len(s) {
		return s, "", nil
	}
	return s[:end], s[end+1:], nil
}

func errBadHost() error { return errors.New("the address has a host that cannot be") }

// hostProfile maps Unicode hosts as browsers do: UTS #46, non-transitional, so
// that straße is not strasse. Underscores and hyphens anywhere are in use, and
// what ASCII a host may hold is checked afterwards.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
)

// canonicalHost returns the one spelling of a host, without leading www. and root
// dot.
func canonicalHost(host string) (string, error) {
	if isPlainHost(host) {
		return withoutWWW(host), nil
	}
	if strings.HasPrefix(host, "[") {
		ip, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", errBadHost()
		}
		return "[" + ip.String() + "]", nil
	}
	host = decodeAll(host)
	switch {
	case isASCII(host):
		host = strings.ToLower(host)
	case !utf8.ValidString(host):
		return "", errBadHost()
	default:
		var err error
		if host, err = hostProfile.ToASCII(host); err != nil {
			return "", errBadHost()
		}
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" {
		return "", errors.New("the address has no host")
	}
	if !isPlainHost(host) {
		return "", errBadHost()
	}
	return withoutWWW(host), nil
}

// isPlainHost reports whether a host is of lower-case ASCII labels, none of them
// empty.
func isPlainHost(host string) bool {
	label := false
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', isDigit(c), c == '-', c == '_':
			label = true
		case c == '.' && label:
			label = false
		default:
			return false
		}
	}
	return label
}

// withoutWWW drops leading www. labels, but not from a name like www.example,
// where it is the domain's own.
func withoutWWW(host string) string {
	for {
		rest, found := strings.CutPrefix(host, "www.")
		if !found || strings.IndexByte(rest, '.') < 0 {
			return host
		}
		host = rest
	}
}

// canonicalPort returns the port without leading zeros, and empty for the
// scheme's default.
func canonicalPort(scheme, port string) (string, error) {
	if port == "" {
		return "", nil
	}
	for i := range len(port) {
		if !isDigit(port[i]) {
			return "", errors.New("the address has a port that is not a number")
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", errors.New("the address has a port above 65535")
	}
	if scheme == "https" && n == 443 || scheme == "http" && n == 80 {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}
