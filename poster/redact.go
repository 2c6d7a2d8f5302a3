package poster

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// redactor cuts secrets out of texts. The zero value cuts nothing.
type redactor struct{ replacer *strings.Replacer }

// shortest is the least length of what is cut out: shorter ones would cut up every
// message.
const shortest = 4

// common reports whether a word stands in many webhooks and is no secret.
func common(word string) bool {
	switch strings.ToLower(word) {
	case "api", "hook", "hooks", "http", "https", "json", "post", "services", "true", "false",
		"webhook", "webhooks", "workflows":
		return true
	}
	return false
}

// newRedactor returns one that knows the secrets in every spelling in which a
// server or a library might repeat them: of an address also its parts, since an
// answer often quotes the path alone.
func newRedactor(secrets []Secret) redactor {
	var words []string
	for _, s := range secrets {
		text := strings.TrimSpace(s.Reveal())
		if !hidden(text) {
			continue
		}
		words = append(words, spellings(text)...)
		if bare, ok := strings.CutPrefix(text, "whsec_"); ok {
			words = append(words, bare)
		}
		for _, part := range addressParts(text) {
			if hidden(part) {
				words = append(words, spellings(part)...)
			}
		}
	}
	// The longest first, or a part would be cut out of what should go as a whole.
	slices.SortFunc(words, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, w := range slices.Compact(words) {
		pairs = append(pairs, w, redacted)
	}
	return redactor{strings.NewReplacer(pairs...)}
}

// hidden reports whether a secret or a part of one is cut out.
func hidden(text string) bool {
	return len(text) >= shortest && !common(text)
}

// spellings returns a text as it is, escaped for addresses, and in base64.
func spellings(text string) []string {
	return []string{
		text, url.PathEscape(text), url.QueryEscape(text), strings.ReplaceAll(text, "/", `\/`),
		base64.StdEncoding.EncodeToString([]byte(text)),
	}
}

// addressParts returns what an address is made of but its scheme and host: user,
// password, path and each part of it, query and each value of it, fragment. Of a
// text that is no address it returns what looks like parts of a path.
func addressParts(text string) []string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		if strings.Contains(text, "://") {
			return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/?&=:@#", r) })
		}
		return nil
	}
	parts := []string{u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery, u.Fragment}
	if u.User != nil {
		password, _ := u.User.Password()
		parts = append(parts, u.User.String(), u.User.Username(), password)
	}
	parts = append(parts, strings.Split(u.Path, "/")...)
	parts = append(parts, strings.Split(u.EscapedPath(), "/")...)
	for _, pair := range strings.Split(u.RawQuery, "&") {
		_, raw, _ := strings.Cut(pair, "=")
		parts = append(parts, pair, raw)
		if plain, err := url.QueryUnescape(raw); err == nil {
			parts = append(parts, plain)
		}
	}
	// A server that repeats a path leaves the first slash out as often as not.
	for _, p := range parts {
		if rest, ok := strings.CutPrefix(p, "/"); ok {
			parts = append(parts, rest)
		}
	}
	return parts
}

// redact returns the text as one clean line without the secrets.
func (r redactor) redact(text string) string {
	if r.replacer != nil {
		// Before cleaning, which could tear a secret apart, and after it, which could
		// put one together.
		text = r.replacer.Replace(text)
	}
	text = CleanLine(text)
	if r.replacer != nil {
		text = r.replacer.Replace(text)
	}
	return text
}
