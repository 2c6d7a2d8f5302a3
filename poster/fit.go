package poster

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// role says what a piece of a text is, and so what may be done to it.
type role int

const (
	// literal is the operator's own: kept as it is.
	literal role = iota
	// value came from the article: it is escaped, and gives way where there is no room.
	value
	// whole came from the article and is of use only as a whole: kept or left out.
	whole
	// link is the article's address: never cut, never left out.
	link
)

// piece is a part of a text.
type piece struct {
	role role
	text string
}

// fitter makes a text of pieces that is within a limit.
type fitter struct {
	limit  Limit
	escape func(string) string
}

// long is from how many characters on a value is the first to give way, and
// little is how many are worth showing of one that was cut.
const long, little = 30, 8

// fit returns the text of the pieces, within the limit. Where they are too long,
// the last of the long values is cut or left out, then the one before it; then the
// short ones, last first. When even that is not enough, only the link remains.
// It returns an error when there is nothing to say, or the link alone is too long.
func (f fitter) fit(pieces []piece) (string, error) {
	pieces = trim(pieces)
	if len(pieces) == 0 {
		return "", fmt.Errorf("the text is empty")
	}
	for _, least := range []int{long, 0} {
		for i := len(pieces) - 1; i >= 0 && !f.fits(pieces); i-- {
			if p := pieces[i]; p.role == value && Graphemes.count(p.text) > least || p.role == whole {
				pieces[i].text = f.shorten(pieces, i, min(little, least))
			}
		}
	}
	if pieces = trim(pieces); f.fits(pieces) && len(pieces) > 0 {
		return f.join(pieces), nil
	}
	return f.least(pieces)
}

// least returns the link alone, or what there is room for in a text without one.
func (f fitter) least(pieces []piece) (string, error) {
	var words strings.Builder
	for _, p := range pieces {
		if p.role != link {
			words.WriteString(p.text)
			continue
		}
		if !f.fits([]piece{p}) {
			return "", fmt.Errorf("the link alone is too long: it takes %d %s of %d",
				f.size(p), f.limit.Unit, f.limit.Max)
		}
		return p.text, nil
	}
	only := []piece{{value, words.String()}}
	f.escape = nil
	only[0].text = f.shorten(only, 0, 0)
	if text := f.join(only); text != "" {
		return text, nil
	}
	return "", fmt.Errorf("there is no room for any text in %d %s", f.limit.Max, f.limit.Unit)
}

// shorten returns the longest beginning of piece i with which all pieces are
// within the limit, or nothing if that is not more than least characters.
func (f fitter) shorten(pieces []piece, i, least int) string {
	if pieces[i].role == whole {
		return ""
	}
	parts := graphemes(pieces[i].text)
	trial := append([]piece(nil), pieces...)
	n := sort.Search(len(parts), func(n int) bool {
		trial[i].text = beginning(parts, n+1)
		return !f.fits(trial)
	})
	if n < max(least, 1) {
		return ""
	}
	return beginning(parts, wordEnd(parts, n))
}

// beginning returns the first n parts of a text with an ellipsis, or all of them.
func beginning(parts []string, n int) string {
	text := strings.Join(parts[:n], "")
	if n == len(parts) {
		return text
	}
	return strings.TrimRightFunc(text, unicode.IsSpace) + ellipsis
}

// near is how many characters are given up to end with a whole word.
const near = 20

// wordEnd returns where to cut at or before n: not inside a word of a script that
// sets blanks between words, if one ends near.
func wordEnd(parts []string, n int) int {
	if n == 0 || n == len(parts) || !spaced(parts[n-1]) || !spaced(parts[n]) {
		return n
	}
	for end := n - 1; end > 0 && end >= n-near; end-- {
		if blank(parts[end]) {
			return end
		}
		if !spaced(parts[end-1]) && !blank(parts[end-1]) {
			return end
		}
	}
	return n
}

func blank(part string) bool {
	r, _ := utf8.DecodeRuneInString(part)
	return unicode.IsSpace(r)
}

// spaced reports whether a character is part of a word that ends with a blank:
// letters and digits but those of scripts written without blanks.
func spaced(part string) bool {
	r, _ := utf8.DecodeRuneInString(part)
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || r == '\'' || r == '’' || r == '-') &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		r != 'ー'
}

func (f fitter) fits(pieces []piece) bool {
	if f.limit.MaxBytes > 0 && len(f.join(pieces)) > f.limit.MaxBytes {
		return false
	}
	if f.limit.Max == 0 {
		return true
	}
	size := 0
	for _, p := range pieces {
		size += f.size(p)
	}
	return size <= f.limit.Max
}

// size is what a piece counts, never too little.
func (f fitter) size(p piece) int {
	if p.role == link && f.limit.URL > 0 {
		return f.limit.URL
	}
	return f.limit.countAtMost(f.written(p))
}

// written is the piece as it goes out.
func (f fitter) written(p piece) string {
	if p.role == value && f.escape != nil {
		return f.escape(p.text)
	}
	return p.text
}

func (f fitter) join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(f.written(p))
	}
	return tidy(b.String())
}

// trim leaves out empty pieces, and white space at both ends.
func trim(pieces []piece) []piece {
	var kept []piece
	for _, p := range pieces {
		if p.role == literal && len(kept) == 0 {
			p.text = strings.TrimLeftFunc(p.text, unicode.IsSpace)
		}
		if p.text != "" {
			kept = append(kept, p)
		}
	}
	for len(kept) > 0 {
		last := &kept[len(kept)-1]
		if last.role == literal {
			last.text = strings.TrimRightFunc(last.text, unicode.IsSpace)
		}
		if last.text != "" {
			break
		}
		kept = kept[:len(kept)-1]
	}
	return kept
}
