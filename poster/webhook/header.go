package webhook

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"bot/poster"
)

// ours reports whether a header is the program's own, which no setting replaces.
func ours(name string) bool {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Content-Type", "Content-Length", "Idempotency-Key", "User-Agent", "Host", "Connection",
		"Transfer-Encoding", "Trailer", "Upgrade", "Expect", "Te", "Keep-Alive", "Proxy-Connection":
		return true
	}
	return strings.HasPrefix(name, "Webhook-")
}

// checkHeaders returns an error for each header that cannot be sent.
func checkHeaders(s poster.Settings, headers map[string]poster.Secret) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch {
		case !isToken(name):
			errs = append(errs, s.Errorf("headers", "headers: %q is not a header's name", name))
		case ours(name):
			errs = append(errs, s.Errorf("headers", "headers: %s is set by the program", name))
		case strings.ContainsFunc(strings.TrimSpace(headers[name].Reveal()), unicode.IsControl):
			errs = append(errs, s.Errorf("headers", "headers: the value of %s holds control characters", name))
		}
	}
	return errors.Join(errs...)
}

// isToken reports whether name is a token of RFC 9110 §5.6.2.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
