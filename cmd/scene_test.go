package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/cmd"

	"github.com/stretchr/testify/require"
)

// scene is a small world in one process: every host of its web is on loopback, and
// its clock stands still until it is set.
type scene struct {
	t      *testing.T
	dir    string
	now    time.Time
	client *http.Client
	// env0 is further environment.
	env0 map[string]string

	mu    sync.Mutex
	pages map[string]http.HandlerFunc // by host and path
	asked []string                    // host and path of every GET, in order
	posts []scenePost
	// answer answers the nth post to the receivers, counted from 0. Nil: 204.
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

// scenePost is what a receiver got.
type scenePost struct {
	// path is the receiver's, key the Idempotency-Key, url the article's address, if the
	// body says it.
	path, key, url, text string
}

func newScene(t *testing.T, config string) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), pages: map[string]http.HandlerFunc{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport}
	s.write("bot.yaml", config)
	return s
}

func (s *scene) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

func (s *scene) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(s.t, err)
	return string(text)
}

// serve puts a page where an address without scheme says.
func (s *scene) serve(at string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[at] = h
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func answers(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// sceneItem is one item of a feed.
type sceneItem struct {
	URL       string `json:"url"`
	Title     string `json:"title"`
	GUID      string `json:"guid"`
	Published string `json:"published"`
}

// feed is a feed of these items.
func feed(items []sceneItem) http.HandlerFunc {
	type item struct {
		ID        string `json:"id"`
		URL       string `json:"url"`
		Title     string `json:"title"`
		Published string `json:"date_published,omitempty"`
	}
	list := []item{}
	for _, i := range items {
		list = append(list, item{i.GUID, i.URL, i.Title, i.Published})
	}
	text, err := json.Marshal(map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": list})
	if err != nil {
		panic(err)
	}
	return body(string(text))
}

// tagged is a handler whose answer has this ETag, for those who do not have it yet.
func tagged(etag string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		etag := `"` + etag + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h(w, r)
	}
}

func (s *scene) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.receive(w, r)
		return
	}
	at := r.Host + r.URL.RequestURI()
	s.mu.Lock()
	s.asked = append(s.asked, at)
	h := s.pages[at]
	s.mu.Unlock()
	if h == nil {
		h = http.NotFound
	}
	h(w, r)
}

func (s *scene) receive(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var said struct{ URL, Text, Status string }
	json.Unmarshal(raw, &said)
	p := scenePost{path: r.URL.Path, key: r.Header.Get("Idempotency-Key"), url: said.URL, text: said.Text + said.Status}
	if p.url == "" {
		lines := strings.Fields(p.text)
		p.url = lines[len(lines)-1]
	}
	s.mu.Lock()
	n := len(s.posts)
	s.posts = append(s.posts, p)
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(n, w, r)
}

// env is the world for one run.
func (s *scene) env(stdout, stderr io.Writer, args ...string) cmd.Env {
	return cmd.Env{
		Args: args, Dir: s.dir, HTTP: s.client, Stdout: stdout, Stderr: stderr,
		Now:      func() time.Time { return s.now },
		Hostname: func() (string, error) { return "box", nil },
		Getenv: func(name string) string {
			if name == "FLEET_HOST" {
				return "box"
			}
			return s.env0[name]
		},
	}
}

// exit runs the program and returns its code and what it said.
func (s *scene) exit(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = cmd.Run(s.t.Context(), s.env(&out, &out, args...))
	return code, out.String()
}

// run runs the program, which has to exit with this code, and returns what it said.
func (s *scene) run(want int, args ...string) string {
	s.t.Helper()
	code, said := s.exit(args...)
	require.Equal(s.t, want, code, "bot %v: %s", args, said)
	return said
}

// enqueued is the report of enqueue.
type enqueued struct {
	Matched, Queued, Already, Skipped, Held, Refused int
	Waiting                                          []struct{ Source, URL, Reason string }
	Entries                                          []struct{ Destination, Source, URL, Verdict, Reason string }
}

// queued returns what was queued, as destination and address, or address alone for a
// fleet with one destination.
func (e enqueued) queued() []string {
	urls := []string{}
	for _, entry := range e.Entries {
		if entry.Verdict == "queued" {
			urls = append(urls, entry.Destination+" "+entry.URL)
		}
	}
	return urls
}

// enqueue collects and queues, which has to exit with this code.
func (s *scene) enqueue(want int, args ...string) enqueued {
	s.t.Helper()
	var out, log bytes.Buffer
	code := cmd.Run(s.t.Context(), s.env(&out, &log, append([]string{"enqueue", "--json"}, args...)...))
	require.Equal(s.t, want, code, "%s%s", out.String(), log.String())
	var e enqueued
	if out.Len() > 0 {
		require.NoError(s.t, json.Unmarshal(out.Bytes(), &e), out.String())
	}
	require.Equal(s.t, e.Matched, e.Queued+e.Already+e.Skipped+e.Held+e.Refused)
	return e
}
