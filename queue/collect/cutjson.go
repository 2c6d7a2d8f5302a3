package collect

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// cutJSON puts a mark in the place of each article's body in a JSON feed, as cutXML
// does. What the parser sees is otherwise the same, so that it finds the same
// mistakes; a body that it would find one in is left to it.
func cutJSON(src []byte) ([]byte, texts) {
	if bytes.Contains(src, []byte(mark)) || escapesMark(src) {
		return src, nil
	}
	c := jsonCutter{src: src}
	c.cut()
	if len(c.texts) == 0 {
		return src, nil
	}
	return append(c.out, src[c.from:]...), c.texts
}

// escapesMark reports whether there may be a mark by its number.
func escapesMark(src []byte) bool {
	for {
		at := bytes.Index(src, []byte(`\u`))
		if at < 0 {
			return false
		}
		src = src[at+2:]
		if len(src) >= 4 && bytes.EqualFold(src[:4], []byte("dbff")) {
			return true
		}
	}
}

// jsonCutter reads one document.
type jsonCutter struct {
	src   []byte
	out   []byte
	from  int // what is to be copied next begins here
	texts texts
	depth int
	// items: what is open is the object of an article, at depth 3.
	items bool
	// key is the last key, or the last value, at the depth of interest.
	key []byte
}

func (c *jsonCutter) cut() {
	for i := 0; i < len(c.src); i++ {
		switch c.src[i] {
		case '"':
			end, good := stringEnd(c.src, i)
			if end < 0 {
				return
			}
			c.text(i, end, good)
			i = end - 1
		case '[', '{':
			if c.depth++; c.depth == 2 {
				c.items = c.src[i] == '[' && string(c.key) == `"items"`
			}
			c.key = nil
		case ']', '}':
			c.depth--
			c.key = nil
		case ',':
			c.key = nil
		}
	}
}

// text reads the string from start to end: a key, or a value that may be a body.
func (c *jsonCutter) text(start, end int, good bool) {
	text := c.src[start:end]
	if c.key == nil {
		c.key = text
		return
	}
	if c.depth != 3 || !c.items || !good || len(text) < shortText || string(c.key) != `"content_html"` && string(c.key) != `"content_text"` {
		return
	}
	c.out = append(c.out, c.src[c.from:start+1]...)
	c.out = append(c.out, mark...)
	c.out = strconv.AppendInt(c.out, int64(len(c.texts)), 10)
	c.out = append(c.out, mark...)
	c.from = end - 1
	c.texts = append(c.texts, takenText{raw: text, markup: quoted})
}

// stringEnd returns where the string that begins at start ends, and whether there
// is nothing wrong in it. Negative: it does not end.
func stringEnd(src []byte, start int) (end int, good bool) {
	good = true
	for i := start + 1; i < len(src); i++ {
		if len(src)-i >= 8 {
			if eight := binary.LittleEndian.Uint64(src[i:]); !holdsControl(eight) && !holds(eight, '"') && !holds(eight, '\\') {
				i += 7
				continue
			}
		}
		switch c := src[i]; {
		case c == '"':
			return i + 1, good
		case c < ' ':
			good = false
		case c == '\\':
			i++
			switch {
			case i >= len(src):
			case src[i] == 'u':
				good = good && i+4 < len(src) && isHexDigit(src[i+1]) && isHexDigit(src[i+2]) && isHexDigit(src[i+3]) && isHexDigit(src[i+4])
			default:
				good = good && bytes.IndexByte([]byte(`"\/bfnrt`), src[i]) >= 0
			}
		}
	}
	return -1, false
}

// unquoted returns what a JSON string says in which nothing is wrong, as the parser
// has it.
func unquoted(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	var text strings.Builder
	text.Grow(len(raw))
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			text.Write(raw)
			return text.String()
		}
		text.Write(raw[:at])
		if raw = raw[at+1:]; raw[0] != 'u' {
			text.WriteByte(escapes[raw[0]])
			raw = raw[1:]
			continue
		}
		r := unit(raw)
		if raw = raw[5:]; utf16.IsSurrogate(r) {
			pair := unicode.ReplacementChar
			if bytes.HasPrefix(raw, []byte(`\u`)) {
				pair = utf16.DecodeRune(r, unit(raw[1:]))
			}
			if r = pair; r != unicode.ReplacementChar {
				raw = raw[6:]
			}
		}
		text.WriteRune(r)
	}
}

// escapes are the characters that have short escapes (RFC 8259 §7).
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit returns the UTF-16 unit that follows a u.
func unit(raw []byte) rune {
	n, err := strconv.ParseUint(string(raw[1:5]), 16, 16)
	if err != nil {
		return unicode.ReplacementChar
	}
	return rune(n)
}
