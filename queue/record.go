package queue

import (
	"errors"
	"fmt"
	"strconv"
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

// MarshalRecord returns the entry as one JSON object on one line: the shape it
// has in the state files and in exports.
func MarshalRecord(e Entry) ([]byte, error) {
	a, c := e.Article, e.Claim
	r := record{
		ID: lax(e.ID), Webhook: lax(e.Key.Webhook), URL: lax(a.URL), Bucket: lax(e.Key.Bucket),
		Destination: lax(e.Destination), Rule: lax(e.Rule), Source: lax(a.Source), Title: lax(a.Title),
		Status: lax(e.Status), Shadow: flag(e.Shadow), Reason: lax(e.Reason),
		DueAt: stamp(e.DueAt), QueuedAt: stamp(e.QueuedAt), PostedAt: stamp(e.PostedAt),
		Attempts: count(e.Attempts), LastError: lax(e.LastError), RemoteID: lax(e.RemoteID), RemoteURL: lax(e.RemoteURL),
		ClaimedAt: stamp(c.At), ClaimedBy: lax(c.By), Claim: lax(c.Token), LeaseUntil: stamp(c.LeaseUntil), FirstClaimedAt: stamp(c.FirstAt),
		PublishedAt: stamp(a.Published), UpdatedAt: stamp(a.Updated), GUID: lax(a.GUID), Summary: lax(a.Summary),
		Author: lax(a.Author), Image: lax(a.Image), Categories: a.Categories,
		Text: lax(e.Message.Text), Body: lax(e.Message.Body),
		Unknown: e.Extra,
	}
	if canonical, err := dedupe.Canonical(a.URL); err != nil || canonical != e.Key.URL {
		r.KeyURL = lax(e.Key.URL)
	}
	b, err := json.Marshal(r, jsontext.AllowInvalidUTF8(false), jsontext.EscapeForHTML(false))
	if err != nil {
		return nil, fmt.Errorf("encode entry %s: %w", e.ID, err)
	}
	return b, nil
}

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
			LeaseUntil: time.Time(r.LeaseUntil), FirstAt: time.Time(r.FirstClaimedAt),
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

// record is an entry as it is written. Members that an older or a careless hand
// gave another type are read as absent, but for the address.
type record struct {
	ID          lax    `json:"id,omitzero"`
	Webhook     lax    `json:"webhook,omitzero"`
	URL         lax    `json:"url"`
	KeyURL      lax    `json:"key_url,omitzero"`
	Bucket      lax    `json:"bucket,omitzero"`
	Destination lax    `json:"destination,omitzero"`
	Rule        lax    `json:"rule,omitzero"`
	Source      lax    `json:"source,omitzero"`
	Title       lax    `json:"title,omitzero"`
	Status      lax    `json:"status,omitzero"`
	Shadow      flag   `json:"shadow,omitzero"`
	Reason      lax    `json:"reason,omitzero"`
	DueAt       stamp  `json:"due_at,omitzero"`
	QueuedAt    stamp  `json:"queued_at,omitzero"`
	PostedAt    stamp  `json:"posted_at,omitzero"`
	Attempts    count  `json:"attempts,omitzero"`
	LastError   lax    `json:"last_error,omitzero"`
	RemoteID    lax    `json:"remote_id,omitzero"`
	RemoteURL   lax    `json:"remote_url,omitzero"`
	ClaimedAt   stamp  `json:"claimed_at,omitzero"`
	ClaimedBy   lax    `json:"claimed_by,omitzero"`
	Claim       lax    `json:"claim,omitzero"`
	LeaseUntil  stamp  `json:"lease_until,omitzero"`
	PublishedAt stamp  `json:"published_at,omitzero"`
	UpdatedAt   stamp  `json:"updated_at,omitzero"`
	GUID        lax    `json:"guid,omitzero"`
	Summary     lax    `json:"summary,omitzero"`
	Author      lax    `json:"author,omitzero"`
	Image       lax    `json:"image,omitzero"`
	Categories  labels `json:"categories,omitzero"`
	Text        lax    `json:"text,omitzero"`
	Body        lax    `json:"body,omitzero"`

	FirstClaimedAt stamp `json:"first_claimed_at,omitzero"`

	// Older names, only read.
	Posted           flag  `json:"posted,omitzero"`
	ScheduledAt      stamp `json:"scheduled_at,omitzero"`
	ScheduledAtCamel stamp `json:"scheduledAt,omitzero"`

	Unknown jsontext.Value `json:",embed"`
}

// lax is a string, or absent if the record has anything else there.
type lax string

func (l *lax) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readAs(d, '"', func(v jsontext.Value) error { return json.Unmarshal(v, (*string)(l)) })
}

// labels is a list of strings, or absent.
type labels []string

func (l *labels) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readAs(d, '[', func(v jsontext.Value) error {
		var all []lax
		err := json.Unmarshal(v, &all)
		for _, s := range all {
			if s != "" {
				*l = append(*l, string(s))
			}
		}
		return err
	})
}

// flag is true, or false whatever else the record has there.
type flag bool

func (f *flag) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	*f = v.Kind() == 't'
	return err
}

// count is a whole number that fits an int and is not negative, or zero.
type count int

func (c *count) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readAs(d, '0', func(v jsontext.Value) error {
		if n, err := strconv.Atoi(string(v)); err == nil && n > 0 {
			*c = count(n)
		}
		return nil
	})
}

// stamp is a time: written in RFC 3339 with milliseconds in UTC, read from that
// or from Unix milliseconds, absent for anything else.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000Z07:00"

func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

func (s stamp) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteToken(jsontext.String(time.Time(s).UTC().Format(stampLayout)))
}

func (s *stamp) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	var t time.Time
	switch v.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return err
		}
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil
		}
	case '0':
		ms, err := strconv.ParseFloat(string(v), 64)
		if err != nil || ms < 0 || ms > 253402300799999 {
			return nil
		}
		t = time.UnixMilli(int64(ms))
	default:
		return nil
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return nil // its zone took it out of the years that can be written
	}
	*s = stamp(t.Truncate(time.Millisecond))
	return nil
}

// readAs reads the next value and hands it to use if it is of the wanted kind.
func readAs(d *jsontext.Decoder, want jsontext.Kind, use func(jsontext.Value) error) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != want {
		return err
	}
	return use(v)
}
