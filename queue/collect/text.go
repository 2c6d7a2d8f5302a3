package collect

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// elements are the HTML elements that are markup in a text: true for those that
// part words, as a paragraph does and emphasis does not. Anything else in angle
// brackets is text, such as Vec<T>. The map is never written to.
var elements = func() map[string]bool {
	set := make(map[string]bool)
	for _, name := range strings.Fields(`a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd
		label mark picture q rb rp rt rtc ruby s samp small source span strike strong sub sup svg time tt u var wbr`) {
		set[name] = false
	}
	for _, name := range strings.Fields(`address article aside audio blockquote body br button canvas caption center
		dd details dialog div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html
		iframe input legend li link main meta nav noscript object ol option p param pre script section select style
		summary table tbody td template textarea tfoot th thead title tr ul video`) {
		set[name] = true
	}
	return set
}()

// plainText makes one line of plain text of what may be HTML: markup is removed
// and entities are resolved, once; control characters are removed and white space
// is folded; and the result is cut to at most limit bytes, between characters.
func plainText(s string, limit int) string {
	text, _, _ := fold(s, limit)
	return text
}

// unsectioned returns a text without the section of character data around it, which some
// escape as if it were text.
func unsectioned(s string) string {
	if !strings.Contains(s, sectionStart) {
		return s
	}
	inner := strings.TrimSpace(s)
	if strings.HasPrefix(inner, sectionStart) && strings.HasSuffix(inner, sectionEnd) && len(inner) >= len(sectionStart)+len(sectionEnd) {
		return strings.TrimSpace(inner[len(sectionStart) : len(inner)-len(sectionEnd)])
	}
	return s
}

// fold makes plain text, and returns how much of s it did not look at, since the
// limit was reached before. open: it looked for the end of something and found none.
func fold(s string, limit int) (text string, rest int, open bool) {
	t := folder{limit: limit}
	t.out.Grow(min(len(s), limit, usualText))
	for s != "" && t.out.Len() < t.limit {
		switch s[0] {
		case '<':
			s = t.tag(s)
		case '&':
			s = t.entity(s)
		default:
			end := strings.IndexAny(s, "<&")
			if end < 0 {
				end = len(s)
			}
			rest = t.add(s[:end])
			s = s[end:]
		}
	}
	return strings.TrimSpace(t.out.String()), rest + len(s), t.openComment || t.openTag || t.openElement
}

// usualText is how long a text is at first thought to become.
const usualText = 256

// folder gathers text with its white space folded.
type folder struct {
	out   strings.Builder
	limit int
	blank bool // a blank is due before the next character

	// What was looked for to the end and not found is not looked for again.
	openComment, openTag, openElement bool
}

// add adds text, and returns how much of it there was no room for.
func (t *folder) add(text string) (rest int) {
	for i, r := range text {
		switch {
		case !t.blank && ('!' <= r && r <= '~' || '\u3001' <= r && r < 0xd800) && t.out.Len()+utf8.RuneLen(r) <= t.limit:
			// Most of all text. None of these is a blank or a control character.
			t.out.WriteRune(r)
		case r == '\u3000' && t.out.Len() == 0:
		case r != '\u3000' && unicode.IsSpace(r):
			t.blank = t.out.Len() > 0
		case unicode.IsControl(r), r == '\ufeff':
		default:
			need := utf8.RuneLen(r)
			if t.blank {
				need++
			}
			if t.out.Len()+need > t.limit {
				// Nothing shorter that follows may close the gap.
				t.limit = t.out.Len()
				return len(text) - i
			}
			if t.blank {
				t.out.WriteByte(' ')
				t.blank = false
			}
			t.out.WriteRune(r)
		}
	}
	return 0
}

// tag reads what begins with an angle bracket and returns what follows it.
func (t *folder) tag(s string) string {
	if strings.HasPrefix(s, "<!--") && !t.openComment {
		if _, rest, found := strings.Cut(s, "-->"); found {
			return rest
		}
		t.openComment = true
	}
	name, after := elementName(strings.TrimPrefix(s[1:], "/"))
	if name != "" && strings.HasPrefix(after, ":") {
		// As in XHTML that stands in another document.
		name, after = elementName(after[1:])
	}
	element := strings.ToLower(name)
	parts, known := elements[element]
	if !known || t.openTag || !strings.ContainsAny(after[:min(len(after), 1)], " \t\r\n/>") {
		t.add("<")
		return s[1:]
	}
	end := strings.IndexByte(s, '>')
	if end < 0 {
		t.openTag = true
		t.add("<")
		return s[1:]
	}
	if parts {
		t.add(" ")
	}
	if s[1] != '/' && (element == "script" || element == "style") {
		s = afterElement(s[end+1:], element)
		t.openElement = t.openElement || s == ""
		return s
	}
	return s[end+1:]
}

// elementName returns the letters and digits that a text begins with, and what follows
// them.
func elementName(s string) (name, rest string) {
	length := 0
	for length < min(len(s), longestName) && isNameByte(s[length]) {
		length++
	}
	return s[:length], s[length:]
}

// afterElement returns what follows the content of an element that holds no text,
// from its end tag on. Nothing follows one that does not end.
func afterElement(s, element string) string {
	for {
		start := strings.Index(s, "</")
		if start < 0 {
			return ""
		}
		s = s[start:]
		if len(s) >= 2+len(element) && strings.EqualFold(s[2:2+len(element)], element) {
			return s
		}
		s = s[2:]
	}
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// longestName is more than any element's name needs.
const longestName = 16

// longestEntity bounds how far the semicolon may be from its ampersand.
const longestEntity = 40

// entity reads what begins with an ampersand and returns what follows it. An
// entity ends with a semicolon: &copy=2 is a part of an address.
func (t *folder) entity(s string) string {
	end := 1
	for end < min(len(s), longestEntity) && (isNameByte(s[end]) || s[end] == '#') {
		end++
	}
	if end < len(s) && s[end] == ';' {
		if text := html.UnescapeString(s[:end+1]); !strings.HasSuffix(text, ";") || text == ";" {
			t.add(text)
			return s[end+1:]
		}
	}
	t.add("&")
	return s[1:]
}
