package dedupe

import (
	"strings"

	"github.com/google/uuid"
)

// Origin tells an article apart, at one destination, by what its source calls it,
// whatever its address is by now. The zero value is none.
type Origin struct {
	// Webhook and Bucket are those of the article's key.
	Webhook, Bucket string
	// Source is the source's name.
	Source string
	// GUID is the source's identifier of the article, as GUID returns it.
	GUID string
}

// String returns the origin as a readable text. Only the GUID, which comes last,
// may hold a bar.
func (o Origin) String() string {
	return strings.Join([]string{o.Webhook, o.Bucket, o.Source, o.GUID}, "|")
}

// ID returns a short name for the origin, the UUIDv5 of its text. It is never that
// of a key.
func (o Origin) ID() string {
	return uuid.NewSHA1(namespace, []byte("origin|"+o.String())).String()
}

// GUID returns the form in which a source's identifiers are compared. They are
// compared as they are, since any text may stand there and one letter may tell two
// articles apart. There are two exceptions: blanks around an identifier do not
// count, and in one that is a web address http is https and the host may be in any
// case, since that is what changes when a site changes how it is served.
func GUID(raw string) string {
	guid := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	scheme, rest, ok := strings.Cut(guid, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return guid
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host := lower(rest[:end])
	if scheme == "https" && host == rest[:end] {
		return guid
	}
	return "https://" + host + rest[end:]
}

// lower returns s with ASCII letters in lower case. It is s itself if there are none
// in upper case.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for i, c := range b {
				b[i] = lowerByte(c)
			}
			return string(b)
		}
	}
	return s
}
