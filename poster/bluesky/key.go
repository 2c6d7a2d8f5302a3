package bluesky

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// digits are those of a TID, in the order of their code points, so that keys sort
// by time.
const digits = "234567abcdefghijklmnopqrstuvwxyz"

// tid returns a key of the kind that posts need: 53 bits of microseconds and 10 of
// a clock's ID (https://atproto.com/specs/tid). The post's ID tells it from others
// of the same moment: it moves it back by up to a second, and is the clock's.
func tid(now time.Time, id string) string {
	sum := sha256.Sum256([]byte(id))
	mark := binary.BigEndian.Uint64(sum[:])
	micros := uint64(now.UnixMicro()) - mark>>10%1_000_000 //nolint:gosec // The time is after 1970.
	v := micros<<10 | mark&0x3ff
	var key [13]byte
	for i := len(key) - 1; i >= 0; i-- {
		key[i] = digits[v&31]
		v >>= 5
	}
	return string(key[:])
}
