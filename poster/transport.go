package poster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// How long the steps of a send may take.
const (
	dialTimeout   = 10 * time.Second
	tlsTimeout    = 10 * time.Second
	headerTimeout = 30 * time.Second
	// attemptTimeout is for the whole attempt.
	attemptTimeout = 60 * time.Second
)

// bufferSize is that of a connection's buffers, in bytes: most messages and answers
// are smaller, and larger ones take several rounds.
const bufferSize = 1 << 10

// sendClient returns a client that makes of one request one request: it follows no
// redirect, since a POST would become a GET and its answer a false success, and it
// keeps no connection, since on one that dies Go's transport sends a request with
// an Idempotency-Key a second time (net/http, Request.isReplayable). A
// RoundTripper that is not Go's transport is used as it is.
func sendClient(base *http.Client) *http.Client {
	c := &http.Client{
		Transport:     base.Transport,
		Timeout:       base.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if t, ok := c.Transport.(*http.Transport); ok {
		c.Transport = sendTransport(t)
	}
	return c
}

// sendTransport returns a copy of t that opens one connection for each request
// and speaks HTTP/1.1 on it.
func sendTransport(t *http.Transport) *http.Transport {
	t = t.Clone()
	t.DisableKeepAlives = true
	t.DisableCompression = true
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	t.TLSHandshakeTimeout = tlsTimeout
	t.ResponseHeaderTimeout = headerTimeout
	t.ExpectContinueTimeout = 0
	// Each connection has buffers of its own, and is used for a message of this size.
	t.WriteBufferSize, t.ReadBufferSize = bufferSize, bufferSize
	dial := t.DialContext
	if dial == nil {
		// A connection that is used once needs no probes to keep it alive.
		dial = (&net.Dialer{KeepAlive: -1}).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
	if proxy := t.Proxy; proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			u, err := proxy(r)
			if err != nil {
				// Its own error would show the proxy's password.
				return nil, errors.New("the proxy's address in the environment is not valid")
			}
			return u, nil
		}
	}
	return t
}
