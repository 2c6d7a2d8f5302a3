package collect

import (
	"bytes"
	"html"
	"net/url"
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
	return &longText{text: answer}
}

// longText is a text that is read when it is needed.
type longText struct {
	text  string
	taken *takenText
	read  bool
}

// String returns the text, which may be HTML.
func (t *longText) String() string {
	if t.taken != nil && !t.read {
		t.text, t.read = t.taken.String(), true
	}
	return t.text
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
	if t.taken == nil || t.read {
		return true
	}
	raw := t.taken.raw
	if t.taken.markup == quoted {
		return bytes.Contains(raw, []byte("img")) || bytes.Contains(raw, []byte(`\u`))
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
