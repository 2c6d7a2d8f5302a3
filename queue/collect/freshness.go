package collect

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestFresh bounds how long a document is not asked for again because its server says
// that it stays as it is: some say a year of everything.
const longestFresh = time.Hour

// freshUntil returns until when a document need not be asked for again (RFC 9111 §4.2):
// by max-age in its Cache-Control, else by its Expires. Zero: it may be at any time.
func freshUntil(h http.Header, now time.Time) time.Time {
	var lasts time.Duration
	if control := h.Get("Cache-Control"); control != "" {
		age, known := maxAge(control)
		if !known {
			return time.Time{}
		}
		already, _ := strconv.ParseUint(strings.TrimSpace(h.Get("Age")), 10, 31)
		lasts = age - time.Duration(already)*time.Second
	} else if expires, err := http.ParseTime(h.Get("Expires")); err == nil {
		date, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			date = now
		}
		lasts = expires.Sub(date)
	}
	if lasts <= 0 {
		return time.Time{}
	}
	return now.Add(min(lasts, longestFresh))
}

// maxAge returns what a Cache-Control header says of how long a document stays as it is,
// unless it forbids to rely on that.
func maxAge(control string) (age time.Duration, known bool) {
	for directive := range strings.SplitSeq(control, ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch strings.TrimSpace(name) {
		case "no-cache", "no-store":
			return 0, false
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, "\" "), 10, 31)
			if err != nil {
				return 0, false
			}
			age, known = time.Duration(seconds)*time.Second, true
		}
	}
	return age, known
}

// fetchAgain reads the document at an address, if it has changed since it was read. It
// is not asked for while its server says that it has not.
func (c *Collector) fetchAgain(ctx context.Context, address string, prev Progress) (*document, error) {
	if !c.Fresh && prev.FetchedURL == address && prev.FreshUntil.After(c.now()) {
		return &document{location: address, notModified: true, unasked: true, moved: prev.Moved, freshUntil: prev.FreshUntil}, nil
	}
	return c.fetch(ctx, address, c.known(address, prev))
}

// Forget makes the next run read the whole document, whatever its server says.
func (p *Progress) Forget() {
	p.ETag, p.LastModified, p.FreshUntil = "", "", time.Time{}
}
