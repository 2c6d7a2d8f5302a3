package queue

import (
	"time"

	"bot/dedupe"
	"bot/poster"

	"github.com/go-json-experiment/json/jsontext"
)

// Status is the state of an entry.
type Status string

const (
	// Queued waits for its due time.
	Queued Status = "queued"
	// Sending is claimed by one worker, which may be at the network.
	Sending Status = "sending"
	// Posted was announced, or would have been in shadow mode.
	Posted Status = "posted"
	// Uncertain may or may not have been announced. A person decides.
	Uncertain Status = "uncertain"
	// Failed was certainly not announced and will not be tried again by itself.
	Failed Status = "failed"
	// Held waits for a person to release it.
	Held Status = "held"
	// Skipped was decided against, with a reason, and stays known.
	Skipped Status = "skipped"
)

// Statuses are all states, in the order in which they are shown.
var Statuses = []Status{Queued, Sending, Held, Uncertain, Failed, Posted, Skipped}

// Final reports whether the entry is at rest for good: what the posted view
// holds. Everything else belongs to the queued view.
func (s Status) Final() bool { return s == Posted || s == Skipped }

// Entry is one article for one destination (and bucket). All times are UTC in
// whole milliseconds.
type Entry struct {
	// ID is the key's ID. It names the entry everywhere.
	ID string
	// Key is what is announced only once.
	Key dedupe.Key
	// Destination, Rule name where it goes and why. Empty in older records.
	Destination, Rule string
	// Article is what is announced. A posted entry keeps only what tells it apart.
	Article Article
	// Status is the entry's state.
	Status Status
	// QueuedAt is when the entry was inserted, moved on by a millisecond for each
	// entry of the same insert, so that it also tells their order. Zero in older
	// records.
	QueuedAt time.Time
	// DueAt is the planned time of the next attempt or, of an uncertain entry, of the
	// next question to its platform. Zero unless queued, held or uncertain.
	DueAt time.Time
	// Reason says why the entry is held, skipped or failed, or why it is due when it
	// is.
	Reason string
	// Attempts counts the claims that reached the network, or may have.
	Attempts int
	// LastError is how the last attempt ended, if not well. No secrets.
	LastError string
	// Claim is the right to send, of the worker that has or had it last. Zero
	// while queued.
	Claim Claim
	// Message is what goes out, frozen by the claim. Empty before the first claim
	// and after every attempt that certainly published nothing. A shadow entry keeps
	// it, to be looked at.
	Message poster.Message
	// PostedAt is when the platform took it, by this worker's clock.
	PostedAt time.Time
	// RemoteID and RemoteURL are the platform's own. Empty when it gave none.
	RemoteID, RemoteURL string
	// Shadow marks an entry that was claimed in shadow mode: no request is or was
	// made for it.
	Shadow bool
	// Extra holds the members of the stored record that this program does not
	// know, as one JSON object. They are carried along. Nil for none.
	Extra jsontext.Value
}

// Claim is the sole right to send one entry.
type Claim struct {
	// Token is fresh for every claim and tells this claim from any other.
	Token string
	// By names the worker.
	By string
	// At is when it was claimed.
	At time.Time
	// FirstAt is when the frozen message was first claimed: a platform that takes
	// an ID only once counts from there. Kept while the message may have gone out
	// and is to be repeated.
	FirstAt time.Time
	// Absent counts how often the platform said since that it has no such post. Kept
	// while the message is queued to be sent again for that.
	Absent int
	// Again says that a person had the frozen message sent again, however old it is.
	// Kept until it is known how that went.
	Again bool
	// LeaseUntil is when others may take the worker for dead.
	LeaseUntil time.Time
}

// Due returns when the entry next needs attention: a queued one when it is to be
// sent, a sending one when its lease ends, an uncertain one when its platform is to
// be asked. Zero: never by itself.
func (e Entry) Due() time.Time {
	switch e.Status {
	case Queued, Uncertain:
		return e.DueAt
	case Sending:
		return e.Claim.LeaseUntil
	default:
		return time.Time{}
	}
}

// URLOnly reports whether this is one of the oldest records, which know an
// address and no webhook, and so stand for the address at every destination.
func (e Entry) URLOnly() bool { return e.Key.Webhook == "" }
