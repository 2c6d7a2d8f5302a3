// Package postertest is the contract that every poster must pass. The test of a
// platform calls Run.
package postertest

import (
	"net/http"
	"testing"
	"time"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// Secret is a part of every secret in a fixture's settings. It must never be seen.
const Secret = "HUSHhush0123456789abcdefghijklmnop"

// Now is the time by the clock of every poster under test.
var Now = time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)

// Fixture is a platform under test.
type Fixture struct {
	// Driver makes its posters.
	Driver poster.Driver
	// Settings returns the settings of a destination whose server is at this
	// address, such as http://127.0.0.1:1234. Every secret in them holds Secret.
	Settings func(address string) Settings
	// Delivered is an answer by which the platform says that it has the post.
	Delivered Answer
	// Statuses are those that mean something else here than in the common table.
	Statuses map[int]poster.Outcome
	// AnyAnswer: every 2xx is a delivery, whatever its body.
	AnyAnswer bool
	// Dir returns where the platform finds what it kept from an earlier run against
	// the server at this address. Nil: nothing was kept.
	Dir func(address string) string
	// Local: it makes no requests, so there is nothing to test but what it renders.
	Local bool
	// Stdout is where it prints. Nil: nowhere.
	Stdout *Buffer
}

// With returns the fixture of a destination that has one more setting.
func (f Fixture) With(name string, value any) Fixture {
	settings := f.Settings
	f.Settings = func(address string) Settings {
		s := settings(address)
		s[name] = value
		return s
	}
	return f
}

// Answer is a server's answer to every request.
type Answer struct {
	// Status is the HTTP status.
	Status int
	// Header holds further headers.
	Header map[string]string
	// Body is the body.
	Body string
}

// Article is the article that is announced in tests.
func Article() poster.Article {
	return poster.Article{
		URL: "https://example.jp/a?x=1&y=2", Title: "A title", Summary: "What it is about", Author: "Taro",
		Image: "https://example.jp/a.png", Categories: []string{"manga", "news"}, GUID: "a-1", Source: "site",
		Published: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC),
	}
}

// Post is the announcement of an article in tests, with the default text.
func Post(t *testing.T, p poster.Poster, a poster.Article) poster.Post {
	t.Helper()
	template, err := poster.ParseTemplate(poster.DefaultTemplate)
	require.NoError(t, err)
	text, err := template.Render(a, "account", p.Traits())
	require.NoError(t, err)
	return poster.Post{ID: "5f1de1a3-6a2c-5a53-8d39-3c7c6f1f0d11", Destination: "account", Text: text, Article: a}
}

// New makes a poster whose server is at this address.
func (f Fixture) New(t *testing.T, address string, client *http.Client) poster.Poster {
	t.Helper()
	o := poster.Options{
		Destination: "account", HTTP: client, UserAgent: "bot/test (+https://example.jp/bot)",
		Now: func() time.Time { return Now },
		// The fixture's article comes from the test's server.
		Hosts: map[string][]string{Article().Source: {"127.0.0.1"}},
	}
	if f.Stdout != nil {
		o.Stdout = f.Stdout
	}
	if f.Dir != nil {
		o.Dir = f.Dir(address)
	}
	p, err := f.Driver.New(f.Settings(address), o)
	require.NoError(t, err)
	return p
}

// Run tests that a platform keeps the contract of poster.Poster.
func Run(t *testing.T, f Fixture) {
	t.Run("renders", func(t *testing.T) { t.Parallel(); testRender(t, f) })
	t.Run("renders any title", func(t *testing.T) { t.Parallel(); testTitles(t, f) })
	if f.Local {
		return
	}
	t.Run("delivers", func(t *testing.T) { t.Parallel(); testDelivers(t, f) })
	t.Run("delivers concurrently", func(t *testing.T) { t.Parallel(); testConcurrently(t, f) })
	t.Run("judges by the status", func(t *testing.T) { t.Parallel(); testStatuses(t, f) })
	t.Run("judges answers that are none", func(t *testing.T) { t.Parallel(); testGarbage(t, f) })
	t.Run("judges connections that fail", func(t *testing.T) { t.Parallel(); testConnections(t, f) })
	t.Run("sends once when a kept connection dies", func(t *testing.T) { t.Parallel(); testKeptConnection(t, f) })
	t.Run("keeps secrets", func(t *testing.T) { t.Parallel(); testLeaks(t, f) })
}
