package jsonstore

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The functions here read ahead in a window that ends in padding zeros.

// skipSpace returns the index of the first byte from i on that is no white space.
func skipSpace(b []byte, i int) int {
	for {
		if c := b[i]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return i
		}
		i++
	}
}

// skipDigits returns the index behind the digits at i, or its negative if there is
// none.
func skipDigits(b []byte, i int) int {
	start := i
	for '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == start {
		return -i
	}
	return i
}

// plainEnd returns the index of the first byte from i on that is not simply a part
// of a string: a quote, a backslash, a control character, or not ASCII. It looks
// at eight bytes at a time: in the first of them that is none of these the high
// bit is clear, and it is set in the first that is. See "Determine if a word has a
// byte less than n" in Anderson's Bit Twiddling Hacks.
func plainEnd(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		if m := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w | w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// skipUTF8 returns the index behind the characters at i that are not ASCII.
func skipUTF8(b []byte, i int) int {
	for {
		c := b[i]
		switch {
		case c < utf8.RuneSelf:
			return i
		case c >= 0xe1 && c <= 0xef && c != 0xed && b[i+1]&0xc0 == 0x80 && b[i+2]&0xc0 == 0x80:
			i += 3 // most of what is not Latin
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size < 2 {
				return doubtful
			}
			i += size
		}
	}
}

// skipEscape returns the index behind the escape sequence at i. Half a surrogate
// pair is none.
func skipEscape(b []byte, i int) int {
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return doubtful
	}
	switch first := hex4(b[i+2 : i+6]); {
	case first < 0 || first&0xfc00 == 0xdc00:
		return doubtful
	case first&0xfc00 != 0xd800:
		return i + 6
	}
	if b[i+6] != '\\' || b[i+7] != 'u' || hex4(b[i+8:i+12])&^0x3ff != 0xdc00 {
		return doubtful
	}
	return i + 12
}

// hex4 returns the number that four hexadecimal digits make, or -1.
func hex4(b []byte) int {
	n := 0
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		n = n<<4 | int(c)
	}
	return n
}

// nameSet holds the names of one object's members, none of them twice.
type nameSet struct {
	n     int
	first [32]uint64 // of each name the first eight bytes
	at    [32]span32
}

type span32 struct{ start, end int32 }

// add adds the name b[start:end], and reports whether there was room and it is new.
func (s *nameSet) add(b []byte, start, end int) bool {
	first := binary.LittleEndian.Uint64(b[start:])
	if size := end - start; size < 8 {
		first &= 1<<(8*size) - 1
	}
	for i, other := range s.first[:s.n] {
		if other == first && string(b[s.at[i].start:s.at[i].end]) == string(b[start:end]) {
			return false
		}
	}
	if s.n == len(s.first) {
		return false
	}
	s.first[s.n], s.at[s.n] = first, span32{int32(start), int32(end)}
	s.n++
	return true
}
