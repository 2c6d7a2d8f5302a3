package collect

import "encoding/binary"

// withoutControls removes the control characters that XML does not allow and some
// sites send, as the parser does, so that both see the same document.
func withoutControls(body []byte) []byte {
	bad := func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' }
	for i := 0; i < len(body); i++ {
		if len(body)-i >= 8 && !holdsControl(binary.LittleEndian.Uint64(body[i:])) {
			i += 7
			continue
		}
		if !bad(body[i]) {
			continue
		}
		out := append(make([]byte, 0, len(body)), body[:i]...)
		for _, c := range body[i:] {
			if !bad(c) {
				out = append(out, c)
			}
		}
		return out
	}
	return body
}

// In eight bytes at a time: the lowest and the highest bit of each.
const lowest, highest = 0x0101010101010101, 0x8080808080808080

// holdsControl reports whether one of eight bytes may be a control character, and
// is right when it says no.
func holdsControl(eight uint64) bool { return (eight-' '*lowest)&^eight&highest != 0 }

// holds reports whether one of eight bytes may be c, and is right when it says no.
func holds(eight uint64, c byte) bool {
	eight ^= uint64(c) * lowest
	return (eight-lowest)&^eight&highest != 0
}
