package queue

import (
	"fmt"
	"strconv"
	"time"

	"bot/dedupe"

	"github.com/go-json-experiment/json/jsontext"
)

// MarshalRecord returns the entry as one JSON object on one line: the shape it
// has in the state files and in exports. A text that is not UTF-8 is an error.
func MarshalRecord(e Entry) ([]byte, error) { return AppendRecord(nil, &e) }

// AppendRecord appends what MarshalRecord returns to buf. It is written by hand
// because every claim waits for it.
func AppendRecord(buf []byte, e *Entry) ([]byte, error) {
	w := recordWriter{buf: buf, start: len(buf)}
	a, c := &e.Article, &e.Claim
	w.text("id", e.ID)
	w.text("webhook", e.Key.Webhook)
	w.always("url", a.URL)
	if canonical, err := dedupe.Canonical(a.URL); err != nil || canonical != e.Key.URL {
		w.text("key_url", e.Key.URL)
	}
	w.text("bucket", e.Key.Bucket)
	w.text("destination", e.Destination)
	w.text("rule", e.Rule)
	w.text("source", a.Source)
	w.text("title", a.Title)
	w.text("status", string(e.Status))
	if e.Shadow {
		w.member("shadow", "true")
	}
	w.text("reason", e.Reason)
	w.time("due_at", e.DueAt)
	w.time("queued_at", e.QueuedAt)
	w.time("posted_at", e.PostedAt)
	if e.Attempts != 0 || !e.Status.Final() {
		w.member("attempts", strconv.Itoa(e.Attempts))
	}
	w.text("last_error", e.LastError)
	w.text("remote_id", e.RemoteID)
	w.text("remote_url", e.RemoteURL)
	w.time("claimed_at", c.At)
	w.text("claimed_by", c.By)
	w.text("claim", c.Token)
	w.time("lease_until", c.LeaseUntil)
	w.time("first_claimed_at", c.FirstAt)
	if c.Absent != 0 {
		w.member("absent", strconv.Itoa(c.Absent))
	}
	if c.Again {
		w.member("again", "true")
	}
	w.time("published_at", a.Published)
	w.time("updated_at", a.Updated)
	w.text("guid", a.GUID)
	w.text("summary", a.Summary)
	w.text("author", a.Author)
	w.text("image", a.Image)
	w.list("categories", a.Categories)
	w.text("text", e.Message.Text)
	if body := e.Message.Body; len(body) > 0 {
		w.name("body")
		quote(&w, body)
	}
	w.rest(e.Extra)
	if w.err != nil {
		return buf, fmt.Errorf("encode entry %s: %w", e.ID, w.err)
	}
	return append(w.buf, '}'), nil
}

// recordWriter writes the members of one JSON object. What is zero is left out.
type recordWriter struct {
	buf   []byte
	start int // of the object
	err   error
}

// name writes a member's name, with what comes before and behind it.
func (w *recordWriter) name(name string) {
	if len(w.buf) == w.start {
		w.buf = append(w.buf, '{')
	} else {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// member writes a member whose value is JSON already.
func (w *recordWriter) member(name, value string) {
	w.name(name)
	w.buf = append(w.buf, value...)
}

func (w *recordWriter) text(name, value string) {
	if value != "" {
		w.always(name, value)
	}
}

// always writes a text even if it is empty.
func (w *recordWriter) always(name, value string) {
	w.name(name)
	quote(w, value)
}

func quote[Text ~string | ~[]byte](w *recordWriter, value Text) {
	var err error
	if w.buf, err = jsontext.AppendQuote(w.buf, value); err != nil && w.err == nil {
		w.err = err
	}
}

// time writes a time in UTC with milliseconds (RFC 3339).
func (w *recordWriter) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.name(name)
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	w.buf = append(w.buf, '"')
	w.digits(year, 4)
	w.buf = append(w.buf, '-')
	w.digits(int(month), 2)
	w.buf = append(w.buf, '-')
	w.digits(day, 2)
	w.buf = append(w.buf, 'T')
	w.digits(hour, 2)
	w.buf = append(w.buf, ':')
	w.digits(minute, 2)
	w.buf = append(w.buf, ':')
	w.digits(second, 2)
	w.buf = append(w.buf, '.')
	w.digits(t.Nanosecond()/1e6, 3)
	w.buf = append(w.buf, 'Z', '"')
}

// digits writes the last so many digits of a number.
func (w *recordWriter) digits(n, width int) {
	for range width {
		w.buf = append(w.buf, '0')
	}
	for at := len(w.buf) - 1; width > 0; at, width, n = at-1, width-1, n/10 {
		w.buf[at] = byte('0' + n%10)
	}
}

func (w *recordWriter) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	w.name(name)
	for i, value := range values {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		w.buf = append(w.buf, separator)
		quote(w, value)
	}
	w.buf = append(w.buf, ']')
}

// rest writes the members of an object that this program does not know.
func (w *recordWriter) rest(extra jsontext.Value) {
	if extra == nil {
		return
	}
	members := extra.Clone()
	if err := members.Compact(); err != nil {
		w.err = err
		return
	}
	switch {
	case members.Kind() != '{':
		w.err = fmt.Errorf("the members to carry along are no object")
	case len(members) > 2:
		w.buf = append(append(w.buf, ','), members[1:len(members)-1]...)
		// A member of a known name would stand there twice.
		if whole := jsontext.Value(append(w.buf[w.start:], '}')); !whole.IsValid() {
			w.err = fmt.Errorf("the members to carry along are not all unknown: %s", members)
		}
	}
}
