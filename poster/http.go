package poster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 1 << 20

// Client makes requests for one destination, each exactly once, and tells how
// they ended. It is used concurrently.
type Client struct {
	http      *http.Client
	now       func() time.Time
	userAgent string
	redactor  redactor
	// traced: the transport is Go's own, so that what a trace does not see did not
	// happen.
	traced bool
}

// NewClient returns the client of a destination. The secrets are cut out of
// everything it says.
func NewClient(o Options, secrets ...Secret) *Client {
	base := o.HTTP
	if base == nil {
		base = &http.Client{}
	}
	c := &Client{
		http:      sendClient(base),
		now:       o.Now,
		userAgent: o.UserAgent,
		redactor:  newRedactor(secrets),
	}
	_, c.traced = c.http.Transport.(*http.Transport)
	return c
}

// Request is one request.
type Request struct {
	// Method is the HTTP method. Empty: POST.
	Method string
	// URL is the whole address.
	URL Secret
	// Header holds further headers. User-Agent is set by the client.
	Header http.Header
	// Body is the request's body. Nil: none.
	Body []byte
	// MaxAnswer is how much of the answer is read, in bytes. Zero: 1 MiB.
	MaxAnswer int64
}

// Response is the answer to a request.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header is the answer's.
	Header http.Header
	// Body is the answer's, up to MaxAnswer.
	Body []byte
	// Torn: the connection ended before the body did.
	Torn bool
}

// Now returns the time by the program's clock.
func (c *Client) Now() time.Time { return c.now() }

// Redact returns a text as one line without the client's secrets and without
// control characters.
func (c *Client) Redact(text string) string { return c.redactor.redact(text) }

// Do makes the request, once, within a minute. It returns the answer, whatever
// its status, or an *Error: Later when the request was certainly not written,
// RejectedDestination when it never will be (a certificate that is not valid),
// Unknown for everything else.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	if ctx.Err() != nil {
		return Response{}, c.fail(Later, 0, "not sent: "+context.Cause(ctx).Error())
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	var seen phase
	req, err := c.request(httptrace.WithClientTrace(ctx, seen.trace()), r)
	if err != nil {
		return Response{}, c.fail(RejectedDestination, 0, "its address or headers are not valid; check its settings")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Response{}, c.transportError(err, &seen)
	}
	defer resp.Body.Close()
	most := r.MaxAnswer
	if most == 0 {
		most = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: body, Torn: err != nil}, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSpace(r.URL.Reveal()), body)
	if err != nil {
		return nil, err
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("User-Agent", c.userAgent)
	// Without these the transport could send the body again by itself.
	req.GetBody = nil
	req.Close = true
	return req, nil
}

// phase is how far a request came. Its trace is called from other goroutines.
type phase struct{ began, wrote atomic.Bool }

func (p *phase) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { p.began.Store(true) },
		GotConn:      func(httptrace.GotConnInfo) { p.began.Store(true) },
		WroteHeaders: func() { p.wrote.Store(true) },
	}
}

// transportError tells what an attempt without an answer means. The headers count
// as written when they are in the transport's buffer: early rather than late.
func (c *Client) transportError(err error, seen *phase) error {
	// A url.Error prints the address, which is a secret.
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = "it took too long"
	}
	traced := c.traced || seen.began.Load()
	switch {
	case seen.wrote.Load():
		return c.fail(Unknown, 0, "no answer after the request was sent, so it may have been published: "+what)
	case badCertificate(err):
		return c.fail(RejectedDestination, 0, "the server's certificate is not valid: "+what)
	case traced || neverConnected(err):
		return c.fail(Later, 0, "not sent: "+what)
	default:
		return c.fail(Unknown, 0, "no answer, so it may have been published: "+what)
	}
}

func badCertificate(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) || errors.As(err, &invalid)
}

// neverConnected reports whether err says by itself that there was no connection.
func neverConnected(err error) bool {
	var (
		dns    *net.DNSError
		op     *net.OpError
		record tls.RecordHeaderError
	)
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial" ||
		errors.As(err, &record) || errors.Is(err, syscall.ECONNREFUSED)
}

// fail returns how an attempt ended, in one line without secrets.
func (c *Client) fail(o Outcome, status int, reason string) *Error {
	return &Error{Outcome: o, Status: status, Reason: shorten(c.Redact(reason), maxReason)}
}
