package postertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// ServeHTTP gives the answer.
func (a Answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, v := range a.Header {
		w.Header().Set(name, v)
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

// Server is a server that keeps the requests it was sent.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []Received
}

// Received is a request that a server was sent.
type Received struct {
	*http.Request
	// Content is its body.
	Content string
}

// Serve starts a server for the time of the test.
func Serve(t *testing.T, h http.Handler) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, Received{r, string(body)})
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Requests returns what the server was sent so far.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.requests...)
}

// Buffer is a buffer that can be written to concurrently.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
