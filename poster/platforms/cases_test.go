package platforms_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// cases are the hard cases of posting in testdata/cases, each with its test. Those
// without one here take a whole run, and are tested in cmd/cases_test.go.
var cases = map[string]func(*testing.T, string){
	"bluesky-facets":          testFacets,
	"escape-discord-markdown": testEscapes,
	"hashtags":                testHashtags,
	"http-2xx-variants":       testSuccesses,
	"http-429":                testWaits,
	"http-ambiguous":          testAmbiguous,
	"http-gone":               nil,
	"http-partial-fanout":     nil,
	"http-permanent-400":      nil,
	"http-redirect-post":      testRedirects,
	"http-token-in-log":       nil,
	"length-bluesky":          testLengths,
	"length-discord-telegram": testLengths,
	"mention-discord":         testMentions,
	"mention-mastodon":        testEscapes,
	"title-controls":          testClean,
	"title-empty":             testEmptyTitle,
	"truncate-grapheme":       testTruncate,
	"truncate-url":            testTruncateAroundLink,
	"truncate-word":           testTruncate,
}

// TestHardCases runs what made trouble for somebody, each with the right answer.
func TestHardCases(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/cases/*")
	require.NoError(t, err)
	require.Len(t, folders, len(cases))
	for _, folder := range folders {
		test, ok := cases[filepath.Base(folder)]
		require.True(t, ok, "%s has a test", folder)
		if test == nil {
			continue
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			test(t, folder)
		})
	}
}

// readCase reads one half of a case.
func readCase(t *testing.T, folder, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// plainPoster makes a poster of a platform at a server.
func plainPoster(t *testing.T, platform, server string, client *http.Client) poster.Poster {
	t.Helper()
	name, settings := destination(platform, server)
	driver, ok := platforms.Find(name)
	require.True(t, ok, name)
	p, err := driver.New(settings, poster.Options{Destination: "account", HTTP: client, UserAgent: "bot/test", Now: func() time.Time { return now }})
	require.NoError(t, err)
	return p
}

// attempt posts once at a server, and returns how it went.
func attempt(t *testing.T, platform, server string, client *http.Client) error {
	t.Helper()
	p := plainPoster(t, platform, server, client)
	m, err := p.Render(poster.Post{ID: "id", Text: "text"})
	require.NoError(t, err)
	_, err = p.Post(t.Context(), m)
	return err
}

// spoken renders a template of a case for an article.
func spoken(t *testing.T, template string, a poster.Article, traits poster.Traits) string {
	t.Helper()
	template = strings.NewReplacer("{title}", "{{.Title}}", "{url}", "{{.URL}}").Replace(template)
	parsed, err := poster.ParseTemplate(template)
	require.NoError(t, err)
	text, err := parsed.Render(a, "account", traits)
	require.NoError(t, err)
	return text
}

func testFacets(t *testing.T, folder string) {
	var in struct{ Texts []string }
	type facet struct {
		Start int    `json:"byteStart"`
		End   int    `json:"byteEnd"`
		URI   string `json:"uri"`
		Tag   string `json:"tag"`
	}
	var want struct{ Facets [][]facet }
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	for i, text := range in.Texts {
		m, err := plainPoster(t, "bluesky", "http://127.0.0.1:9", nil).Render(poster.Post{ID: "id", Text: text})
		require.NoError(t, err)
		var body struct {
			Record struct {
				Facets []struct {
					Index    facet
					Features []facet
				}
			}
		}
		require.NoError(t, json.Unmarshal(m.Body, &body))
		var got []facet
		for _, f := range body.Record.Facets {
			require.Len(t, f.Features, 1)
			got = append(got, facet{f.Index.Start, f.Index.End, f.Features[0].URI, f.Features[0].Tag})
		}
		require.Equal(t, want.Facets[i], got)
	}
}

// results are texts, with others that are as good.
type results struct {
	Results    []string            `json:"results"`
	ResultsAny map[string][]string `json:"results_any"`
}

// good returns the answers that are right for the nth text.
func (r results) good(n int) []string {
	return append([]string{r.Results[n]}, r.ResultsAny[string(rune('0'+n))]...)
}

func testEscapes(t *testing.T, folder string) {
	var in struct {
		Platform, Template string
		Cases              []struct{ Title, URL string }
	}
	var want results
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	traits := plainPoster(t, in.Platform, "http://127.0.0.1:9", nil).Traits()
	for i, c := range in.Cases {
		require.Contains(t, want.good(i), spoken(t, in.Template, poster.Article{Title: c.Title, URL: c.URL}, traits))
	}
}

func testHashtags(t *testing.T, folder string) {
	var in struct{ Categories []string }
	var want struct {
		Tags    []*string            `json:"tags"`
		TagsAny map[string][]*string `json:"tags_any"`
	}
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	got := strings.Fields(spoken(t, "{{hashtags .Categories}} {url}", poster.Article{URL: "https://example.jp/a", Categories: in.Categories}, poster.Traits{}))
	got = got[:len(got)-1]
	for i, tag := range want.Tags {
		good := want.TagsAny[jsonText(i)]
		good = append(good, tag)
		isNext := func(one *string) bool { return one != nil && len(got) > 0 && *one == got[0] }
		if slices.ContainsFunc(good, isNext) {
			got = got[1:]
			continue
		}
		require.Contains(t, good, (*string)(nil), "%q makes no tag", in.Categories[i])
	}
	require.Empty(t, got)
}

func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// step is an answer to one request of a case.
type step struct {
	Platform string
	Response scripted
}

// scripted is an answer, or the name of what happens in place of one.
type scripted struct {
	Event string
	postertest.Answer
}

func (s *scripted) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &s.Event) == nil {
		return nil
	}
	var a struct {
		Status  int
		Headers map[string]string
		Body    string
		JSON    json.RawMessage
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	s.Answer = postertest.Answer{Status: a.Status, Header: a.Headers, Body: a.Body + string(a.JSON)}
	return nil
}

func testSuccesses(t *testing.T, folder string) {
	var in struct{ Steps []step }
	var want struct{ Posted []bool }
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	names := map[string]string{"webhook": "generic-http", "slack-api": "slack"}
	for i, s := range in.Steps {
		platform := s.Platform
		if name, ok := names[platform]; ok {
			platform = name
		}
		err := attempt(t, platform, postertest.Serve(t, s.Response.Answer).URL, &http.Client{})
		require.Equal(t, want.Posted[i], err == nil, "step %d: %v", i, err)
	}
}

// testWaits: that a destination is left alone for as long as it asks, the step
// with nothing said of it for a while of our own, is in the queue's tests.
func testWaits(t *testing.T, folder string) {
	var in struct{ Steps []step }
	readCase(t, folder, "input", &in)
	wait := []time.Duration{2 * time.Second, 2285 * time.Second, time.Second, 5 * time.Minute}
	require.Len(t, in.Steps, len(wait))
	for i, s := range in.Steps {
		name, settings := destination("discord", postertest.Serve(t, s.Response.Answer).URL)
		driver, _ := platforms.Find(name)
		midnight := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
		p, err := driver.New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return midnight }})
		require.NoError(t, err)
		_, err = p.Post(t.Context(), poster.Message{ID: "id", Body: []byte("{}")})
		var e *poster.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, poster.Later, e.Outcome)
		require.Equal(t, midnight.Add(wait[i]), e.NotBefore, "step %d", i)
	}
}

// testAmbiguous: what follows from an unknown outcome is in the queue's tests. The
// case would repeat at once what Mastodon did not answer; here the account is asked
// first, since the key has been seen to fail.
func testAmbiguous(t *testing.T, folder string) {
	var in struct{ Steps []step }
	readCase(t, folder, "input", &in)
	want := []poster.Outcome{poster.Unknown, poster.Delivered, poster.Unknown, poster.Later, poster.Unknown}
	require.Len(t, in.Steps, len(want))
	var mu sync.Mutex
	var keys []string
	for i, s := range in.Steps {
		platform := s.Platform
		if platform == "webhook" {
			platform = "generic-http"
		}
		client, answer := &http.Client{}, s.Response.Answer
		if platform == "mastodon" {
			answer.Body = `{"id":"7"}`
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			mu.Unlock()
			_, _ = io.Copy(io.Discard, r.Body)
			switch s.Response.Event {
			case "timeout":
				<-r.Context().Done()
			case "connection reset after request was written":
				c, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_ = c.Close()
				}
			default:
				answer.ServeHTTP(w, r)
			}
		}))
		t.Cleanup(server.Close)
		switch s.Response.Event {
		case "timeout":
			client.Timeout = 100 * time.Millisecond
		case "connection refused":
			server.Close()
		}
		require.Equal(t, want[i], poster.OutcomeOf(attempt(t, platform, server.URL, client)), "step %d", i)
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, "id", keys[0])
	require.Equal(t, keys[0], keys[1], "one key for all attempts")
}

// testRedirects: the case would follow a 307 to the same host. Here no redirect of a
// post is followed, and all of them pause the destination.
func testRedirects(t *testing.T, folder string) {
	var in struct{ Steps []step }
	readCase(t, folder, "input", &in)
	require.Len(t, in.Steps, 4)
	for i, s := range in.Steps {
		server := postertest.Serve(t, s.Response.Answer)
		err := attempt(t, "generic-http", server.URL, &http.Client{})
		require.Equal(t, poster.RejectedDestination, poster.OutcomeOf(err), "step %d", i)
		require.Contains(t, err.Error(), "set the address that it leads to")
		require.Len(t, server.Requests(), 1, "nothing is sent on")
	}
}

func testLengths(t *testing.T, folder string) {
	var in struct {
		Platform string
		Limit    int
		Bytes    int `json:"limit_bytes"`
		Texts    []string
	}
	var want struct {
		Rows []struct {
			Count, Bytes, UTF16 int
			Fits                bool
			Safe                bool `json:"fits_safe"`
		}
	}
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	limit := plainPoster(t, in.Platform, "http://127.0.0.1:9", nil).Traits().Limit
	require.LessOrEqual(t, limit.Max, in.Limit)
	require.Equal(t, in.Bytes, limit.MaxBytes)
	for i, text := range in.Texts {
		row, count := want.Rows[i], limit.Count(text)
		if in.Platform == "bluesky" {
			require.Equal(t, row.Bytes, len(text))
			require.Equal(t, row.Fits, count <= in.Limit && len(text) <= in.Bytes, "text %d", i)
		} else {
			require.Equal(t, row.Safe, count <= in.Limit, "text %d", i)
		}
		// Characters of Indic scripts are counted as more by older rules, which is the
		// safe side.
		require.GreaterOrEqual(t, count, row.Count+row.UTF16, "text %d", i)
	}
}

func testMentions(t *testing.T, folder string) {
	var in struct{ Platform, Title, URL string }
	var want struct {
		Contains map[string]any `json:"json_contains"`
	}
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	p := plainPoster(t, in.Platform, "http://127.0.0.1:9", nil)
	a := poster.Article{Title: in.Title, URL: in.URL}
	m, err := p.Render(poster.Post{ID: "id", Text: spoken(t, poster.DefaultTemplate, a, p.Traits()), Article: a})
	require.NoError(t, err)
	var body map[string]any
	require.NoError(t, json.Unmarshal(m.Body, &body))
	for key, value := range want.Contains {
		require.Equal(t, value, body[key])
	}
	require.Contains(t, body["content"], "@everyone")
}

func testClean(t *testing.T, folder string) {
	var in struct{ Cases []string }
	var want results
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	for i, title := range in.Cases {
		require.Contains(t, want.good(i), poster.CleanLine(title))
	}
}

func testEmptyTitle(t *testing.T, folder string) {
	var in struct{ Template, Title, URL string }
	var want struct{ Text string }
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	require.Equal(t, want.Text, spoken(t, in.Template, poster.Article{Title: in.Title, URL: in.URL}, poster.Traits{}))
}

func testTruncate(t *testing.T, folder string) {
	var in struct {
		Cases []struct {
			Text string
			Max  int `json:"max_graphemes"`
		}
	}
	var want struct {
		Results []string   `json:"results"`
		Any     [][]string `json:"results_any"`
	}
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	for i, c := range in.Cases {
		text := spoken(t, "{{truncate "+jsonText(c.Max)+" .Title}}|{url}", poster.Article{Title: c.Text, URL: "https://example.jp/a"}, poster.Traits{})
		good := want.Any
		if good == nil {
			good = make([][]string, len(want.Results))
			for n, one := range want.Results {
				good[n] = []string{one}
			}
		}
		require.Contains(t, good[i], strings.TrimSuffix(text, "|https://example.jp/a"))
	}
}

func testTruncateAroundLink(t *testing.T, folder string) {
	var in struct{ Platform, Template, Title, URL string }
	var want struct {
		End   string `json:"text_ends_with"`
		Count int    `json:"count"`
	}
	readCase(t, folder, "input", &in)
	readCase(t, folder, "expected", &want)
	traits := plainPoster(t, in.Platform, "http://127.0.0.1:9", nil).Traits()
	text := spoken(t, in.Template, poster.Article{Title: in.Title, URL: in.URL}, traits)
	require.True(t, strings.HasSuffix(text, want.End))
	require.Equal(t, want.Count, traits.Limit.Count(text))
}
