package platforms_test

import (
	"bufio"
	"encoding/json"
	"errors"
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

// outcomes are those of the rows.
var outcomes = map[string]poster.Outcome{
	"delivered": poster.Delivered, "try_later": poster.Later, "unknown": poster.Unknown,
	"rejected:content": poster.RejectedContent, "rejected:destination": poster.RejectedDestination,
}

// TestEveryAnswerMeansWhatItsPlatformSays runs the rows that are answers.
// The others are in TestEveryEndWithoutAnAnswerMeansWhatItShould and
// TestNothingIsFoundWhereARowSaysSo.
func TestEveryAnswerMeansWhatItsPlatformSays(t *testing.T) {
	t.Parallel()
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

// TestAnswersThatNoRowNames are more of the kind, for the codes that the documents
// of the platforms name.
func TestAnswersThatNoRowNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		platform string
		status   int
		body     string
		want     poster.Outcome
	}{
		{"discord", 401, `{"message":"Invalid Webhook Token","code":50027}`, poster.RejectedDestination},
		{"discord", 400, `{"message":"Cannot send an empty message","code":50006}`, poster.RejectedContent},
		{"discord", 400, `{"message":"blocked by automatic moderation","code":200000}`, poster.RejectedContent},
		{"discord", 503, ``, poster.Unknown},
		{"slack", 400, `invalid_payload`, poster.RejectedContent},
		{"slack", 400, `no_text`, poster.RejectedContent},
		{"slack", 404, `channel_not_found`, poster.RejectedDestination},
		{"slack", 404, `no_team`, poster.RejectedDestination},
		{"slack", 403, `invalid_token`, poster.RejectedDestination},
		{"slack", 403, `posting_to_general_channel_denied`, poster.RejectedDestination},
		{"mastodon", 503, `{"error":"There was a temporary problem serving your request, please try again"}`, poster.Unknown},
		{"mastodon", 403, `{"error":"Your login is currently disabled"}`, poster.RejectedDestination},
		{"bluesky", 400, `{"error":"InvalidRequest","message":"Record/text must not be longer than 300 graphemes"}`, poster.RejectedContent},
		{"bluesky", 401, `{"error":"AuthMissing"}`, poster.RejectedDestination},
		{"bluesky", 403, `{"error":"AccountNotFound"}`, poster.RejectedDestination},
		{"telegram", 400, `{"ok":false,"description":"Bad Request: message is too long"}`, poster.RejectedContent},
		{"telegram", 400, `{"ok":false,"description":"Bad Request: chat not found"}`, poster.RejectedDestination},
		{"telegram", 400, `{"ok":false,"description":"Bad Request: need administrator rights in the channel chat"}`, poster.RejectedDestination},
		{"telegram", 403, `{"ok":false,"description":"Forbidden: bot was kicked from the channel chat"}`, poster.RejectedDestination},
		{"x", 403, `{"detail":"You are not allowed to create a Tweet with duplicate content.","title":"Forbidden"}`, poster.RejectedContent},
		{"x", 403, `{"title":"Client Forbidden","reason":"client-not-enrolled"}`, poster.RejectedDestination},
		{"x", 429, `{"title":"UsageCapExceeded","type":"https://api.x.com/2/problems/usage-capped"}`, poster.RejectedDestination},
		{"teams", 200, ``, poster.Delivered},
		{"teams", 400, `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"trigger is not enabled"}}`, poster.RejectedDestination},
		{"teams", 400, `{"error":{"code":"TriggerInputSchemaMismatch"}}`, poster.RejectedContent},
		{"google-chat", 200, `{"name":"spaces/S/messages/1"}`, poster.Delivered},
		{"google-chat", 200, `{}`, poster.Unknown},
		{"google-chat", 400, `{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, poster.RejectedDestination},
		{"google-chat", 503, `{"error":{"status":"UNAVAILABLE"}}`, poster.Unknown},
		{"ntfy", 403, `{"code":40301,"error":"forbidden"}`, poster.RejectedDestination},
		{"matrix", 404, `{"errcode":"M_NOT_FOUND"}`, poster.RejectedDestination},
		{"matrix", 413, `{"errcode":"M_TOO_LARGE"}`, poster.RejectedContent},
	} {
		t.Run(test.platform+" "+test.body, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, afterLogin{postertest.Answer{Status: test.status, Body: test.body}})
			err := attempt(t, test.platform, s.URL, &http.Client{})
			require.Equal(t, test.want, poster.OutcomeOf(err), "%v", err)
			if said, ok := errors.AsType[*poster.Error](err); ok {
				require.Equal(t, strings.Contains(test.body, "duplicate"), said.Duplicate)
			}
		})
	}
}

// TestEveryRowHasATest keeps the three tests of the rows complete.
func TestEveryRowHasATest(t *testing.T) {
	t.Parallel()
	phases := make(map[string]int)
	for _, r := range readRows(t) {
		phases[r.Phase]++
	}
	require.Equal(t, map[string]int{
		"response": 86, "before_headers_written": 4, "after_headers_written": 5, "after_status": 1, "verify": 1,
	}, phases)
}

// TestNothingIsFoundWhereARowSaysSo runs the rows that are answers to the question
// what became of a post.
func TestNothingIsFoundWhereARowSaysSo(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t) {
		if r.Phase != "verify" {
			continue
		}
		require.Equal(t, "not_found", r.Outcome)
		s := postertest.Serve(t, afterLogin{postertest.Answer{Status: r.Status, Header: r.Headers, Body: r.text()}})
		name, settings := destination(r.Platform, s.URL)
		driver, ok := platforms.Find(name)
		require.True(t, ok)
		p, err := driver.New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return now }})
		require.NoError(t, err)
		m, err := p.Render(poster.Post{ID: "id", Text: "text"})
		require.NoError(t, err)
		verifier, ok := p.(poster.Verifier)
		require.True(t, ok)
		presence, _, err := verifier.Verify(t.Context(), m, now.Add(-time.Hour))
		require.NoError(t, err)
		require.Equal(t, poster.Absent, presence)
	}
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
