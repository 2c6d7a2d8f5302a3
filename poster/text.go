package poster

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Unit is what a platform counts in a text.
type Unit int

// The units platforms count in.
const (
	// CodePoints are Unicode code points.
	CodePoints Unit = iota
	// Graphemes are what a reader sees as one character (UAX #29).
	Graphemes
	// UTF16 are UTF-16 code units.
	UTF16
	// Bytes are UTF-8 bytes.
	Bytes
	// Weighted are X's units: a letter of the alphabets of Europe and its neighbours
	// weighs one, any other character and every emoji two.
	Weighted
)

// String returns the unit's name as people read it.
func (u Unit) String() string {
	switch u {
	case Graphemes:
		return "characters"
	case UTF16:
		return "UTF-16 units"
	case Bytes:
		return "bytes"
	case Weighted:
		return "weighted characters"
	default:
		return "code points"
	}
}

// Limit says how long a text may be.
type Limit struct {
	// Max is the greatest length, in Unit. Zero: no limit.
	Max int
	// Unit is what is counted.
	Unit Unit
	// URL is what an http(s) address counts as, whatever its length. Zero: as it is
	// written.
	URL int
	// MaxBytes is the greatest length in UTF-8 bytes, beside Max. Zero: no limit.
	MaxBytes int
}

// address finds addresses in a text, as the platforms do that count them apart.
var address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`https?://[^\s<>"]+`) })

// Count returns how long the platform takes the text to be, in Unit.
func (l Limit) Count(text string) int {
	return l.count(text, func(int) int { return l.URL })
}

// countAtMost is Count for a text that may hold addresses of its own, of which it
// is not sure that the platform takes them for addresses: never too little.
func (l Limit) countAtMost(text string) int {
	return l.count(text, func(written int) int { return max(written, l.URL) })
}

func (l Limit) count(text string, counts func(written int) int) int {
	if l.URL == 0 {
		return l.Unit.count(text)
	}
	n, from := 0, 0
	for _, at := range address().FindAllStringIndex(text, -1) {
		n += l.Unit.count(text[from:at[0]]) + counts(l.Unit.count(text[at[0]:at[1]]))
		from = at[1]
	}
	return n + l.Unit.count(text[from:])
}

func (u Unit) count(text string) int {
	switch u {
	case Graphemes:
		return uniseg.GraphemeClusterCount(text)
	case UTF16:
		n := 0
		for _, r := range text {
			n++
			if r > 0xffff {
				n++
			}
		}
		return n
	case Bytes:
		return len(text)
	case Weighted:
		return weigh(text)
	default:
		return utf8.RuneCountInString(text)
	}
}

// graphemes returns what a reader sees as single characters, in order.
func graphemes(text string) []string {
	var all []string
	for state := -1; text != ""; {
		var one string
		one, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		all = append(all, one)
	}
	return all
}

// tidy trims a text and its lines, and leaves at most one empty line at a time.
func tidy(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	kept := lines[:0]
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if line == "" && i > 0 && kept[len(kept)-1] == "" {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}
