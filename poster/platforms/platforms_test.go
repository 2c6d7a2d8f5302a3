package platforms_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestTheListIsSortedAndFindsWhatIsInIt(t *testing.T) {
	t.Parallel()
	names := platforms.Names()
	require.True(t, slices.IsSorted(names))
	for _, name := range names {
		driver, ok := platforms.Find(name)
		require.True(t, ok)
		require.Equal(t, name, driver.Name)
	}
	_, ok := platforms.Find("pigeon")
	require.False(t, ok)
}

// row is one case of testdata/outcomes.jsonl: what an answer of a platform means.
type row struct {
	Platform  string            `json:"platform"`
	Name      string            `json:"name"`
	Phase     string            `json:"phase"`
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"`
	Body      json.RawMessage   `json:"body"`
	Outcome   string            `json:"outcome"`
	NotBefore string            `json:"not_before"`
}

// text is the body as it goes over the wire: JSON, or the text of a string.
func (r row) text() string {
	var s string
	if json.Unmarshal(r.Body, &s) == nil {
		return s
	}
	return string(r.Body)
}

// TestEveryAnswerMeansWhatItsPlatformSays runs the rows that are answers. What a
// connection without an answer means is part of the contract that every poster's
// own test runs.
func TestEveryAnswerMeansWhatItsPlatformSays(t *testing.T) {
	t.Parallel()
	outcomes := map[string]poster.Outcome{
		"delivered": poster.Delivered, "try_later": poster.Later, "unknown": poster.Unknown,
		"rejected:content": poster.RejectedContent, "rejected:destination": poster.RejectedDestination,
	}
	// The times are those of the rows, worked out for the clock of the tests.
	waits := map[string]time.Duration{
		"now+30s": 30 * time.Second, "now+120s": 2 * time.Minute,
		"now+35s": 35 * time.Second, "now+2s (header in s, body in ms)": 2 * time.Second,
		"now+60s (no header; bucket refills 1 per 5s)": time.Minute, "backoff >= 60s, no header documented": time.Minute,
		"now+64.57s (ceil)": 65 * time.Second, "now+1336.57s": 1337 * time.Second,
	}
	times := map[string]time.Time{
		"2026-11-30T23:06:50Z":                              time.Date(2026, 11, 30, 23, 6, 50, 0, time.UTC),
		"unix 1796079116 (or Retry-After on newer servers)": time.Unix(1796079116, 0),
		"next 00:00 UTC":                                    time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	}
	tested := make(map[string]int)
	for _, r := range readRows(t) {
		if r.Phase != "response" {
			continue
		}
		tested[r.Platform]++
		t.Run(r.Platform+" "+r.Name, func(t *testing.T) {
			t.Parallel()
			body := r.text()
			s := postertest.Serve(t, afterLogin{postertest.Answer{Status: r.Status, Header: r.Headers, Body: body}})
			name, settings := destination(r.Platform, s.URL)
			driver, ok := platforms.Find(name)
			require.True(t, ok)
			p, err := driver.New(settings, poster.Options{
				Destination: "account", HTTP: &http.Client{}, UserAgent: "bot/test", Now: func() time.Time { return now },
			})
			require.NoError(t, err)
			m, err := p.Render(poster.Post{ID: "id", Text: "text"})
			require.NoError(t, err)
			_, err = p.Post(t.Context(), m)
			require.Equal(t, outcomes[r.Outcome], poster.OutcomeOf(err), "%v", err)
			at, ok := times[r.NotBefore]
			if wait, waits := waits[r.NotBefore]; waits {
				at, ok = now.Add(wait), true
			}
			if r.NotBefore != "" && r.NotBefore != "unix 1705420800" {
				// X's row names a time that is long over by the clock of the others.
				require.True(t, ok, "the test knows the time %q", r.NotBefore)
			}
			if ok {
				var e *poster.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, at.UTC(), e.NotBefore.UTC())
			}
		})
	}
	require.Equal(t, map[string]int{
		"generic-http": 24, "discord": 8, "slack": 8, "mastodon": 5, "gotosocial": 3, "bluesky": 11, "telegram": 7,
		"x": 3, "teams": 4, "google-chat": 3, "ntfy": 5, "matrix": 5,
	}, tested)
}

// now is the time by the clock of the recorded answers.
var now = time.Date(2026, 11, 30, 22, 50, 0, 0, time.UTC)

// afterLogin answers a login by itself, where a platform has one, and leaves the
// rest to the recorded answer.
type afterLogin struct{ answer postertest.Answer }

func (a afterLogin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "Session") {
		a.answer = postertest.Answer{Status: 200, Body: login}
	}
	a.answer.ServeHTTP(w, r)
}

// destination returns the driver and the settings for rows of a platform.
func destination(platform, server string) (string, postertest.Settings) {
	const secret = postertest.Secret
	switch platform {
	case "generic-http":
		return "webhook", postertest.Settings{"webhook": server + "/" + secret}
	case "google-chat":
		return "googlechat", postertest.Settings{"webhook": server + "/?key=" + secret}
	case "mastodon", "gotosocial":
		return "mastodon", postertest.Settings{"server": server, "token": secret}
	case "bluesky":
		return "bluesky", postertest.Settings{"server": server, "identifier": "news.example", "password": secret}
	case "telegram":
		return "telegram", postertest.Settings{"server": server, "token": "1:" + secret, "chat": "@news"}
	case "x":
		return "x", postertest.Settings{
			"server": server, "consumer_key": secret, "consumer_secret": secret, "access_token": secret, "access_secret": secret, "paid": true,
		}
	case "ntfy":
		return "ntfy", postertest.Settings{"server": server, "topic": secret}
	case "matrix":
		return "matrix", postertest.Settings{"server": server, "room": "!room:example", "token": secret}
	default:
		return platform, postertest.Settings{"webhook": server + "/" + secret}
	}
}

func readRows(t testing.TB) []row {
	t.Helper()
	file, err := os.Open("testdata/outcomes.jsonl")
	require.NoError(t, err)
	defer file.Close()
	var rows []row
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r row
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NoError(t, lines.Err())
	return rows
}
