package dedupe

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURL is the greatest length of an address, in bytes, before and after it is
// made canonical.
const MaxURL = 8 << 10

// Canonical returns the one spelling of an address under which an article is
// known. It is for keys only: the address announced is the source's own, see
// StripTracking.
//
// Equal are: http and https; the host in any case, in Unicode or punycode, with
// or without root dot or leading www.; with or without user info or the scheme's
// default port; dot segments and what they resolve to; an unreserved character
// and its percent-escape (RFC 3986 §6.2.2); with and without trailing slash,
// fragment (but for #!, which names a page), tracking parameters, empty parameters
// and a ;jsessionid= in the path. The other parameters keep their order. What may
// not stand in an address is percent-encoded, so that the result is ASCII and
// holds no blank and no bar.
//
// The result begins with https://, except for http at port 443, which is not the
// place that https at its default port is. Canonical of a result is that result.
//
// The error says why an address cannot be announced: not http or https, no host,
// a host or port that cannot be, or more than MaxURL bytes. It does not repeat
// the address, which may hold a password.
func Canonical(raw string) (string, error) { return Site{}.Canonical(raw) }

// Canonical is like the function Canonical, with the site's own tracking parameters
// dropped too.
func (s Site) Canonical(raw string) (string, error) {
	var space [512]byte
	for {
		out, err := s.canonical(space[:0], raw)
		if err != nil {
			return "", err
		}
		// A canonical address comes back as it is, without a copy.
		if string(out) == raw {
			return raw, nil
		}
		raw = string(out)
		// Decoding can bring an escaped ampersand to light, as in ?a&%61mp;b.
		if len(unescapeAmpersands(raw)) == len(raw) {
			return raw, nil
		}
	}
}

// canonical appends the canonical form of an address to out.
func (s Site) canonical(out []byte, raw string) ([]byte, error) {
	text := trim(raw)
	if len(text) > MaxURL {
		return nil, errTooLong()
	}
	scheme, rest, err := cutScheme(unescapeAmpersands(removeBreaks(text)))
	if err != nil {
		return nil, err
	}
	authority, rest := cutAuthority(rest)
	host, port, err := splitAuthority(authority)
	if err != nil {
		return nil, err
	}
	if host, err = canonicalHost(host); err != nil {
		return nil, err
	}
	if port, err = canonicalPort(scheme, port); err != nil {
		return nil, err
	}
	if scheme == "http" && port == "443" {
		out = append(out, "http://"...)
	} else {
		out = append(out, "https://"...)
	}
	out = append(out, host...)
	if port != "" {
		out = append(append(out, ':'), port...)
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	out = appendPath(out, path)
	out = appendQuery(out, query, s.StripParams)
	if strings.HasPrefix(fragment, "!") {
		out = appendEscaped(append(out, '#'), fragment)
	}
	if len(out) > MaxURL {
		return nil, errTooLong()
	}
	return out, nil
}

func errTooLong() error {
	return fmt.Errorf("the address is longer than %d bytes", MaxURL)
}

// cutScheme takes the scheme off an address. An address that begins with // is
// taken for https.
func cutScheme(s string) (scheme, rest string, err error) {
	switch {
	case s == "":
		return "", "", errors.New("the address is empty")
	case len(s) >= 8 && strings.EqualFold(s[:8], "https://"):
		return "https", s[8:], nil
	case len(s) >= 7 && strings.EqualFold(s[:7], "http://"):
		return "http", s[7:], nil
	case strings.HasPrefix(s, "//"):
		return "https", s[2:], nil
	}
	colon := strings.IndexByte(s, ':')
	if colon < 1 || colon > 20 || !isScheme(s[:colon]) {
		return "", "", errors.New("not a web address: it does not begin with https:// or http://")
	}
	if name := strings.ToLower(s[:colon]); name != "http" && name != "https" {
		return "", "", fmt.Errorf("not a web address: its scheme is %s, not https or http", name)
	}
	return "", "", errors.New("the address has no host")
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := lowerByte(s[i])
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return true
}

// appendPath appends a path with dot segments resolved and without session ID and
// trailing slash; the root stays a slash.
func appendPath(out []byte, path string) []byte {
	start := len(out)
	if path == "" {
		return append(out, '/')
	}
	out = appendEscaped(out, path)
	done := resolveDots(dropSessionID(out[start:]))
	for len(done) > 1 && done[len(done)-1] == '/' {
		done = done[:len(done)-1]
	}
	return out[:start+len(done)]
}

// dropSessionID removes Java's ;jsessionid= parameters in place.
func dropSessionID(path []byte) []byte {
	const mark = ";jsessionid="
	out := path[:0]
	for i := 0; i < len(path); {
		if path[i] == ';' && len(path)-i >= len(mark) && strings.EqualFold(string(path[i:i+len(mark)]), mark) {
			for i++; i < len(path) && path[i] != ';' && path[i] != '/'; i++ {
			}
			continue
		}
		out = append(out, path[i])
		i++
	}
	return out
}

// resolveDots removes dot segments in place (RFC 3986 §5.2.4). The path begins
// with a slash; empty segments are segments.
func resolveDots(path []byte) []byte {
	out := path[:0]
	for len(path) > 0 {
		end := 1
		for end < len(path) && path[end] != '/' {
			end++
		}
		segment := path[:end]
		path = path[end:]
		switch string(segment) {
		case "/.":
		case "/..":
			for len(out) > 0 && out[len(out)-1] != '/' {
				out = out[:len(out)-1]
			}
			out = out[:max(len(out)-1, 0)]
		default:
			out = append(out, segment...)
		}
	}
	if len(out) == 0 {
		out = append(out, '/')
	}
	return out
}

// appendQuery appends the parameters that are left, after a question mark if there
// are any.
func appendQuery(out []byte, query string, extra []string) []byte {
	mark := byte('?')
	for query != "" {
		var param string
		param, query, _ = strings.Cut(query, "&")
		if param == "" {
			continue
		}
		start := len(out)
		out = appendEscaped(append(out, mark), param)
		if isTracking(out[start+1:], extra) {
			out = out[:start]
			continue
		}
		mark = '&'
	}
	return out
}

// appendEscaped appends a part of an address with its escapes in normal form:
// unreserved characters bare, everything else that may not stand there as upper
// case escapes.
func appendEscaped(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if mayStand[c] {
			out = append(out, c)
			continue
		}
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if isUnreserved(c) {
				out = append(out, c)
				continue
			}
		}
		out = append(out, '%', upperHex[c>>4], upperHex[c&15])
	}
	return out
}

// appendBlankless appends s with blanks and control characters percent-encoded.
func appendBlankless(out []byte, s string) []byte {
	for _, r := range s {
		if !isBlank(r) {
			continue
		}
		for len(s) > 0 {
			r, size := utf8.DecodeRuneInString(s)
			if isBlank(r) {
				out = appendEscaped(out, s[:size])
			} else {
				out = append(out, s[:size]...)
			}
			s = s[size:]
		}
		return out
	}
	return append(out, s...)
}

// trim removes blanks and control characters from both ends.
func trim(s string) string { return strings.TrimFunc(s, isBlank) }

// isBlank reports white space, control characters, and the marks that texts carry
// along unseen: the byte order mark and the zero width space.
func isBlank(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' || r == '\u200b'
}

// removeBreaks removes tabs and line breaks, which browsers do too (URL Standard,
// basic URL parser): they come from addresses broken over several lines.
func removeBreaks(s string) string {
	if strings.IndexByte(s, '\t') < 0 && strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

// unescapeAmpersands undoes HTML escapes of the ampersand, however often they were
// applied. They are left over in feeds that escape twice, and no address means
// them as they stand. Other entities are left alone: &copy=2 is a parameter.
func unescapeAmpersands(s string) string {
	first := strings.IndexByte(s, '&')
	for first >= 0 && ampersandTail(s[first+1:]) == 0 {
		next := strings.IndexByte(s[first+1:], '&')
		if next < 0 {
			return s
		}
		first += 1 + next
	}
	if first < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); {
		c := s[i]
		out = append(out, c)
		i++
		for c == '&' {
			tail := ampersandTail(s[i:])
			if tail == 0 {
				break
			}
			i += tail
		}
	}
	return string(out)
}

// ampersandTail returns how much of s is the rest of an escaped ampersand.
func ampersandTail(s string) int {
	for _, tail := range [...]string{"amp;", "#38;", "#038;", "#x26;"} {
		if strings.HasPrefix(s, tail) {
			return len(tail)
		}
	}
	return 0
}

// decodeAll decodes every percent-escape.
func decodeAll(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const upperHex = "0123456789ABCDEF"

// mayStand holds the bytes that stand for themselves in a path, a query or a
// fragment: RFC 3986's pchar, slash and question mark. It is never written to.
var mayStand = func() (set [256]bool) {
	for c := range 256 {
		set[c] = isUnreserved(byte(c)) || strings.IndexByte("!$&'()*+,;=:@/?", byte(c)) >= 0
	}
	return set
}()

func isUnreserved(c byte) bool {
	l := lowerByte(c)
	return 'a' <= l && l <= 'z' || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { l := lowerByte(c); return isDigit(c) || 'a' <= l && l <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return lowerByte(c) - 'a' + 10
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
