package collect

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"

	"bot/queue"
)

// accept asks for feeds, and takes whatever comes.
const accept = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, text/html;q=0.6, */*;q=0.5"

// validators make a request conditional. The zero value does not.
type validators struct{ etag, lastModified string }

// document is what was read at one location.
type document struct {
	// location is what was asked for.
	location string
	// base is where it was found after redirects. Nil for a file.
	base *url.URL
	// body is the whole document, decompressed.
	body []byte
	// contentType is as the server gave it. Empty for a file.
	contentType string
	// notModified: there is no body, since the validators still hold. unasked: or since
	// it was not asked for yet.
	notModified, unasked bool
	// fresh are the validators of this body.
	fresh validators
	// freshUntil is until when it need not be asked for again. Zero: it may be.
	freshUntil time.Time
	// moved is where the location has gone for good. Empty: it has not.
	moved string
}

// statusError is an answer other than the one that was asked for.
type statusError struct {
	location string
	code     int
	advice   string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("fetch %s: it answered %d", e.location, e.code)
	if name := http.StatusText(e.code); name != "" {
		text += " " + name
	}
	return text + e.advice
}

// waitError: the server is not to be asked before a time that it named.
type waitError struct {
	location string
	code     int // 0: it was not asked this time
	until    time.Time
}

func (e *waitError) Error() string {
	until := e.until.UTC().Format(time.RFC3339)
	if e.code == 0 {
		return fmt.Sprintf("fetch %s: its server asked to wait until %s", e.location, until)
	}
	return fmt.Sprintf("fetch %s: it answered %d %s; it will not be asked before %s", e.location, e.code, http.StatusText(e.code), until)
}

// waitUntil returns the time that an error says to wait for. Zero: none.
func waitUntil(err error) time.Time {
	var wait *waitError
	if errors.As(err, &wait) {
		return wait.until
	}
	return time.Time{}
}

func tooSlow(what string, limit time.Duration) error {
	return fmt.Errorf("it took longer than %s %s, which is the limit", limit, what)
}

// isWeb reports whether a location is an address and not a file.
func isWeb(location string) bool {
	for _, scheme := range [...]string{"http://", "https://"} {
		if len(location) > len(scheme) && strings.EqualFold(location[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// shown returns a location as it may be printed: without user info, and without the
// query's values, among which keys are.
func shown(location string) string {
	if !isWeb(location) {
		return location
	}
	scheme, rest, _ := strings.Cut(location, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	rest = rest[strings.LastIndexByte(rest[:end], '@')+1:]
	rest, _, _ = strings.Cut(rest, "#")
	address, query, _ := strings.Cut(rest, "?")
	for i, pair := range strings.Split(query, "&") {
		name, _, has := strings.Cut(pair, "=")
		if has {
			name += "=…"
		} else if name != "" {
			name = "…"
		}
		if name != "" {
			address += []string{"?", "&"}[min(i, 1)] + name
		}
	}
	return scheme + "://" + address
}

// fetch reads the document at a location, if it has changed.
func (c *Collector) fetch(ctx context.Context, location string, known validators) (*document, error) {
	if !isWeb(location) {
		return c.open(location)
	}
	doc, err := c.get(ctx, location, known)
	if err == nil {
		return doc, nil
	}
	return nil, named(err, location)
}

// open reads a file.
func (c *Collector) open(path string) (*document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	length := int64(0)
	if info, err := f.Stat(); err == nil {
		length = info.Size()
	}
	body, err := c.readAll(f, length)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &document{location: path, body: body}, nil
}

// get makes one request and follows its redirects.
func (c *Collector) get(ctx context.Context, location string, known validators) (*document, error) {
	limits := c.Limits.withDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(limits.FirstByte, func() { cancel(tooSlow("to answer", limits.FirstByte)) })
	defer slow.Stop()

	req, err := c.request(ctx, location, known)
	if err != nil {
		return nil, err
	}
	permanent, redirected := true, false
	client := c.client(limits.Redirects, func(code int) {
		slow.Reset(limits.FirstByte)
		redirected = true
		permanent = permanent && (code == http.StatusMovedPermanently || code == http.StatusPermanentRedirect)
	})
	resp, err := client.Do(req)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	defer resp.Body.Close()
	slow.Stop()

	if err := c.checkStatus(resp, location, known); err != nil {
		return nil, err
	}
	base := *resp.Request.URL
	base.User = nil
	doc := &document{
		location: location, base: &base, contentType: resp.Header.Get("Content-Type"),
		notModified: resp.StatusCode == http.StatusNotModified,
		fresh:       validators{short(resp.Header.Get("ETag")), short(resp.Header.Get("Last-Modified"))},
		freshUntil:  freshUntil(resp.Header, c.now()),
	}
	if permanent && redirected {
		doc.moved = base.String()
	}
	if doc.notModified {
		return doc, nil
	}
	if resp.ContentLength > limits.Bytes {
		return nil, fmt.Errorf("it is %s long; the limit is %s", size(resp.ContentLength), size(limits.Bytes))
	}
	if doc.body, err = c.readAll(resp.Body, resp.ContentLength); err != nil {
		return nil, causeOr(ctx, err)
	}
	return doc, nil
}

func (c *Collector) request(ctx context.Context, location string, known validators) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Accept", accept)
	// It is unpacked by what it is, and not by what it is called.
	req.Header.Set("Accept-Encoding", "gzip")
	if known.etag != "" {
		req.Header.Set("If-None-Match", known.etag)
	}
	if known.lastModified != "" {
		req.Header.Set("If-Modified-Since", known.lastModified)
	}
	return req, nil
}

// client is the given client for one document, with its redirects limited to http and
// https, and counted. hop is told the status of each. Cookies are kept on the way, since
// some sites redirect until one comes back, and no longer.
func (c *Collector) client(redirects int, hop func(code int)) *http.Client {
	c.once.Do(func() { c.outside = queue.Outside(c.HTTP) })
	client := *c.outside
	client.Jar, _ = cookiejar.New(nil) // which cannot fail
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > redirects {
			return fmt.Errorf("more than %d redirects in a row", redirects)
		}
		if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
			return fmt.Errorf("it redirects to a %s address", req.URL.Scheme)
		}
		hop(req.Response.StatusCode)
		return nil
	}
	return &client
}

// checkStatus returns nil for an answer that was asked for.
func (c *Collector) checkStatus(resp *http.Response, location string, known validators) error {
	e := &statusError{location: shown(location), code: resp.StatusCode}
	retry := resp.Header.Get("Retry-After")
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotModified && known != validators{}:
		return nil
	case code == http.StatusNotModified:
		e.advice = " to a request for the whole document; its server or a cache before it is broken"
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && retry != "":
		return &waitError{location: e.location, code: code, until: retryAfter(retry, c.now())}
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.advice = "; ask the site to let this bot read it, or name another feed"
	case code == http.StatusNotFound, code == http.StatusGone:
		e.advice = "; check the source's address"
	case code >= 500:
		e.advice = "; it is asked again on the next run"
	}
	return e
}

// causeOr returns why ctx was cancelled, if it was, instead of what that led to.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// readAll reads a whole document. What is compressed, by the server or as a file or
// both, is known by its first two bytes (RFC 1952 §2.3.1): some servers call gzip what
// is not, and some do not say. length is how long it says it is, if it is not negative.
func (c *Collector) readAll(r io.Reader, length int64) ([]byte, error) {
	limit := c.Limits.withDefaults().Bytes
	body, err := c.readUpTo(r, limit, length)
	for packed := 0; packed < 2 && err == nil && bytes.HasPrefix(body, []byte{0x1f, 0x8b}); packed++ {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = c.readUpTo(z, limit, 0)
		}
	}
	return body, err
}

// readUpTo reads all as the function does. What is of no known length is read in space
// that is used again, so that no more is left behind than it needs.
func (c *Collector) readUpTo(r io.Reader, limit, length int64) ([]byte, error) {
	if length > 0 {
		return readUpTo(r, limit, length)
	}
	space, ok := c.space.Get().(*bytes.Buffer)
	if !ok {
		space = new(bytes.Buffer)
	}
	space.Reset()
	err := readInto(space, r, limit)
	body := bytes.Clone(space.Bytes())
	if space.Cap() <= believedLength {
		c.space.Put(space)
	}
	return body, err
}

// believedLength bounds how much memory is taken on somebody's word.
const believedLength = 1 << 20

// readUpTo reads all, which is to be no longer than limit and probably is of a length.
func readUpTo(r io.Reader, limit, length int64) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(length, 0), believedLength)+bytes.MinRead))
	err := readInto(buffer, r, limit)
	return buffer.Bytes(), err
}

// readInto reads all into an empty buffer, which stays empty after an error.
func readInto(buffer *bytes.Buffer, r io.Reader, limit int64) error {
	_, err := buffer.ReadFrom(io.LimitReader(r, limit+1))
	switch {
	case int64(buffer.Len()) > limit:
		err = fmt.Errorf("it is longer than %s, which is the limit", size(limit))
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the document broke off before its end")
	}
	if err != nil {
		buffer.Reset()
	}
	return err
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// short returns a validator worth remembering.
func short(s string) string {
	if len(s) > 1<<10 {
		return ""
	}
	return s
}
