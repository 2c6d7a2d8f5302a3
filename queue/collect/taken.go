package collect

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// markup is how a text is written in its document.
type markup uint8

const (
	// escaped is text with entities or in sections of character data.
	escaped markup = iota
	// escapedHTML is the same in Atom, which says that it is HTML.
	escapedHTML
	// inline is HTML that is a part of the document.
	inline
	// quoted is a string of JSON.
	quoted
	// dated is a date, which stays.
	dated
)

// takenText is a text that was taken out of a document, as it stands there.
type takenText struct {
	raw    []byte
	markup markup
	base   *url.URL
}

// texts are those that were taken out of a document.
type texts []takenText

// of returns the text that the parser's answer stands for, which may be itself.
func (all texts) of(answer string) *longText {
	if number, ok := strings.CutPrefix(answer, mark); ok && len(all) > 0 {
		if i, err := strconv.Atoi(strings.TrimSuffix(number, mark)); err == nil && 0 <= i && i < len(all) {
			return &longText{taken: &all[i]}
		}
	}
	return &longText{text: answer, whole: true}
}

// longText is a text that is read when it is needed, as far as it is needed.
type longText struct {
	// text is what was read so far, of whole or not.
	text  string
	whole bool
	taken *takenText
}

// firstPart is how much of a text is read at first.
const firstPart = 2 << 10

// parts yields longer and longer beginnings of the text, which may be HTML. whole:
// it is all of it.
func (t *longText) parts(yield func(text string, whole bool) bool) {
	n := firstPart
	for n <= len(t.text) {
		n *= 4
	}
	if t.whole || t.text != "" {
		if !yield(t.text, t.whole) || t.whole {
			return
		}
	}
	for ; ; n *= 4 {
		t.text, t.whole = t.taken.beginning(n)
		if !yield(t.text, t.whole) || t.whole {
			return
		}
	}
}

// blank reports whether there is nothing in the text.
func (t *longText) blank() bool {
	for text := range t.parts {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}

// plain makes one line of plain text of it, as plainText does.
func (t *longText) plain(limit int) string {
	// longestLook is more than fold looks ahead of what it is at.
	const longestLook = 64
	var plain string
	for text, whole := range t.parts {
		line, rest, open := fold(text, limit)
		if plain = line; whole || rest >= longestLook && !open {
			break
		}
	}
	return plain
}

// base is what addresses in it stand to, where that is not the document's address.
func (t *longText) base() *url.URL {
	if t.taken == nil || t.taken.markup == escaped {
		return nil
	}
	return t.taken.base
}

// mayShow reports whether there may be a picture in it, before it is read. A
// reference may stand for any letter, and a section may begin between any two.
func (t *longText) mayShow() bool {
	if t.taken == nil {
		return true
	}
	raw := t.taken.raw
	if t.taken.markup == quoted {
		// The letters' own numbers begin alike.
		return bytes.Contains(raw, []byte("img")) || bytes.Contains(raw, []byte(`\u006`))
	}
	return bytes.Contains(raw, []byte("img")) || bytes.Contains(raw, []byte("&#")) && !t.taken.isSection() ||
		bytes.Count(raw, []byte(sectionStart)) > 1
}

const (
	sectionStart = "<![CDATA["
	sectionEnd   = "]]>"
)

// isSection reports whether the text is one section of character data and nothing
// else, as most are.
func (t *takenText) isSection() bool {
	return bytes.HasPrefix(t.raw, []byte(sectionStart)) && bytes.Index(t.raw, []byte(sectionEnd)) == len(t.raw)-len(sectionEnd)
}

// String resolves what the document wraps the text in, as the feed parser does.
func (t *takenText) String() string {
	if t.markup == quoted {
		return unquoted(t.raw)
	}
	if t.isSection() {
		return string(t.raw[len(sectionStart) : len(t.raw)-len(sectionEnd)])
	}
	rest := string(t.raw)
	before, after, found := strings.Cut(rest, sectionStart)
	if !found {
		if t.markup == inline {
			return rest
		}
		return decodeEntities(rest)
	}
	var text strings.Builder
	for found {
		text.WriteString(decodeEntities(before))
		section, next, _ := strings.Cut(after, sectionEnd)
		text.WriteString(section)
		before, after, found = strings.Cut(next, sectionStart)
	}
	text.WriteString(decodeEntities(before))
	return text.String()
}

// beginning returns what the first bytes of the text say, as many as n or somewhat
// less, or all. Nothing is torn apart that has a meaning as one, but characters.
func (t *takenText) beginning(n int) (text string, whole bool) {
	if len(t.raw) <= n+len(sectionStart)+len(sectionEnd) {
		return t.String(), true
	}
	part := *t
	switch {
	case t.isSection():
		return string(t.raw[len(sectionStart):n]), false
	case bytes.Contains(t.raw, []byte(sectionStart)):
		return t.String(), true
	case t.markup == quoted:
		end := lastWithout(t.raw, '\\', len(`\ud800\udc00`), n)
		part.raw = append(slices.Clone(t.raw[:end]), '"')
	case t.markup == inline:
		part.raw = t.raw[:n]
	default:
		part.raw = t.raw[:lastWithout(t.raw, '&', longestSpan, n)]
	}
	if len(part.raw) < n/2 {
		return t.String(), true
	}
	return part.String(), false
}

// lastWithout returns the last place up to n before which there is none of a byte
// for so far. Zero: there is no such place.
func lastWithout(raw []byte, c byte, far, n int) int {
	for n >= far {
		at := bytes.LastIndexByte(raw[n-far:n], c)
		if at < 0 {
			return n
		}
		n = n - far + at
	}
	return 0
}

// usualEntities are those that escaping makes.
var usualEntities = [...]struct{ entity, text string }{
	{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", `"`}, {"&#39;", "'"}, {"&#34;", `"`}, {"&apos;", "'"},
}

// longestSpan bounds how far the semicolon of an entity may be from its ampersand
// for the feed parser.
const longestSpan = 64

// decodeEntities resolves the entities of a text once, those that end with a
// semicolon and have no blank in them.
func decodeEntities(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var text strings.Builder
	text.Grow(len(s))
	for at >= 0 {
		text.WriteString(s[:at])
		s = s[at:]
		n := decodeEntity(&text, s)
		s = s[n:]
		at = strings.IndexByte(s, '&')
	}
	text.WriteString(s)
	return text.String()
}

// decodeEntity writes what an ampersand and what follows it stand for, and returns
// the length of that.
func decodeEntity(text *strings.Builder, s string) int {
	for _, usual := range usualEntities {
		if strings.HasPrefix(s, usual.entity) {
			text.WriteString(usual.text)
			return len(usual.entity)
		}
	}
	end := strings.IndexByte(s[:min(len(s), longestSpan)], ';')
	if end > 0 && !strings.ContainsAny(s[1:end], " \t\r\n") {
		span := s[:end+1]
		if decoded := html.UnescapeString(span); decoded != html.UnescapeString(span[:end])+";" {
			text.WriteString(decoded)
			return len(span)
		}
	}
	text.WriteByte('&')
	return 1
}
