package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dedupeCase is one scenario of testdata/dedupe: how bots that others wrote announced
// something twice, or never.
type dedupeCase struct {
	Config struct {
		Destinations []json.RawMessage
		FirstRun     string `json:"first_run"`
		Sources      map[string]struct {
			IgnoreParams []string `json:"ignore_params"`
		}
	}
	InitialState struct {
		Posted, Queued, Failed []map[string]any
	} `json:"initial_state"`
	Variants []struct {
		StateBytes *string `json:"state_bytes"`
		State      string
	}
	Runs []struct {
		Command, Now, Fetch string
		Feeds               map[string][]sceneItem
		Responses           []any
	}
}

// dedupeWant is what has to come of it.
type dedupeWant struct {
	Enqueued           [][]any
	EnqueuedAny        [][]any        `json:"enqueued_any"`
	EnqueuedCount      []int          `json:"enqueued_count"`
	EnqueuedTotal      map[string]int `json:"enqueued_total"`
	StateAfterContains map[string]any `json:"state_after_contains"`
	PostAttempts       map[string]int `json:"post_attempts"`
	PostedAfter        [][]string     `json:"posted_after"`
	Outcomes           []string
}

// dedupeCases are all scenarios, and how each is played. Nil: its runs collect, and
// what they queue is compared.
var dedupeCases = map[string]func(*testing.T, dedupeCase, dedupeWant){
	"clock-set-back":              nil,
	"crash-between-post-and-save": playCrash,
	"disk-full-on-save":           playFullDisk,
	"empty-then-back":             nil,
	"first-run-empty-then-full":   nil,
	"first-run-flood":             nil,
	"flapping-feed":               nil,
	"guid-http-to-https":          nil,
	"guid-reused":                 nil,
	"late-item":                   nil,
	"legacy-url-only":             nil,
	"overlapping-runs":            playTogether,
	"pruned-then-back":            nil,
	"queued-counts-as-known":      nil,
	"random-guid":                 nil,
	"same-timestamp":              nil,
	"saved-although-post-failed":  playAnswers,
	"scheduled-post-idempotency":  playTimeout,
	"slug-changed":                nil,
	"slug-changed-guid-kept":      nil,
	"stale-lock":                  playStaleLock,
	"state-empty-file":            playBrokenState,
	"two-destinations":            nil,
	"two-feeds-one-article":       nil,
	"two-machines":                playTwoMachines,
	"volatile-param":              nil,
}

// decidedOtherwise is what is queued where the scenario leaves the choice to the
// program, as destination and address for each run.
var decidedOtherwise = map[string][][]string{
	// A destination that is new begins with first_run, which takes everything here.
	"two-destinations": {{"dst-a https://example.jp/b", "dst-b https://example.jp/a", "dst-b https://example.jp/b"}},
	// Nothing tells a corrected address with a guid of its own from a new article.
	"slug-changed": {{"dst-a https://example.jp/a"}, {"dst-a https://example.jp/x/a"}},
}

func TestHowOthersAnnouncedTwice(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(filepath.Join("testdata", "dedupe"))
	require.NoError(t, err)
	require.Len(t, folders, len(dedupeCases), "every scenario is played")
	for _, folder := range folders {
		name := folder.Name()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play, ok := dedupeCases[name]
			require.True(t, ok, "no way to play it")
			var c dedupeCase
			var want dedupeWant
			readCase(t, name, "input.json", &c)
			readCase(t, name, "expected.json", &want)
			if play == nil {
				playRuns(t, name, c, want)
				return
			}
			play(t, c, want)
		})
	}
}

func readCase(t *testing.T, name, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "dedupe", name, file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// plain is an address as the scene serves it, without TLS.
func plain(address string) string { return strings.Replace(address, "https://", "http://", 1) }

func webhookOf(destination string) string { return "http://hooks.example/" + destination }

// open sets a scene for the case: its destinations, sources and records. Unless known is
// false, its sources take everything, so that only the ledger is in the way.
func (c dedupeCase) open(t *testing.T, known bool) *scene {
	t.Helper()
	var config strings.Builder
	config.WriteString("destinations:\n")
	for _, raw := range c.Config.Destinations {
		var d struct{ Name, Type string }
		if err := json.Unmarshal(raw, &d); err != nil {
			require.NoError(t, json.Unmarshal(raw, &d.Name))
		}
		if d.Type == "mastodon" {
			fmt.Fprintf(&config, "  - {name: %s, type: mastodon, server: http://masto.example, token: tttttttt}\n", d.Name)
		} else {
			fmt.Fprintf(&config, "  - {name: %s, webhook: %q}\n", d.Name, webhookOf(d.Name))
		}
	}
	feeds := map[string]bool{}
	for _, run := range c.Runs {
		for at := range run.Feeds {
			feeds[at] = true
		}
	}
	if len(feeds) > 0 {
		config.WriteString("sources:\n")
	}
	for n, at := range sortedKeys(feeds) {
		fmt.Fprintf(&config, "  - {name: s%d, feed: %q", n, plain(at))
		if known {
			config.WriteString(", first_run: all, max_age: 520w")
		}
		if params := c.Config.Sources[at].IgnoreParams; params != nil {
			fmt.Fprintf(&config, ", strip_params: [%s]", strings.Join(params, ", "))
		}
		config.WriteString("}\n")
	}
	s := newScene(t, config.String())
	s.run(0, "init")
	s.records("posted.json", "", c.InitialState.Posted)
	s.records("queue.json", "failed", c.InitialState.Failed, c.InitialState.Queued...)
	return s
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// records writes a state file as an earlier bot did: the first ones with this status.
func (s *scene) records(file, status string, first []map[string]any, more ...map[string]any) {
	s.t.Helper()
	list := []map[string]any{}
	for i, r := range append(slices.Clone(first), more...) {
		if d, ok := r["destination"].(string); ok {
			r["webhook"] = webhookOf(d)
			delete(r, "destination")
		}
		if file == "queue.json" {
			r["due_at"] = "2026-11-29T00:00:00Z"
			if i < len(first) {
				r["status"] = status
			}
		}
		list = append(list, r)
	}
	text, err := json.Marshal(list)
	require.NoError(s.t, err)
	s.write("state/"+file, string(text))
}

// set sets the clock, if the run says to what.
func (s *scene) set(now string) {
	s.t.Helper()
	if now == "" {
		s.now = s.now.Add(time.Hour)
		return
	}
	at, err := time.Parse(time.RFC3339, now)
	require.NoError(s.t, err)
	s.now = at
}

func playRuns(t *testing.T, name string, c dedupeCase, want dedupeWant) {
	t.Helper()
	s := c.open(t, !strings.HasPrefix(name, "first-run-"))
	total := map[string]int{}
	var accepted [][]string
	if decided := decidedOtherwise[name]; decided != nil {
		accepted = decided
	} else {
		for _, list := range want.Enqueued {
			accepted = append(accepted, named(c, list))
		}
	}
	for i, run := range c.Runs {
		s.set(run.Now)
		code := 0
		for at, list := range run.Feeds {
			s.serve(strings.TrimPrefix(at, "https://"), feed(list))
			if run.Fetch != "" {
				s.serve(strings.TrimPrefix(at, "https://"), body("<!doctype html><title>Just a moment...</title>"))
				code = 3
			}
		}
		got := s.enqueue(code).queued()
		for _, line := range got {
			_, url, _ := strings.Cut(line, " ")
			total[url]++
		}
		if accepted != nil {
			require.ElementsMatch(t, accepted[i], got, "run %d", i)
		}
		if want.EnqueuedCount != nil {
			require.Len(t, got, want.EnqueuedCount[i], "run %d", i)
		}
	}
	for url, n := range want.EnqueuedTotal {
		require.Equal(t, n, total[url], url)
	}
	for field, value := range want.StateAfterContains {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.Contains(t, s.read("state/posted.json"), fmt.Sprintf("%q:%s", field, text))
	}
	require.True(t, accepted != nil || want.EnqueuedCount != nil || want.EnqueuedTotal != nil, "something is compared")
}

// named returns what is expected of a run as destination and address.
func named(c dedupeCase, list []any) []string {
	all := []string{}
	for _, one := range list {
		switch one := one.(type) {
		case string:
			var only string
			_ = json.Unmarshal(c.Config.Destinations[0], &only)
			all = append(all, only+" "+one)
		case map[string]any:
			all = append(all, fmt.Sprint(one["destination"], " ", one["url"]))
		}
	}
	return all
}
