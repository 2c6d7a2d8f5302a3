package collect

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// declaration finds the encoding that an XML declaration names (XML 1.0 §2.8).
var declaration = pattern(`^(<\?xml[^>]{0,200}?encoding\s*=\s*["'])([A-Za-z][A-Za-z0-9._:-]{0,40})(["'])`)

// longestDeclaration is more than the declaration's pattern can match.
const longestDeclaration = 512

// toUTF8 returns a document in UTF-8, and saying so, from whatever encoding it is
// in: what its byte order mark says, else what it looks like, else what it
// declares, else what the server says. A declaration that the bytes contradict is
// not believed: text that is valid UTF-8 and not plain ASCII is nothing else by
// chance. Bytes that are no character are shown as U+FFFD.
func toUTF8(body []byte, contentType string) []byte {
	if e := byMark(body); e != nil {
		body = inEncoding(body, e)
	} else {
		body = bytes.TrimPrefix(body, []byte("\ufeff"))
		start := bytes.TrimLeft(body[:min(len(body), 1024)], " \t\r\n")
		label := labelled(start, contentType)
		if e := encodingOf(label); e != nil && believable(label, body) {
			body = inEncoding(body, e)
		}
	}
	if !utf8.Valid(body) {
		if e := guessed(body); e != nil {
			body = inEncoding(body, e)
		} else {
			body = repaired(body)
		}
	}
	body = bytes.TrimLeft(body, " \t\r\n\ufeff")
	return declaringUTF8(body)
}

// declaresUTF8 reports whether a document declares it as nearly all do.
func declaresUTF8(body []byte) bool {
	const usual = `<?xml version="1.0" encoding="utf-8"`
	return len(body) >= len(usual) && strings.EqualFold(string(body[:len(usual)]), usual)
}

// declaringUTF8 returns a document with UTF-8 in the place of the encoding that it
// declares.
func declaringUTF8(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("<?xml")) || declaresUTF8(body) {
		return body
	}
	found := declaration().FindSubmatchIndex(body[:min(len(body), longestDeclaration)])
	if found == nil || strings.EqualFold(string(body[found[4]:found[5]]), "utf-8") {
		return body
	}
	return slices.Concat(body[:found[4]], []byte("utf-8"), body[found[5]:])
}

// byMark returns the encoding that a byte order mark, or the zero bytes of an
// ASCII character in two bytes, give away (XML 1.0 appendix F).
func byMark(body []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(body, []byte("<\x00\x00\x00")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(body, []byte("\x00\x00\xfe\xff")), bytes.HasPrefix(body, []byte("\x00\x00\x00<")):
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case bytes.HasPrefix(body, []byte("\xff\xfe")), bytes.HasPrefix(body, []byte("<\x00")), bytes.HasPrefix(body, []byte("{\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(body, []byte("\xfe\xff")), bytes.HasPrefix(body, []byte("\x00<")), bytes.HasPrefix(body, []byte("\x00{")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// labelled is the encoding that the document declares, or the server names.
func labelled(start []byte, contentType string) string {
	if declaresUTF8(start) {
		return "utf-8"
	}
	if found := declaration().FindSubmatch(start); found != nil {
		return strings.ToLower(string(found[2]))
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return strings.ToLower(params["charset"])
	}
	return ""
}

// otherLabels are those that the web's list lacks
// (https://encoding.spec.whatwg.org/#names-and-labels).
var otherLabels = map[string]string{
	"cp932": "shift_jis", "windows-932": "shift_jis", "sjis-win": "shift_jis", "eucjp-win": "euc-jp",
	"cp949": "euc-kr", "ms949": "euc-kr", "uhc": "euc-kr", "cp936": "gbk", "ms936": "gbk", "cp950": "big5",
	"latin-1": "windows-1252", "ansi": "windows-1252",
}

// encodingOf returns the encoding of a label, or nil for UTF-8, for labels that
// nobody knows and for those that need a byte order mark.
func encodingOf(label string) encoding.Encoding {
	if label == "" || strings.HasPrefix(label, "utf-16") || strings.HasPrefix(label, "utf16") || strings.HasPrefix(label, "ucs-2") {
		return nil
	}
	if usual := otherLabels[label]; usual != "" {
		label = usual
	}
	e, name := charset.Lookup(label)
	if name == "utf-8" {
		return nil
	}
	return e
}

// believable reports whether the bytes can be in the encoding that was named.
func believable(label string, body []byte) bool {
	if strings.HasPrefix(label, "iso-2022-") {
		return bytes.IndexByte(body, 0x1b) >= 0
	}
	return !utf8.Valid(body)
}

func inEncoding(body []byte, e encoding.Encoding) []byte {
	out, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return bytes.TrimPrefix(out, []byte("\ufeff"))
}

// guessed returns the encoding of a document that is no UTF-8 and in nothing that it
// or its server names: one of those in which Japanese is written, if that leads to
// kana and to no error, or that of the languages of Western Europe. It returns nil
// for what is UTF-8 with damage in it.
func guessed(body []byte) encoding.Encoding {
	good, torn, bad := 0, 0, 0
	for at := 0; at < len(body); {
		r, n := utf8.DecodeRune(body[at:])
		switch {
		case n > 1:
			good++
		case r == utf8.RuneError && body[at] >= 0xc2 && at+1 < len(body) && body[at+1]&0xc0 == 0x80:
			torn++
		case r == utf8.RuneError:
			bad++
		}
		at += n
	}
	if good > torn+bad {
		return nil
	}
	for _, e := range []encoding.Encoding{japanese.EUCJP, japanese.ShiftJIS} {
		if text, err := e.NewDecoder().Bytes(body); err == nil && isJapanese(text) {
			return e
		}
	}
	if good+torn > 0 {
		return nil
	}
	return charmap.Windows1252
}

// isJapanese reports whether a text has no errors, and kana, as all Japanese has, for
// a good part of what is not ASCII. The narrow kana are what other text looks like.
func isJapanese(text []byte) bool {
	kana, other := 0, 0
	for _, r := range string(text) {
		switch {
		case r == utf8.RuneError, r >= 0x80 && r < 0xa0:
			return false
		case r >= 0x3040 && r <= 0x30ff:
			kana++
		case r >= 0x80:
			other++
		}
	}
	return kana > 0 && kana*10 >= other
}

// windows1252 are the quotation marks and dashes that older editors leave in text
// of every encoding (https://encoding.spec.whatwg.org/#windows-1252).
var windows1252 = map[byte]rune{
	0x80: '€', 0x82: '‚', 0x84: '„', 0x85: '…', 0x8a: 'Š', 0x8b: '‹', 0x8c: 'Œ', 0x91: '‘', 0x92: '’', 0x93: '“',
	0x94: '”', 0x95: '•', 0x96: '–', 0x97: '—', 0x99: '™', 0x9a: 'š', 0x9b: '›', 0x9c: 'œ',
}

// repaired replaces what is no UTF-8: a lone byte that is punctuation of
// windows-1252 by that, anything else by U+FFFD.
func repaired(body []byte) []byte {
	out := make([]byte, 0, len(body)+64)
	for len(body) > 0 {
		r, n := utf8.DecodeRune(body)
		if r != utf8.RuneError || n > 1 {
			out = append(out, body[:n]...)
			body = body[n:]
			continue
		}
		run := 1
		for run < len(body) && !utf8.RuneStart(body[run]) {
			run++
		}
		mark, known := windows1252[body[0]]
		if run > 1 || !known {
			mark = utf8.RuneError
		}
		out = utf8.AppendRune(out, mark)
		body = body[run:]
	}
	return out
}
