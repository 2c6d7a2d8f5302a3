package queue

import (
	"errors"
	"fmt"
	"time"

	"bot/poster"
)

// MaxAttempts is how often an entry is tried before it fails.
const MaxAttempts = 10

// Errors of the transitions. A lost race is ErrNotDue or ErrClaimLost.
var (
	// ErrNotDue: the entry is not to be sent now; most often another worker has it.
	ErrNotDue = errors.New("not due")
	// ErrClaimLost: the entry is no longer under this claim.
	ErrClaimLost = errors.New("claim lost")
	// ErrForbidden: an entry in this state does not take this step.
	ErrForbidden = errors.New("not possible")
)

// Every function here is pure: it makes of one entry the next, or says why not,
// and never changes its argument. They are all the ways in which an entry moves.

func forbidden(e Entry, step, mend string) error {
	return fmt.Errorf("%s is %w: entry %s is %s%s", step, ErrForbidden, e.ID, e.Status, mend)
}

// TakeClaim gives the sole right to send an entry to the worker of c, with the
// message it will send: a queued entry that is due at now, or, for a destination
// that takes a repeated ID only once for the time honoured, one whose worker is
// dead. gone tells that the worker is known to be dead before its lease is over.
// A message that may have gone out before is frozen and goes out again as it was.
// It returns ErrNotDue for any other entry.
func TakeClaim(e Entry, now time.Time, gone bool, honoured time.Duration, c Claim, m poster.Message) (Entry, error) {
	due := e.Status == Queued && !e.DueAt.After(now)
	if !due && !abandoned(e, now, gone) || unrepeatable(e, now, honoured) {
		return e, ErrNotDue
	}
	c.FirstAt = c.At
	if !e.Claim.FirstAt.IsZero() {
		c.FirstAt, c.Absent, c.Again = e.Claim.FirstAt, e.Claim.Absent, e.Claim.Again
	}
	e.Status = Sending
	e.Claim = c
	if e.Message.ID == "" {
		e.Message = m
	}
	e.Attempts++
	e.LastError = ""
	if e.Reason != letGo {
		e.Reason = ""
	}
	return e, nil
}

// Expire makes an entry uncertain that may have gone out and cannot be repeated:
// its worker died between claim and settle, or the time has passed in which its
// destination takes the same ID only once. It returns ErrNotDue for any other.
func Expire(e Entry, now time.Time, gone bool, honoured time.Duration) (Entry, error) {
	switch {
	case !unrepeatable(e, now, honoured):
		return e, ErrNotDue
	case abandoned(e, now, gone):
		e.LastError = fmt.Sprintf("the run that claimed it at %s ended before it could record how the send went",
			e.Claim.At.Format(time.RFC3339))
	case e.Status != Queued || e.DueAt.After(now):
		return e, ErrNotDue
	}
	return uncertain(e), nil
}

// abandoned reports whether the entry's worker is dead.
func abandoned(e Entry, now time.Time, gone bool) bool {
	return e.Status == Sending && (gone || !e.Claim.LeaseUntil.After(now))
}

// unrepeatable reports whether the entry may have gone out, at a destination that
// would now announce it a second time, and no person asked for that.
func unrepeatable(e Entry, now time.Time, honoured time.Duration) bool {
	asked := e.Status == Queued && e.Claim.Again
	return !e.Claim.FirstAt.IsZero() && now.Sub(e.Claim.FirstAt) >= honoured && !asked
}

// Refuse fails a queued entry that cannot be sent as it is, before any claim.
func Refuse(e Entry, reason string) (Entry, error) {
	if e.Status != Queued {
		return e, ErrNotDue
	}
	return failed(e, reason), nil
}

// Attempt is how one attempt to send ended.
type Attempt struct {
	// Receipt is what the platform said. Only when Err is nil.
	Receipt poster.Receipt
	// Err is what Poster.Post returned.
	Err error
	// Repeat says that an attempt that ended Unknown may be repeated under the same
	// ID: the destination announces it only once.
	Repeat bool
}

// Settle records how the attempt under the claim with this token ended. It also
// takes an entry that has become uncertain under the same claim, since a late
// answer is still an answer. It returns ErrClaimLost for any other entry.
func Settle(e Entry, now time.Time, token string, a Attempt) (Entry, error) {
	if e.Claim.Token != token || token == "" || (e.Status != Sending && e.Status != Uncertain) {
		return e, ErrClaimLost
	}
	if a.Err != nil {
		e.LastError = a.Err.Error()
	}
	switch outcome := poster.OutcomeOf(a.Err); outcome {
	case poster.Delivered:
		return posted(e, now, a.Receipt), nil
	case poster.Later:
		if e.Attempts >= MaxAttempts && mayBeOut(e) {
			return uncertain(e), nil
		}
		if e.Attempts >= MaxAttempts {
			return failed(e, fmt.Sprintf("tried %d times", e.Attempts)), nil
		}
		return putBack(e, nextAttempt(now, e.Attempts, a.Err)), nil
	case poster.RejectedContent:
		if mayBeOut(e) {
			// Of the repeat that is certain, and nothing is said of the attempt before.
			return uncertain(e), nil
		}
		return failed(e, "the destination will not take this message"), nil
	case poster.RejectedDestination:
		// It is the destination that has to be mended, so this attempt does not count,
		// and the entry keeps its place before those that are due later.
		e.Attempts--
		if e.DueAt.IsZero() || e.DueAt.After(now) {
			e.DueAt = now
		}
		return putBack(e, e.DueAt), nil
	default:
		if a.Repeat && e.Attempts < MaxAttempts {
			e.Status = Queued
			e.DueAt = nextAttempt(now, e.Attempts, a.Err)
			e.Claim = Claim{FirstAt: e.Claim.FirstAt}
			return e, nil
		}
		return uncertain(e), nil
	}
}

// mayBeOut reports whether an attempt before the claimed one may have published the
// entry, as far as neither its platform nor a person said that it did not.
func mayBeOut(e Entry) bool { return resent(e) && e.Claim.Absent < enough && !e.Claim.Again }

// uncertain lets an entry wait for a person, under the claim that it had. What its
// platform said before does not count any more.
func uncertain(e Entry) Entry {
	e.Status = Uncertain
	e.Claim.Absent, e.Claim.Again = 0, false
	e.DueAt = time.Time{}
	return e
}

// nextAttempt is when an attempt is repeated: when the platform said, else after
// a back-off of 30 s, doubled with every attempt up to an hour.
func nextAttempt(now time.Time, attempts int, err error) time.Time {
	const first, most = 30 * time.Second, time.Hour
	wait := most
	if n := max(attempts, 1) - 1; n < 7 {
		wait = min(first<<n, most)
	}
	at := now.Add(wait)
	if e, ok := errors.AsType[*poster.Error](err); ok && !e.NotBefore.IsZero() {
		at = e.NotBefore
	}
	return ceilMilli(at)
}

// Resolution is what a person decides of an uncertain or failed entry.
type Resolution struct {
	// To is Posted: it was announced; Queued: send it again; Skipped: let it be.
	To Status
	// RemoteURL is where it was announced. Only with Posted, and optional.
	RemoteURL string
}

// Resolve applies a person's decision to an uncertain or failed entry.
func Resolve(e Entry, now time.Time, r Resolution) (Entry, error) {
	if e.Status != Uncertain && e.Status != Failed {
		return e, forbidden(e, "resolve", "; only uncertain and failed entries are resolved")
	}
	switch r.To {
	case Posted:
		return posted(e, now, poster.Receipt{RemoteURL: r.RemoteURL}), nil
	case Queued:
		before := e
		e = requeued(e, now)
		e.Attempts, e.Reason = 0, ""
		if before.Status == Uncertain && before.Message.ID != "" {
			// The frozen message stays, so that what may have gone out before goes out
			// the same.
			e.Message = before.Message
			e.Claim = Claim{FirstAt: sentSince(before), Again: true}
		}
		return e, nil
	case Skipped:
		return skipped(e, "dropped by hand"), nil
	default:
		return e, forbidden(e, "resolve to "+string(r.To), "")
	}
}

// Retry queues a failed or skipped entry again, due at now.
func Retry(e Entry, now time.Time) (Entry, error) {
	if e.Status != Failed && e.Status != Skipped {
		return e, forbidden(e, "retry", "; only failed and skipped entries are tried again")
	}
	if e.URLOnly() {
		return e, forbidden(e, "retry", " and names no destination; "+howAnnounced(e))
	}
	reason := again(e)
	e = requeued(e, now)
	e.Attempts, e.Reason = 0, reason
	return e, nil
}

// Release queues a held entry, due at now or at its own later time.
func Release(e Entry, now time.Time) (Entry, error) {
	if e.Status != Held {
		return e, forbidden(e, "release", "; only held entries are released")
	}
	if e.URLOnly() {
		return e, forbidden(e, "release", " and names no destination; "+howAnnounced(e))
	}
	reason := again(e)
	e = requeued(e, latest(now, e.DueAt))
	e.Reason = reason
	return e, nil
}

// howAnnounced says how what names no destination is announced all the same: its record
// blocks its address everywhere until it is forgotten.
func howAnnounced(e Entry) string {
	cancel := ""
	if e.Status != Skipped {
		cancel = fmt.Sprintf("`bot queue cancel %s`, ", e.ID)
	}
	return fmt.Sprintf("to announce it, %s`bot posted forget %s` and then `bot enqueue --url`", cancel, e.ID)
}

// Cancel skips an entry that waits, for good.
func Cancel(e Entry) (Entry, error) {
	switch e.Status {
	case Queued, Held, Failed:
		return skipped(e, "cancelled by hand"), nil
	case Uncertain:
		return e, forbidden(e, "cancel", "; it may have been announced, so decide with `bot resolve`")
	default:
		return e, forbidden(e, "cancel", "; only entries that wait are cancelled")
	}
}

// Reschedule gives a queued entry another due time.
func Reschedule(e Entry, at time.Time) (Entry, error) {
	if e.Status != Queued {
		return e, forbidden(e, "reschedule", "; only queued entries have a due time")
	}
	e.DueAt = ceilMilli(at)
	e.Reason = byHand
	return e, nil
}

// Record counts an entry that is not announced yet, or not for certain, as
// announced: a person says that it was.
func Record(e Entry, now time.Time) (Entry, error) {
	switch e.Status {
	case Queued, Held, Failed, Uncertain:
		e = posted(e, now, poster.Receipt{})
		e.Reason = recordedByHand
		return e, nil
	default:
		return e, forbidden(e, "record as posted", "")
	}
}

const recordedByHand = "recorded by hand"

func posted(e Entry, now time.Time, r poster.Receipt) Entry {
	e.Status = Posted
	e.PostedAt = now.UTC().Truncate(time.Millisecond)
	e.RemoteID, e.RemoteURL = r.RemoteID, r.RemoteURL
	e.LastError, e.Reason = "", ""
	if !e.Shadow {
		e.Message = poster.Message{}
	}
	e.DueAt = time.Time{}
	e.Claim = Claim{}
	// History is read on every run, so it keeps only what tells articles apart.
	a := e.Article
	e.Article = Article{URL: a.URL, Title: a.Title, GUID: a.GUID, Source: a.Source, Published: a.Published}
	return e
}

func requeued(e Entry, due time.Time) Entry {
	e.Status = Queued
	e.DueAt = ceilMilli(due)
	e.Claim = Claim{}
	e.Message = poster.Message{}
	return e
}

// putBack queues an entry again whose last attempt certainly published nothing. If
// an earlier one may have, the message stays frozen, its age counts on, and so does
// what its platform said.
func putBack(e Entry, due time.Time) Entry {
	if !resent(e) {
		return requeued(e, due)
	}
	e.Status = Queued
	e.DueAt = ceilMilli(due)
	e.Claim = Claim{FirstAt: e.Claim.FirstAt, Absent: e.Claim.Absent, Again: e.Claim.Again}
	return e
}

func failed(e Entry, reason string) Entry {
	e.Status = Failed
	e.Reason = reason
	e.DueAt = time.Time{}
	e.Claim = Claim{}
	e.Message = poster.Message{}
	return e
}

func skipped(e Entry, reason string) Entry {
	e.Status = Skipped
	e.Reason = reason
	e.DueAt = time.Time{}
	e.Claim = Claim{}
	e.Message = poster.Message{}
	return e
}

// ceilMilli rounds up to the whole milliseconds in which entries keep time, so
// that nothing goes out before it may.
func ceilMilli(t time.Time) time.Time {
	t = t.UTC()
	if r := t.Truncate(time.Millisecond); !r.Equal(t) {
		return r.Add(time.Millisecond)
	}
	return t
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
