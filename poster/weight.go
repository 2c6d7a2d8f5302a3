package poster

import (
	"regexp"
	"strings"
	"sync"
)

// bareHost finds what X takes for an address although it has no scheme.
var bareHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}(?:/[^\s<>"]*)?`)
})

// bareWeight is what X counts an address as, whatever its length.
const bareWeight = 23

// weigh counts a text without http(s) addresses as X does
// (https://docs.x.com/fundamentals/counting-characters). What looks like an
// address counts as one or as it is written, whichever is more: never too little.
func weigh(text string) int {
	n, from := 0, 0
	for _, at := range bareHost().FindAllStringIndex(text, -1) {
		n += weighWords(text[from:at[0]]) + max(bareWeight, weighWords(text[at[0]:at[1]]))
		from = at[1]
	}
	return n + weighWords(text[from:])
}

func weighWords(text string) int {
	n := 0
	for _, one := range graphemes(text) {
		if emojiSequence(one) {
			n += 2
			continue
		}
		for _, r := range one {
			n += weightOf(r)
		}
	}
	return n
}

// weightOf is the weight of a code point (twitter-text, config/v3.json).
func weightOf(r rune) int {
	switch {
	case r <= 4351, r >= 8192 && r <= 8205, r >= 8208 && r <= 8223, r >= 8242 && r <= 8247:
		return 1
	}
	return 2
}

// emojiSequence reports whether several code points are shown as one emoji: they
// begin with a pictograph, a flag's letter, or are the cap of a key.
func emojiSequence(one string) bool {
	first, several := rune(0), false
	for i, r := range one {
		if i == 0 {
			first = r
		} else {
			several = true
		}
	}
	return several && (first >= 0x1f000 || first >= 0x2190 && first <= 0x2bff || strings.ContainsRune(one, 0x20e3))
}
