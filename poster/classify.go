package poster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxReason and maxSaid bound a reason and what the server said in it, in characters.
	maxReason = 600
	maxSaid   = 200
	// leastWait and mostWait bound what a platform may ask for.
	leastWait = time.Second
	mostWait  = 7 * 24 * time.Hour
	// unnamedWait is for a platform that asks for fewer requests and not for how long.
	unnamedWait = time.Minute
)

// Classify tells how the attempt with this answer ended, by its status alone: nil
// for 2xx, else an *Error. A platform looks at its own codes first.
//
// A status that says the request was not processed is Later or rejected; one that
// leaves it open (RFC 9110 §15, and the 52x of Cloudflare, by whether the origin
// was reached) is Unknown, as is every status without a meaning.
func (c *Client) Classify(r Response) error {
	outcome, reason := statusOutcome(r.Status)
	switch {
	case outcome == Delivered:
		return nil
	case r.Status == http.StatusServiceUnavailable:
		if _, ok := retryAfter(r, c.now()); ok {
			outcome, reason = Later, "it is not available for now"
		}
	}
	mend := ""
	if outcome == RejectedDestination {
		mend = statusMend(r.Status)
	}
	return c.Fail(outcome, r, reason, mend)
}

// Fail returns an *Error for an answer: how the attempt ended, what happened in
// the platform's words, what the server itself said of it, and when to come back
// (for Later). mend is an imperative for where a person has to mend something; it
// may be empty. Secrets are cut out.
func (c *Client) Fail(o Outcome, r Response, what, mend string) error {
	if said := c.said(r); said != "" {
		what += " (" + said + ")"
	}
	if mend != "" {
		what += "; " + mend
	}
	e := c.fail(o, r.Status, what)
	if o != Later {
		return e
	}
	wait, ok := retryAfter(r, c.now())
	switch {
	case ok:
		e.NotBefore = c.now().Add(wait)
	case r.Status == http.StatusTooManyRequests:
		e.NotBefore = c.now().Add(unnamedWait)
	}
	return e
}

// Duplicate returns an *Error for an answer by which the platform says that it has the
// same post already: RejectedContent, unless it was sent before.
func (c *Client) Duplicate(r Response, what string) error {
	e := c.fail(RejectedContent, r.Status, what)
	e.Duplicate = true
	return e
}

// statusOutcome is the common table of statuses.
func statusOutcome(status int) (Outcome, string) {
	switch status {
	case 400, 422:
		return RejectedContent, "it does not take this message"
	case 406, 411, 412, 415, 416, 417, 428:
		return RejectedContent, "it does not take a message of this kind"
	case 413:
		return RejectedContent, "the message is too large for it"
	case 401, 403, 407:
		return RejectedDestination, "not accepted"
	case 404, 410:
		return RejectedDestination, "there is nothing at its address"
	case 402, 405, 414, 418, 426, 431, 451, 501, 505:
		return RejectedDestination, "its address does not take posts"
	case 526:
		return RejectedDestination, "the certificate behind it is not valid"
	case 421, 425:
		return Later, "it did not process the request"
	case 429:
		return Later, "it asks for fewer posts"
	case 511:
		return Later, "the network asks for a login first"
	case 521, 523, 525:
		return Later, "the server behind it could not be reached"
	}
	switch {
	case status >= 200 && status < 300:
		return Delivered, ""
	case status >= 300 && status < 400:
		return RejectedDestination, "it answers with a redirect, and those are not followed"
	case status >= 500:
		return Unknown, "it had an error and may have published the message"
	default:
		return Unknown, "it does not say whether it published the message"
	}
}

// statusMend is what to do about a destination that answers with this status.
func statusMend(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "set the address that it leads to"
	case status == 401 || status == 403 || status == 407:
		return "check the webhook and its credentials"
	default:
		return "check the webhook"
	}
}

// NoReceipt is for a 2xx answer without what this platform always answers: it may
// come from a proxy or a login page, so whether it was published is unknown.
func (c *Client) NoReceipt(r Response) error {
	return c.Fail(Unknown, r, "the answer is not the platform's own, so it may not have been published", "")
}

var seconds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{1,12}(\.\d+)?$`) })

// retryAfter is how long a platform asks to wait: Retry-After or the body's
// retry_after, the longer; else until its limit is reset.
func retryAfter(r Response, now time.Time) (time.Duration, bool) {
	var wait time.Duration
	found := false
	take := func(d time.Duration, ok bool) {
		if ok {
			wait, found = max(wait, d), true
		}
	}
	take(headerWait(r.Header.Get("Retry-After"), now))
	take(bodyWait(r.Body))
	if !found {
		take(headerWait(r.Header.Get("X-RateLimit-Reset-After"), now))
	}
	for _, name := range []string{"X-RateLimit-Reset", "X-Rate-Limit-Reset", "RateLimit-Reset"} {
		if !found {
			take(resetWait(r.Header.Get(name), now))
		}
	}
	return min(max(wait, leastWait), mostWait), found
}

// headerWait reads whole or decimal seconds, or a date (RFC 9110 §10.2.3).
func headerWait(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if seconds().MatchString(text) {
		n, err := strconv.ParseFloat(text, 64)
		return wholeSeconds(n), err == nil
	}
	at, err := http.ParseTime(text)
	return at.Sub(now), err == nil
}

// resetWait reads when a limit is reset: an ISO 8601 time, Unix seconds, or, where
// that would be long ago, seconds from now.
func resetWait(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.Sub(now), true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !seconds().MatchString(text) {
		return 0, false
	}
	const longAgo = 1e9 // September 2001
	if n < longAgo {
		return wholeSeconds(n), true
	}
	return time.Unix(int64(math.Ceil(n)), 0).Sub(now), true
}

// bodyWait reads a JSON answer's retry_after, in seconds.
func bodyWait(body []byte) (time.Duration, bool) {
	var said struct {
		RetryAfter *float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &said) != nil || said.RetryAfter == nil || *said.RetryAfter < 0 {
		return 0, false
	}
	return wholeSeconds(*said.RetryAfter), true
}

// wholeSeconds rounds up, so that nothing is sent too early.
func wholeSeconds(n float64) time.Duration {
	return time.Duration(math.Ceil(min(n, mostWait.Seconds()))) * time.Second
}

// said is the server's own message, short and in one line, or nothing.
func (c *Client) said(r Response) string {
	text := jsonMessage(r.Body)
	if text == "" && !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") &&
		!bytes.HasPrefix(bytes.TrimSpace(r.Body), []byte("<")) && !json.Valid(r.Body) {
		text = string(r.Body[:min(len(r.Body), 1<<16)])
	}
	// Secrets are cut out before it is shortened, or half of one could stay.
	return shorten(c.Redact(text), maxSaid)
}

// jsonMessage finds the message in a JSON answer, under the names that are common.
func jsonMessage(body []byte) string {
	var said map[string]any
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	for _, name := range []string{"message", "error_description", "description", "detail", "error", "title", "reason"} {
		switch v := said[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case map[string]any:
			if text, ok := v["message"].(string); ok && text != "" {
				return text
			}
		}
	}
	if code, ok := said["code"].(float64); ok {
		return fmt.Sprintf("code %.0f", code)
	}
	return ""
}

// shorten cuts a text to n characters.
func shorten(text string, n int) string { return truncate(n, text) }
