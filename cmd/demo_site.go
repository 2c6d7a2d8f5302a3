package cmd

import (
	"bytes"
	"context"
	"embed"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed demo
var demoFiles embed.FS

// demoSite is the outside of the demonstration on this machine's loopback: the
// sites' feeds, and a receiver that counts what each account is sent.
type demoSite struct {
	url    string
	client *http.Client
	server *http.Server
	// later makes the games site show its later feed.
	later atomic.Bool

	mu    sync.Mutex
	posts demoPosts
}

// demoPosts counts what each account was sent.
type demoPosts map[string]int

func (p demoPosts) total() int {
	n := 0
	for _, c := range p {
		n += c
	}
	return n
}

func newDemoSite(ctx context.Context) (*demoSite, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &demoSite{url: "http://" + listener.Addr().String(), client: &http.Client{}, posts: make(demoPosts)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.feed)
	mux.HandleFunc("POST /hook/{account}", s.receive)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go s.server.Serve(listener) //nolint:errcheck // it ends with close
	return s, nil
}

func (s *demoSite) close() { s.server.Close() }

func (s *demoSite) feed(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	if name == "games.json" && s.later.Load() {
		name = "later.json"
	}
	data, err := demoFiles.ReadFile("demo/" + name)
	if err != nil || name == "bot.yaml" {
		http.NotFound(w, r)
		return
	}
	kind := "application/rss+xml"
	if strings.HasSuffix(name, ".json") {
		kind = "application/feed+json"
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

func (s *demoSite) receive(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.posts[r.PathValue("account")]++
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// received returns a copy of the counts.
func (s *demoSite) received() demoPosts {
	s.mu.Lock()
	defer s.mu.Unlock()
	posts := make(demoPosts, len(s.posts))
	for account, n := range s.posts {
		posts[account] = n
	}
	return posts
}
