package platforms_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// answering is a network on which everybody answers the same, but for a login.
type answering struct {
	status       int
	header, body string
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := a.status, a.body
	if strings.HasSuffix(r.URL.Path, "Session") {
		status, body = 200, login
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {a.header}, "X-Ratelimit-Reset": {a.header}},
		Body:   io.NopCloser(strings.NewReader(body)),
	}, nil
}

// FuzzAnswer lets every platform read any answer: it must come to an outcome, and what
// it keeps of the answer must be short and harmless.
func FuzzAnswer(f *testing.F) {
	seen := map[string]bool{}
	for _, r := range readRows(f) {
		name, _ := destination(r.Platform, "https://server.example")
		if r.Phase != "response" {
			continue
		}
		for i, known := range platforms.Names() {
			if known == name {
				f.Add(uint8(i), r.Status, r.Headers["Retry-After"], r.text())
				seen[name] = true
			}
		}
	}
	require.Greater(f, len(seen), 8)
	f.Fuzz(func(t *testing.T, which uint8, status int, header, body string) {
		name := platforms.Names()[int(which)%len(platforms.Names())]
		if name == "exec" || name == "console" || status < 100 || status > 999 || len(body) > 1<<16 {
			return
		}
		driver, _ := platforms.Find(name)
		kind := name
		if name == "webhook" {
			kind = "generic-http"
		}
		if name == "googlechat" {
			kind = "google-chat"
		}
		_, settings := destination(kind, "https://server.example")
		p, err := driver.New(settings, poster.Options{
			Destination: "account", UserAgent: "bot/test", Now: func() time.Time { return now },
			HTTP: &http.Client{Transport: answering{status, header, body}},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		m, err := p.Render(poster.Post{ID: "id", Text: "text"})
		require.NoError(t, err)
		receipt, err := p.Post(ctx, m)
		require.NoError(t, ctx.Err(), "it hangs")
		said := receipt.RemoteID + "\n" + receipt.RemoteURL
		if err != nil {
			said += "\n" + err.Error()
			if e, ok := errors.AsType[*poster.Error](err); ok && !e.NotBefore.IsZero() {
				require.False(t, e.NotBefore.Before(now.Add(-time.Hour)), "%v", e.NotBefore)
				require.False(t, e.NotBefore.After(now.Add(8*24*time.Hour)), "%v", e.NotBefore)
			}
		}
		require.Less(t, len(said), 8<<10)
		require.NotContains(t, said, postertest.Secret)
		require.True(t, utf8.ValidString(said))
		for _, r := range said {
			require.False(t, unicode.IsControl(r) && r != '\n', "%q", said)
		}
	})
}
