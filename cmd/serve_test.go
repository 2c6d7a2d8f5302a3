package cmd_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/cmd"

	"github.com/stretchr/testify/require"
)

// served is a daemon in this process, with a clock that the test moves and a
// loopback receiver for posts and pings.
type served struct {
	t      *testing.T
	dir    string
	stop   context.CancelFunc
	code   chan int
	web    *httptest.Server
	posted chan struct{}
	answer chan struct{}
	pings  chan string

	mu     sync.Mutex
	now    time.Time
	panics bool
	stderr bytes.Buffer
}

func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.Write(p)
}

func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

func (s *served) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *served) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// RoundTrip is the daemon's network. It panics if the test wants it to.
func (s *served) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	panics := s.panics && strings.HasSuffix(r.URL.Path, "/hook")
	s.mu.Unlock()
	if panics {
		panic("on purpose")
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (s *served) env(args ...string) cmd.Env {
	return cmd.Env{
		Args: args, Stdout: io.Discard, Stderr: s, Dir: s.dir, Now: s.clock,
		Getenv:   func(name string) string { return map[string]string{"FLEET_HOST": machine}[name] },
		Hostname: func() (string, error) { return machine, nil },
		HTTP:     &http.Client{Transport: s},
	}
}

func daemon(t *testing.T) *served {
	t.Helper()
	s := &served{
		t: t, dir: t.TempDir(), code: make(chan int, 1), now: time.Date(2026, 8, 3, 9, 0, 30, 0, time.UTC),
		posted: make(chan struct{}, 9), answer: make(chan struct{}), pings: make(chan string, 99),
	}
	s.web = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/ping"); ok {
			body, _ := io.ReadAll(r.Body)
			s.pings <- name + " " + string(body)
			return
		}
		s.posted <- struct{}{}
		<-s.answer
	}))
	t.Cleanup(s.web.Close)
	config := "sources: [{name: list, list: urls.txt, first_run: all}]\n" +
		"destinations: [{name: news, webhook: '" + s.web.URL + "/hook'}]\n" +
		"serve: {enqueue: '* * * * *', process: '30 * * * *', listen: '127.0.0.1:0', ping: '" + s.web.URL + "/ping'}\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "bot.yaml"), []byte(config), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "urls.txt"), []byte("https://blog.example/1\n"), 0o600))
	require.Zero(t, cmd.Run(t.Context(), s.env("init", "--quiet")))
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	t.Cleanup(stop)
	go func() { s.code <- cmd.Run(ctx, s.env("serve")) }()
	s.wait(func() bool { return strings.Contains(s.log(), "msg=serving") })
	return s
}

func (s *served) wait(until func() bool) {
	s.t.Helper()
	require.Eventually(s.t, until, 20*time.Second, 10*time.Millisecond, "%s", s.log())
}

func (s *served) get(path string) (int, string) {
	s.t.Helper()
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(s.log())
	require.NotNil(s.t, address)
	resp, err := http.Get("http://" + address[1] + path)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp.StatusCode, string(body)
}

func TestServeRunsOnScheduleAndFinishesTheSendInFlight(t *testing.T) {
	t.Parallel()
	s := daemon(t)
	s.advance(time.Minute)
	require.Equal(t, "/start enqueue", <-s.pings)
	require.Equal(t, " enqueue: matched=1 queued=1 already=0 skipped=0 held=0 refused=0", <-s.pings)
	status, _ := s.get("/healthz")
	require.Equal(t, http.StatusOK, status)
	_, metrics := s.get("/metrics")
	require.Contains(t, metrics, `bot_queue_entries{destination="news",state="queued"} 1`)
	require.Contains(t, metrics, `bot_source_fetches_total{source="list",status="ok"} 1`)

	s.advance(time.Hour)
	<-s.posted
	s.stop() // as SIGTERM does
	close(s.answer)
	require.Zero(t, <-s.code, "%s", s.log())
	require.Contains(t, s.log(), "due=1 posted=1")
	require.NotContains(t, s.log(), s.web.URL+"/ping", "the address of pings may be secret")
	posted, err := os.ReadFile(filepath.Join(s.dir, "state", "posted.json"))
	require.NoError(t, err)
	require.Contains(t, string(posted), "https://blog.example/1")
}

func TestAPanicInOneRunDoesNotEndTheDaemon(t *testing.T) {
	t.Parallel()
	s := daemon(t)
	s.mu.Lock()
	s.panics = true
	s.mu.Unlock()
	s.advance(time.Hour)
	s.wait(func() bool { return strings.Contains(s.log(), "job=enqueue") })
	s.advance(time.Hour)
	s.wait(func() bool { return strings.Contains(s.log(), "panic in process") })
	status, body := s.get("/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "panic in process, see the log")
	s.wait(func() bool {
		select {
		case ping := <-s.pings:
			return ping == "/fail process: panic in process, see the log"
		default:
			return false
		}
	})
	s.advance(time.Minute)
	before := strings.Count(s.log(), "job=enqueue")
	s.advance(time.Minute)
	s.wait(func() bool { return strings.Count(s.log(), "job=enqueue") > before })
	s.stop()
	require.Zero(t, <-s.code)
}

func TestServeIsRefusedAsAnyCommandThatWrites(t *testing.T) {
	t.Parallel()
	s := daemon(t)
	s.stop()
	require.Zero(t, <-s.code)
	env := s.env("serve")
	env.Hostname = func() (string, error) { return "another", nil }
	require.Equal(t, 4, cmd.Run(t.Context(), env))
}
