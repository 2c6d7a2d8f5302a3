package poster

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wideBlank is the blank of Japanese and Chinese, as wide as a letter.
const wideBlank = '\u3000'

// CleanLine makes of a text from outside one line that is safe to print: white
// space of every kind is folded to single blanks (a wide one alone stays), and control characters, byte
// order marks, zero-width spaces, the marks that reverse the direction of what
// follows, code points that are none and invalid UTF-8 are dropped. What joins
// an emoji stays. A text with nothing to see in it becomes empty.
func CleanLine(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	var blank rune
	visible := false
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			if blank == 0 && r == wideBlank {
				blank = wideBlank
			} else {
				blank = ' '
			}
			continue
		case unwanted(r) || invalid(text[i:], r):
			continue
		}
		if blank != 0 && b.Len() > 0 {
			b.WriteRune(blank)
		}
		blank = 0
		b.WriteRune(r)
		visible = visible || unicode.IsGraphic(r) && !unicode.Is(unicode.Mn, r)
	}
	if !visible {
		return ""
	}
	return b.String()
}

// CleanText drops what CleanLine drops, but keeps white space as it is: for texts
// of several lines.
func CleanText(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		if r == '\n' || r == '\t' || !unwanted(r) && !invalid(text[i:], r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CleanArticle returns an article whose texts are clean lines, for platforms that pass
// all of it on.
func CleanArticle(a Article) Article {
	a.Title, a.Summary, a.Author, a.Source = CleanLine(a.Title), CleanLine(a.Summary), CleanLine(a.Author), CleanLine(a.Source)
	categories := make([]string, 0, len(a.Categories))
	for _, c := range a.Categories {
		if c = CleanLine(c); c != "" {
			categories = append(categories, c)
		}
	}
	a.Categories = categories
	return a
}

// unwanted reports whether r never belongs into a text.
func unwanted(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u200b', r == '\ufeff':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true // the bidirectional embeddings, overrides and isolates
	case r >= '\ufdd0' && r <= '\ufdef', r&0xfffe == 0xfffe:
		return true // noncharacters
	}
	return false
}

// invalid reports whether the r that was decoded from the beginning of s stands
// for bytes that are no UTF-8.
func invalid(s string, r rune) bool {
	if r != utf8.RuneError {
		return false
	}
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

// cleanAddress percent-encodes the characters that no address may hold (RFC 3986
// appendix A, RFC 3987 §2.2), so that an address can neither end early nor carry
// markup. It leads to the same page as before.
func cleanAddress(address string) string {
	address = strings.TrimSpace(address)
	var b strings.Builder
	b.Grow(len(address))
	for i, r := range address {
		switch {
		case invalid(address[i:], r):
			fmt.Fprintf(&b, "%%%02X", address[i])
		case 'a' <= r && r <= 'z', '-' <= r && r <= ':':
			b.WriteByte(byte(r)) // most of it
		case r <= ' ', strings.ContainsRune("<>\"`{}|\\^\u007f", r), unwanted(r), unicode.IsSpace(r), unicode.Is(unicode.Cf, r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
