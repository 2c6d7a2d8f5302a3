package postertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// failing is a RoundTripper that only fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// unresolved is a dialer that finds no address for any name.
func unresolved(_ context.Context, _, address string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
}

// startTLS starts a server whose certificate nobody knows.
func startTLS(t *testing.T, h http.Handler) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// stalling starts a server that takes a request and never answers, and tells when
// it has one.
func stalling(t *testing.T) (*Server, <-chan struct{}) {
	t.Helper()
	arrived, over := make(chan struct{}, 8), make(chan struct{})
	s := Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-over
	}))
	t.Cleanup(func() { close(over) })
	return s, arrived
}

// rawServer is a server that speaks HTTP only as far as it wants to.
type rawServer struct {
	url      string
	requests atomic.Int64
}

// fault is what a server does once it has read its nth request; it tells whether
// it reads another one from the same connection.
type fault func(n int64, c net.Conn) bool

// faults are ways to end a connection after a request was read, without an answer.
func faults() map[string]fault {
	says := func(text string) fault {
		return func(_ int64, c net.Conn) bool {
			_, _ = io.WriteString(c, text)
			return false
		}
	}
	return map[string]fault{
		"closed":               says(""),
		"reset":                reset,
		"half a status":        says("HTTP/1.1 20"),
		"half a header":        says("HTTP/1.1 200 OK\r\nContent-Le"),
		"something else":       says("SSH-2.0-OpenSSH_9.9\r\n\r\n"),
		"an unheard-of status": says("HTTP/1.1 099 ?\r\n\r\n"),
	}
}

// reset makes the connection's end a reset, not an orderly one.
func reset(_ int64, c net.Conn) bool {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	return false
}

// serveRaw starts a server that counts its requests and does with each as f says.
func serveRaw(t *testing.T, f fault) *rawServer {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s := &rawServer{url: "http://" + l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c, f)
		}
	}()
	return s
}

func (s *rawServer) serve(c net.Conn, f fault) {
	defer c.Close()
	r := bufio.NewReader(c)
	for more := true; more; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		more = f(s.requests.Add(1), c)
	}
}

// testKeptConnection tests that a connection which served one request and dies
// after the next was written does not make Go's transport write that one again,
// as it does for requests with an idempotency key.
func testKeptConnection(t *testing.T, f Fixture) {
	s := serveRaw(t, func(n int64, c net.Conn) bool {
		if n > 1 {
			return reset(n, c)
		}
		_, _ = io.WriteString(c, f.Delivered.raw())
		return true
	})
	p := f.New(t, s.url, &http.Client{Transport: &http.Transport{}})
	m := message(t, p)
	_, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	_, err = p.Post(t.Context(), m)
	requireOutcome(t, poster.Unknown, err)
	require.EqualValues(t, 2, s.requests.Load(), "each attempt is one request")
}

// raw is the answer as it goes over the wire, on a connection that stays open.
func (a Answer) raw() string {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	for name, v := range a.Header {
		head += name + ": " + v + "\r\n"
	}
	if a.Status != http.StatusNoContent {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(a.Body))
	}
	return head + "\r\n" + a.Body
}
