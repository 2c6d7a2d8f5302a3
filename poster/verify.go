package poster

import (
	"context"
	"time"
)

// Presence says whether a platform has a message that may have been published.
type Presence int

const (
	// CannotTell: the platform did not say, or its answer does not reach back far
	// enough. The zero value, so whoever forgets to decide is on the safe side.
	CannotTell Presence = iota
	// Absent: the platform shows what was published since, and the message is not
	// among it. A server that is still at work may publish it yet.
	Absent
	// Found: the message is published.
	Found
)

// Verifier is implemented by posters that can ask their platform whether a message
// was published. Asking publishes nothing, and may be repeated.
type Verifier interface {
	// Verify asks once for the message, which was first sent at since or a little
	// later. The receipt is filled with Found. An error goes with CannotTell, says
	// why, and holds no secret.
	Verify(ctx context.Context, m Message, since time.Time) (Presence, Receipt, error)
}

// skew is how far a server's clock may be behind ours.
const skew = 5 * time.Minute

// Covers tells what it means that a message was not among the published ones that
// were asked for: Absent if those reach back to the time it was first sent, or were
// all there are; else CannotTell. oldest is the time of the oldest of them.
func Covers(since, oldest time.Time, all bool) Presence {
	if all || !oldest.IsZero() && oldest.Before(since.Add(-skew)) {
		return Absent
	}
	return CannotTell
}

// Recent reports whether something published at that time can be a message that
// was first sent at since.
func Recent(published, since time.Time) bool {
	return !published.Before(since.Add(-skew))
}
