package platforms_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestTheListIsSortedAndWhatIsToComeIsNotInIt(t *testing.T) {
	t.Parallel()
	names := platforms.Names()
	require.True(t, slices.IsSorted(names))
	for _, name := range names {
		driver, ok := platforms.Find(name)
		require.True(t, ok)
		require.Equal(t, name, driver.Name)
		require.False(t, platforms.Later(name))
	}
	_, ok := platforms.Find("pigeon")
	require.False(t, ok)
	require.False(t, platforms.Later("pigeon"))
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
		"now+64.57s (ceil)": 65 * time.Second, "now+1336.57s": 1337 * time.Second,
	}
	drivers := map[string]string{"generic-http": "webhook", "discord": "discord", "slack": "slack"}
	tested := make(map[string]int)
	for _, r := range readRows(t) {
		name, ok := drivers[r.Platform]
		if !ok || r.Phase != "response" {
			continue
		}
		tested[r.Platform]++
		t.Run(r.Platform+" "+r.Name, func(t *testing.T) {
			t.Parallel()
			body := r.text()
			s := postertest.Serve(t, postertest.Answer{Status: r.Status, Header: r.Headers, Body: body})
			driver, _ := platforms.Find(name)
			p, err := driver.New(postertest.Settings{"webhook": s.URL + "/" + postertest.Secret}, poster.Options{
				Destination: "account", HTTP: &http.Client{}, UserAgent: "bot/test", Now: func() time.Time { return postertest.Now },
			})
			require.NoError(t, err)
			m, err := p.Render(poster.Post{ID: "id", Text: "text"})
			require.NoError(t, err)
			_, err = p.Post(t.Context(), m)
			require.Equal(t, outcomes[r.Outcome], poster.OutcomeOf(err), "%v", err)
			if wait, ok := waits[r.NotBefore]; ok {
				var e *poster.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, postertest.Now.Add(wait), e.NotBefore)
			}
		})
	}
	require.Equal(t, map[string]int{"generic-http": 24, "discord": 8, "slack": 8}, tested)
}

func readRows(t *testing.T) []row {
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
