package collect

import (
	"bytes"
	"encoding/xml"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The vocabularies in which an element without a prefix is the format's own.
var ownNamespaces = [...]string{
	"", "http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#", "http://purl.org/rss/1.0/",
	"http://channel.netscape.com/rdf/simple/0.9/", "http://my.netscape.com/rdf/simple/0.9/",
}

// blanks returns how many blanks a text begins with.
func blanks(text []byte) int {
	n := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\t' || text[n] == '\n' || text[n] == '\r') {
		n++
	}
	return n
}

// tagReader reads the attributes of an opening tag.
type tagReader struct {
	c       *cutter
	element *openElement
	at      int
	// about is what rdf:about says, if described, and kind is the attribute type.
	about     string
	described bool
	kind      []byte
	// based: there is an xml:base.
	based bool
	// odd: there is an attribute that says of the kind what is not understood here.
	odd bool
}

// read reads up to the end of the tag. closed: the element has no content.
func (t *tagReader) read() (closed, ok bool) {
	src := t.c.src
	for {
		start := t.at
		t.at += blanks(src[t.at:])
		if t.at >= len(src) {
			return false, false
		}
		switch src[t.at] {
		case '>':
			t.at++
			return false, true
		case '/':
			t.at += 2
			return true, t.at <= len(src) && src[t.at-1] == '>'
		}
		if !t.attribute(start) {
			return false, false
		}
	}
}

func (t *tagReader) attribute(start int) bool {
	src := t.c.src
	name := src[t.at:]
	name = name[:nameLength(name)]
	prefix, local, ok := splitName(name)
	t.at += len(name)
	t.at += blanks(src[t.at:])
	if !ok || t.at >= len(src) || src[t.at] != '=' {
		return false
	}
	t.at++
	t.at += blanks(src[t.at:])
	if t.at >= len(src) || src[t.at] != '"' && src[t.at] != '\'' {
		return false
	}
	value := src[t.at+1:]
	end := bytes.IndexByte(value, src[t.at])
	if end < 0 {
		return false
	}
	value = value[:end]
	t.at += 1 + end + 1
	return bytes.IndexByte(value, '<') < 0 && t.note(prefix, local, value, start)
}

// note remembers what an attribute says that matters.
func (t *tagReader) note(prefix, local, value []byte, start int) bool {
	switch {
	case string(prefix) == "xmlns":
		return t.declare(local, value, start)
	case len(prefix) == 0 && string(local) == "xmlns":
		t.element.foreign = !slices.Contains(ownNamespaces[:], string(bytes.TrimSpace(value)))
		return t.declare(nil, value, start)
	case string(prefix) == "xml" && string(local) == "base":
		return t.rebase(value)
	case string(local) == "about" && !t.described:
		t.about, t.described = strings.TrimSpace(attributeValue(value)), true
	case string(local) == "type":
		t.odd = t.odd || t.kind != nil || len(prefix) > 0 || bytes.IndexByte(value, '&') >= 0
		t.kind = value
	case string(local) == "mode":
		t.odd = true
	}
	if t.element.role != dropped {
		t.c.use(prefix)
	}
	return true
}

// declare counts a namespace. Nothing may pass for that of XML itself.
func (t *tagReader) declare(prefix, value []byte, start int) bool {
	t.element.namespaces++
	if string(prefix) == "xml" || bytes.IndexByte(value, '&') >= 0 || bytes.Contains(value, []byte("/XML/1998/")) {
		return false
	}
	if t.element.role == rootElement {
		t.c.declared = append(t.c.declared, binding{prefix: prefix, value: value, from: start, to: t.at, used: prefix == nil})
	}
	return true
}

// rebase sets what relative addresses stand to, as the parser does.
func (t *tagReader) rebase(value []byte) bool {
	if t.based {
		return false
	}
	t.based = true
	u, err := url.Parse(attributeValue(value))
	switch {
	case err != nil || len(value) == 0:
	case t.element.base != nil:
		t.element.base = t.element.base.ResolveReference(u)
	default:
		t.element.base = u
	}
	return true
}

// attributeValue resolves the entities of an attribute as the parser does.
func attributeValue(value []byte) string {
	if !bytes.ContainsAny(value, "&\r") {
		return string(value)
	}
	quote := `"`
	if bytes.Contains(value, []byte(quote)) {
		quote = "'"
	}
	d := xml.NewDecoder(strings.NewReader("<a b=" + quote + string(value) + quote + "/>"))
	d.Strict = false
	if token, err := d.Token(); err == nil {
		if start, ok := token.(xml.StartElement); ok && len(start.Attr) == 1 {
			return start.Attr[0].Value
		}
	}
	return string(value)
}

// nameLength returns how long the name of plain letters is that a text begins with.
func nameLength(text []byte) int {
	n := 0
	for n < len(text) && nameBytes[text[n]] {
		n++
	}
	return n
}

// nameBytes are the plain characters of which names are made. It is never written to.
var nameBytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:.-") {
		set[c] = true
	}
	return set
}()

// splitName splits a name at its colon, if it is one of one or two parts.
func splitName(name []byte) (prefix, local []byte, ok bool) {
	if len(name) == 0 || name[0] == '-' || name[0] == '.' || '0' <= name[0] && name[0] <= '9' {
		return nil, nil, false
	}
	prefix, local, found := bytes.Cut(name, []byte(":"))
	if !found {
		return nil, name, true
	}
	return prefix, local, len(prefix) > 0 && len(local) > 0 && bytes.IndexByte(local, ':') < 0
}

// lower returns a name in lower case.
func lower(name []byte) string { return strings.ToLower(string(name)) }

// goodReferences reports whether every numeric reference is to a character that a
// document may have. Those that are none are left to the parser.
func goodReferences(src []byte) bool {
	for {
		at := bytes.Index(src, []byte("&#"))
		if at < 0 {
			return true
		}
		src = src[at+2:]
		base, digits := 10, src
		if len(digits) > 0 && digits[0] == 'x' {
			base, digits = 16, digits[1:]
		}
		n := 0
		for n < len(digits) && isHexDigit(digits[n]) {
			n++
		}
		value, err := strconv.ParseUint(string(digits[:n]), base, 32)
		if err != nil {
			// It is nothing but text.
			continue
		}
		if value < ' ' && value != '\t' && value != '\n' && value != '\r' || value == 0xfffe || value == 0xffff || value == 0x10fffd {
			return false
		}
	}
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
