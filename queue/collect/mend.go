package collect

import (
	"bytes"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
)

// isBroken reports whether a document was refused for its syntax, so that it may be
// worth mending.
func isBroken(err error) bool {
	var syntax *xml.SyntaxError
	var other *notFeedError
	return errors.As(err, &syntax) || errors.As(err, &other) && other.what == noMarkup
}

// noMarkup is what a document is said to be in which no element could be read.
const noMarkup = "neither XML nor JSON"

// withoutPreamble returns a document without the messages that a program wrote
// before it, in which there may be markup. A web page is none. Nil: there are none.
func withoutPreamble(body []byte) []byte {
	at := beginning().FindIndex(body[:min(len(body), maxPreamble)])
	if at == nil || at[0] == 0 || webPage().Match(body[:at[0]]) {
		return nil
	}
	return body[at[0]:]
}

// maxPreamble is how far into a document its feed may begin, in bytes.
const maxPreamble = 16 << 10

var (
	beginning = pattern(`<\?xml\s|<rss[\s>]|<rdf:RDF[\s>]|<feed[\s>]`)
	webPage   = pattern(`(?i)<html|<body|<!doctype`)
)

// mended returns a document of XML without the mistakes that lead to only one
// reading: characters of markup in text, in comments and in attributes, attributes
// without quotes, sections of character data in one another, and names that are
// none. The parser does not forgive these.
func mended(src []byte) []byte {
	m := mender{src: src, out: make([]byte, 0, len(src)+len(src)/8)}
	for m.at < len(m.src) {
		m.text()
		if m.at < len(m.src) {
			m.markup()
		}
	}
	return m.out
}

type mender struct {
	src []byte
	at  int
	out []byte
	// inner counts the sections that began in another and have not ended.
	inner int
	// openComment: what was looked for to the end and not found is not looked for again.
	openComment bool
}

// text copies text up to the next angle bracket.
func (m *mender) text() {
	end := bytes.IndexByte(m.src[m.at:], '<')
	if end < 0 {
		end = len(m.src) - m.at
	}
	text := m.src[m.at : m.at+end]
	m.at += end
	for {
		before, rest, found := bytes.Cut(text, []byte(sectionEnd))
		m.out = append(m.out, before...)
		if !found {
			return
		}
		if m.inner > 0 {
			m.inner--
		} else {
			m.out = append(m.out, "]]&gt;"...)
		}
		text = rest
	}
}

// markup copies what begins with an angle bracket.
func (m *mender) markup() {
	rest := m.src[m.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")) && !m.openComment:
		end := after(rest[4:], "-->")
		if end < 0 {
			m.openComment = true
			m.literal()
			return
		}
		m.at += 4 + end
	case bytes.HasPrefix(rest, []byte(sectionStart)):
		m.section(rest)
	case len(rest) > 1 && (rest[1] == '?' || rest[1] == '!'):
		m.copy(2)
	default:
		m.tag(rest)
	}
}

func (m *mender) copy(n int) {
	m.out = append(m.out, m.src[m.at:m.at+n]...)
	m.at += n
}

// literal makes text of an angle bracket.
func (m *mender) literal() {
	m.out = append(m.out, "&lt;"...)
	m.at++
}

func (m *mender) section(rest []byte) {
	end := bytes.Index(rest, []byte(sectionEnd))
	if end < 0 {
		m.copy(len(rest))
		return
	}
	content := rest[len(sectionStart):end]
	m.inner += bytes.Count(content, []byte(sectionStart))
	m.out = append(m.out, sectionStart...)
	m.out = append(m.out, bytes.ReplaceAll(content, []byte(sectionStart), nil)...)
	m.out = append(m.out, sectionEnd...)
	m.at += end + len(sectionEnd)
}

// tag copies a tag with its attributes in quotes. What is no tag is text.
func (m *mender) tag(rest []byte) {
	start := 1
	if len(rest) > 1 && rest[1] == '/' {
		start = 2
	}
	if len(rest) <= start || !beginsName(rest[start]) {
		m.literal()
		return
	}
	end := start
	for end < len(rest) && (nameBytes[rest[end]] || rest[end] >= 0x80) {
		end++
	}
	out := append([]byte(nil), rest[:start]...)
	out = append(out, goodName(rest[start:end])...)
	for end < len(rest) {
		switch c := rest[end]; c {
		case '>':
			m.out = append(append(m.out, out...), '>')
			m.at += end + 1
			m.inner = 0
			return
		case '<':
			m.literal()
			return
		case '=':
			value, length := attributeText(rest[end+1:])
			if length < 0 {
				m.copy(len(rest))
				return
			}
			out = append(out, '=', '"')
			out = append(out, value...)
			out = append(out, '"')
			end += 1 + length
		default:
			out = append(out, c)
			end++
		}
	}
	m.copy(len(rest))
}

// attributeText reads an attribute's value, and returns it as it is written between
// quotation marks. Negative: it does not end.
func attributeText(text []byte) (value []byte, length int) {
	start := blanks(text)
	if start == len(text) {
		return nil, -1
	}
	var end int
	if quote := text[start]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(text[start+1:], quote)
		if n < 0 {
			return nil, -1
		}
		value, end = text[start+1:start+1+n], start+n+2
	} else {
		for end = start; end < len(text) && !bytes.ContainsRune([]byte(" \t\r\n>"), rune(text[end])); end++ {
			if text[end] == '/' && end+1 < len(text) && text[end+1] == '>' {
				break
			}
		}
		value = text[start:end]
	}
	value = bytes.ReplaceAll(value, []byte("<"), []byte("&lt;"))
	return bytes.ReplaceAll(value, []byte(`"`), []byte("&quot;")), end
}

func beginsName(c byte) bool {
	return c == '_' || c >= 0x80 || nameBytes[c] && (c < '0' || c > '9') && !strings.ContainsRune(".-", rune(c))
}

// goodName returns a name with no more than one colon.
func goodName(name []byte) []byte {
	first := bytes.IndexByte(name, ':')
	if first < 0 {
		return name
	}
	rest := bytes.ReplaceAll(name[first+1:], []byte(":"), []byte("_"))
	return slices.Concat(name[:first+1], rest)
}

// closedSections returns a document whose sections of character data end where the
// element does that they are the content of, though their last bracket is missing. Else
// they would go on to the end of the next one, which may be in another item.
func closedSections(body []byte) []byte {
	if !bytes.Contains(body, []byte("]]</")) {
		return body
	}
	var out []byte
	from, at := 0, 0
	for {
		start := bytes.Index(body[at:], []byte(sectionStart))
		if start < 0 {
			break
		}
		name := openedBefore(body[at : at+start])
		at += start + len(sectionStart)
		end, missing := sectionLength(body[at:], name)
		at += end
		if missing {
			out = append(append(append(out, body[from:at]...), sectionEnd...), "</"...)
			at += len("]]</")
			from = at
		}
	}
	if from == 0 {
		return body
	}
	return append(out, body[from:]...)
}

// openedBefore returns the name in the tag that a text ends with. Empty: in none.
func openedBefore(text []byte) []byte {
	text = bytes.TrimRight(text, " \t\r\n")
	tag := bytes.LastIndexByte(text, '<')
	if tag < 0 || text[len(text)-1] != '>' {
		return nil
	}
	name := text[tag+1:]
	return name[:nameLength(name)]
}

// sectionLength returns how much of a text is in the section of character data that it
// begins in, the content of an element of that name. missing: instead of its end there
// is that of the element.
func sectionLength(text, name []byte) (length int, missing bool) {
	for at := 0; ; at++ {
		next := bytes.Index(text[at:], []byte("]]"))
		if next < 0 {
			return len(text), false
		}
		at += next
		rest := text[at+len("]]"):]
		if bytes.HasPrefix(rest, []byte(">")) {
			return at, false
		}
		if closing, found := bytes.CutPrefix(rest, []byte("</")); found && len(name) > 0 && bytes.Equal(closing[:nameLength(closing)], name) {
			return at, true
		}
	}
}
