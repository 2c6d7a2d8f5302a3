package cmd_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// web is the whole outside of a script on loopback: hosts with files, and a
// receiver that answers what it is told to and remembers what it got.
type web struct {
	dir           string
	plain, secure *httptest.Server
	client        *http.Client

	mu      sync.Mutex
	answers map[string][]string
	posts   []string
}

func newWeb(dir string) *web {
	w := &web{dir: dir, answers: map[string][]string{}}
	w.plain = httptest.NewServer(w)
	w.secure = httptest.NewTLSServer(w)
	w.client = &http.Client{Transport: &http.Transport{
		DialContext:     w.dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	return w
}

func (w *web) close() {
	w.client.CloseIdleConnections()
	w.plain.Close()
	w.secure.Close()
}

// dial brings every host that has a folder to loopback.
func (w *web) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(w.dir, host)); err != nil && host != "hooks.example" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	server := w.plain
	if port == "443" {
		server = w.secure
	}
	return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
}

// answer says what the next posts to a path are answered.
func (w *web) answer(at string, answers ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[at] = append(w.answers[at], answers...)
}

// posted returns one line for each post, its path and its text, ordered by path.
func (w *web) posted() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	posts := slices.Clone(w.posts)
	// Destinations are served side by side, so only each one's order is certain.
	slices.SortStableFunc(posts, func(a, b string) int {
		pathA, _, _ := strings.Cut(a, " ")
		pathB, _, _ := strings.Cut(b, " ")
		return strings.Compare(pathA, pathB)
	})
	return strings.Join(posts, "")
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.receive(out, r)
		return
	}
	name := path.Clean(r.URL.Path)
	if name == "/" || name == "." {
		name = "index.html"
	}
	text, err := os.ReadFile(filepath.Join(w.dir, r.Host, filepath.FromSlash(name)))
	if err != nil {
		http.NotFound(out, r)
		return
	}
	etag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))[:16])
	out.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		out.WriteHeader(http.StatusNotModified)
		return
	}
	out.Header().Set("Content-Type", kind(text))
	out.Write(text)
}

func kind(text []byte) string {
	switch {
	case strings.HasPrefix(string(text), "{"):
		return "application/feed+json"
	case strings.HasPrefix(string(text), "<!doctype html"):
		return "text/html; charset=utf-8"
	default:
		return "application/xml"
	}
}

func (w *web) receive(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var message struct{ Text string }
	json.Unmarshal(body, &message)
	w.mu.Lock()
	w.posts = append(w.posts, r.URL.Path+" "+strings.ReplaceAll(message.Text, "\n", " ")+"\n")
	answer := "204"
	if next := w.answers[r.URL.Path]; len(next) > 0 {
		answer, w.answers[r.URL.Path] = next[0], next[1:]
	}
	w.mu.Unlock()
	if answer == "reset" {
		panic(http.ErrAbortHandler)
	}
	status, headers, _ := strings.Cut(answer, ",")
	for _, h := range strings.Split(headers, ",") {
		if name, value, ok := strings.Cut(h, "="); ok {
			out.Header().Set(name, value)
		}
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		code = http.StatusTeapot
	}
	out.WriteHeader(code)
}
