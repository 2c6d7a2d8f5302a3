package queue

import (
	"errors"
	"fmt"
	"time"

	"bot/dedupe"
	"bot/poster"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Where a record stands decides how its older shapes are read.
const (
	// InPosted: a record that counts as announced.
	InPosted = true
	// InQueue: a record that waits, unless it says otherwise.
	InQueue = false
)

// ParseRecord reads one record of a state file or an export, in any of the shapes
// it has had: with the webhook's fingerprint, with the webhook itself, with an
// address alone, or a bare string. posted says which view it stands in.
//
// A record without an address is an error. One whose address is not a web address
// is kept as it is. What this program does not know goes to Extra.
func ParseRecord(raw jsontext.Value, posted bool) (Entry, error) {
	var r record
	switch raw.Kind() {
	case '"':
		if err := json.Unmarshal(raw, (*string)(&r.URL)); err != nil {
			return Entry{}, err
		}
	case '{':
		if err := json.Unmarshal(raw, &r); err != nil {
			return Entry{}, err
		}
	default:
		return Entry{}, errors.New("a record is an object or a string")
	}
	if r.URL == "" {
		return Entry{}, errors.New("the record has no url")
	}
	url := string(r.URL)
	e := Entry{
		Key:         dedupe.Key{Webhook: dedupe.Fingerprint(string(r.Webhook)), URL: string(r.KeyURL), Bucket: string(r.Bucket)},
		Destination: string(r.Destination), Rule: string(r.Rule),
		Article: Article{
			URL: url, Title: string(r.Title), Summary: string(r.Summary), Author: string(r.Author), Image: string(r.Image),
			Categories: r.Categories, GUID: string(r.GUID), Source: string(r.Source),
			Published: time.Time(r.PublishedAt), Updated: time.Time(r.UpdatedAt),
		},
		Status: Status(r.Status), Shadow: bool(r.Shadow), Reason: string(r.Reason),
		QueuedAt: time.Time(r.QueuedAt), DueAt: time.Time(r.DueAt), PostedAt: time.Time(r.PostedAt),
		Attempts: int(r.Attempts), LastError: string(r.LastError), RemoteID: string(r.RemoteID), RemoteURL: string(r.RemoteURL),
		Claim: Claim{
			Token: string(r.Claim), By: string(r.ClaimedBy), At: time.Time(r.ClaimedAt),
			LeaseUntil: time.Time(r.LeaseUntil), FirstAt: time.Time(r.FirstClaimedAt), Absent: int(r.Absent),
			Again: bool(r.Again),
		},
		Extra: r.Unknown,
	}
	if e.Key.URL == "" {
		e.Key.URL = canonicalOrAsIs(url)
	}
	// Only records with a fingerprint were written by a program that makes IDs the
	// way this one does.
	if e.ID = string(r.ID); e.ID == "" || !dedupe.IsFingerprint(string(r.Webhook)) {
		e.ID = e.Key.ID()
	}
	if r.Text != "" || r.Body != "" {
		e.Message = poster.Message{ID: e.ID, Text: string(r.Text)}
		if r.Body != "" {
			e.Message.Body = []byte(r.Body)
		}
	}
	if posted || bool(r.Posted) {
		if e.Status != Skipped {
			e.Status = Posted
		}
		return e, nil
	}
	return waiting(e, r), nil
}

// waiting gives an entry of the queue its state, from whatever its record says.
func waiting(e Entry, r record) Entry {
	if e.DueAt.IsZero() {
		e.DueAt = time.Time(r.ScheduledAt)
	}
	if e.DueAt.IsZero() {
		e.DueAt = time.Time(r.ScheduledAtCamel)
	}
	hold := func(reason string) Entry {
		e.Status, e.Reason = Held, reason
		return e
	}
	switch e.Status {
	case Posted, Skipped, Failed, Uncertain:
		return e
	case Held:
		if e.Reason == "" {
			e.Reason = "held"
		}
		return e
	case Sending:
		if e.Claim.Token == "" || e.Claim.At.IsZero() || e.Claim.LeaseUntil.IsZero() {
			e.Status = Uncertain
			e.LastError = "its record says that it is being sent and not by whom and since when"
		}
		// What is being sent may be out, whoever forgot to write since when.
		if e.Claim.FirstAt.IsZero() {
			e.Claim.FirstAt = e.Claim.At
		}
		return e
	case Queued, "", "pending", "scheduled":
		e.Status = Queued
	default:
		return hold(fmt.Sprintf("its record has the unknown status %q", string(e.Status)))
	}
	switch {
	case e.URLOnly():
		return hold("its record names no destination")
	case e.DueAt.IsZero():
		return hold("its record has no due time that can be read")
	}
	return e
}

// ParseExported reads one line of an export, which says itself what its entry's
// state is. One that does not, such as a record of an earlier bot's posted.json,
// counts as posted.
func ParseExported(raw jsontext.Value) (Entry, error) {
	e, err := ParseRecord(raw, InPosted)
	if err != nil || raw.Kind() != '{' {
		return e, err
	}
	var r struct {
		Status lax `json:"status"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Entry{}, err
	}
	if status := Status(r.Status); status != "" && !status.Final() {
		return ParseRecord(raw, InQueue)
	}
	return e, nil
}

func canonicalOrAsIs(url string) string {
	if canonical, err := dedupe.Canonical(url); err == nil {
		return canonical
	}
	return url
}

// record is an entry as it is read. Members that an older or a careless hand gave
// another type are absent.
type record struct {
	ID          lax    `json:"id"`
	Webhook     lax    `json:"webhook"`
	URL         lax    `json:"url"`
	KeyURL      lax    `json:"key_url"`
	Bucket      lax    `json:"bucket"`
	Destination lax    `json:"destination"`
	Rule        lax    `json:"rule"`
	Source      lax    `json:"source"`
	Title       lax    `json:"title"`
	Status      lax    `json:"status"`
	Shadow      flag   `json:"shadow"`
	Reason      lax    `json:"reason"`
	DueAt       stamp  `json:"due_at"`
	QueuedAt    stamp  `json:"queued_at"`
	PostedAt    stamp  `json:"posted_at"`
	Attempts    count  `json:"attempts"`
	LastError   lax    `json:"last_error"`
	RemoteID    lax    `json:"remote_id"`
	RemoteURL   lax    `json:"remote_url"`
	ClaimedAt   stamp  `json:"claimed_at"`
	ClaimedBy   lax    `json:"claimed_by"`
	Claim       lax    `json:"claim"`
	LeaseUntil  stamp  `json:"lease_until"`
	PublishedAt stamp  `json:"published_at"`
	UpdatedAt   stamp  `json:"updated_at"`
	GUID        lax    `json:"guid"`
	Summary     lax    `json:"summary"`
	Author      lax    `json:"author"`
	Image       lax    `json:"image"`
	Categories  labels `json:"categories"`
	Text        lax    `json:"text"`
	Body        lax    `json:"body"`

	FirstClaimedAt stamp `json:"first_claimed_at"`
	Absent         count `json:"absent"`
	Again          flag  `json:"again"`

	// Older names.
	Posted           flag  `json:"posted"`
	ScheduledAt      stamp `json:"scheduled_at"`
	ScheduledAtCamel stamp `json:"scheduledAt"`

	Unknown jsontext.Value `json:",embed"`
}
