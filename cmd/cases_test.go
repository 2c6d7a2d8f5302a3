package cmd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The hard cases of posting that take a whole run. The others, and the list of all,
// are in poster/platforms/cases_test.go.

// postCase reads one half of a case.
func postCase(t *testing.T, name, half string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "poster", "platforms", "testdata", "cases", name, half+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// postStep is an answer to one post of a case.
type postStep struct {
	Destination string
	URL         string
	Response    json.RawMessage
}

// answer is the status and the body of the step's answer; zero where there is none.
func (s postStep) answer(t *testing.T) (int, string) {
	t.Helper()
	var a struct {
		Status int
		Body   string
		JSON   json.RawMessage
	}
	if strings.HasPrefix(string(s.Response), `"`) {
		return 0, ""
	}
	require.NoError(t, json.Unmarshal(s.Response, &a))
	return a.Status, a.Body + string(a.JSON)
}

// hookReceiver answers the posts at each path as it is told to, the rest with 204, and
// counts them.
type hookReceiver struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string][]postStep
	posts   map[string]int
}

func receive(t *testing.T) (*hookReceiver, string) {
	t.Helper()
	r := &hookReceiver{t: t, answers: map[string][]postStep{}, posts: map[string]int{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return r, s.URL
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := strings.TrimPrefix(req.URL.Path, "/")
	r.posts[at]++
	if len(r.answers[at]) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status, body := r.answers[at][0].answer(r.t)
	r.answers[at] = r.answers[at][1:]
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestADestinationThatIsGoneKeepsItsEntries(t *testing.T) {
	t.Parallel()
	var in struct{ Steps []postStep }
	var want struct {
		Attempts int `json:"attempts_per_run"`
		Lost     int `json:"items_lost"`
	}
	postCase(t, "http-gone", "input", &in)
	postCase(t, "http-gone", "expected", &want)
	for _, step := range in.Steps {
		r, server := receive(t)
		s := newSite(t, server, "destinations:\n  - {name: gone, webhook: \"${SERVER}/gone\"}\n  - {name: other, webhook: \"${SERVER}/other\"}\n")
		s.run("init")
		s.run("enqueue", "--url", "https://a.example/1", "--url", "https://a.example/2")
		r.answers["gone"] = []postStep{step}
		for range 3 {
			code, _ := s.run("process")
			require.Contains(t, []int{5, 0}, code)
		}
		require.Equal(t, map[string]int{"gone": want.Attempts, "other": 2}, r.posts)
		require.Len(t, s.ids(), 2-want.Lost, "its entries wait")
		_, out := s.run("status")
		require.Contains(t, out, "bot resume gone")
		s.run("resume", "gone")
		code, out := s.run("process")
		require.Zero(t, code, out)
		require.Equal(t, 3, r.posts["gone"])
	}
}

func TestADestinationThatFailsLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	var in struct{ Steps []postStep }
	var want struct{ Attempts map[string]int }
	postCase(t, "http-partial-fanout", "input", &in)
	postCase(t, "http-partial-fanout", "expected", &want)
	r, server := receive(t)
	config := "destinations:\n"
	for _, name := range []string{"a", "b", "c"} {
		config += "  - {name: " + name + ", webhook: \"${SERVER}/" + name + "\", idempotent: true}\n"
	}
	s := newSite(t, server, config)
	s.run("init")
	s.run("enqueue", "--url", "https://a.example/1")
	for _, step := range in.Steps {
		r.answers[step.Destination] = append(r.answers[step.Destination], step)
	}
	s.run("process")
	s.now = s.now.Add(time.Hour)
	code, out := s.run("process")
	require.Zero(t, code, out)
	require.Equal(t, want.Attempts, r.posts)
}

func TestAnEntryThatIsRefusedBlocksNoOther(t *testing.T) {
	t.Parallel()
	var in struct{ Steps []postStep }
	var want struct {
		States   []string
		Attempts []int
	}
	postCase(t, "http-permanent-400", "input", &in)
	postCase(t, "http-permanent-400", "expected", &want)
	r, server := receive(t)
	s := newSite(t, server, "destinations:\n  - {name: news, webhook: \"${SERVER}/news\"}\n")
	s.run("init")
	s.run("enqueue", "--url", "https://a.example/1", "--url", "https://a.example/2")
	r.answers["news"] = in.Steps
	code, _ := s.run("process")
	require.Equal(t, 5, code)
	s.now = s.now.Add(time.Hour)
	s.run("enqueue", "--url", "https://a.example/1", "--url", "https://a.example/2")
	s.run("process")
	require.Equal(t, map[string]int{"news": want.Attempts[0] + want.Attempts[1]}, r.posts)
	_, out := s.run("export")
	for i, state := range want.States {
		require.Regexp(t, `"url":"https://a.example/`+string(rune('1'+i))+`".*"status":"`+state+`".*"attempts":1`, out)
	}
}

func TestAWebhooksSecretIsNowhere(t *testing.T) {
	t.Parallel()
	var in struct{ Steps []postStep }
	var want struct {
		Hidden string `json:"must_not_contain"`
	}
	postCase(t, "http-token-in-log", "input", &in)
	postCase(t, "http-token-in-log", "expected", &want)
	for _, step := range in.Steps {
		status, body := step.answer(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		config := "destinations:\n  - {name: news, webhook: \"${SERVER}\"}\n"
		if strings.Contains(step.URL, "feed") {
			config += "sources:\n  - {name: feed, feed: \"${SERVER}\"}\n"
		}
		s := newSite(t, step.URL, config)
		s.client = &http.Client{Transport: leading{server.Listener.Addr().String()}}
		s.everything()
		s.run("run", "--log-level", "debug")
		requireNowhere(t, s, want.Hidden)
	}
}

// leading is a way to a server from every address.
type leading struct{ to string }

func (l leading) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", l.to
	return http.DefaultTransport.RoundTrip(r)
}
