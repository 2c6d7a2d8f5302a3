package poster

import (
	"strings"
	"unicode"
)

// zeroWidth is a blank without a width: it takes a word's meaning for machines and
// leaves its look.
const zeroWidth = "\u200b"

// NoMentions makes a line mention nobody where @name does: a zero-width space goes
// behind each @ that begins a word. Addresses of mail, which have a letter before
// it, stay as they are.
func NoMentions(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		b.WriteRune(r)
		if r == '@' && !unicode.IsLetter(before) && !unicode.IsNumber(before) {
			b.WriteString(zeroWidth)
		}
		before = r
	}
	return b.String()
}
