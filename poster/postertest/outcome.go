package postertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// common is what a status means where the platform says nothing else.
func common() map[int]poster.Outcome {
	return map[int]poster.Outcome{
		300: poster.RejectedDestination, 301: poster.RejectedDestination, 302: poster.RejectedDestination,
		303: poster.RejectedDestination, 304: poster.RejectedDestination, 307: poster.RejectedDestination, 308: poster.RejectedDestination,
		400: poster.RejectedContent, 401: poster.RejectedDestination, 402: poster.RejectedDestination, 403: poster.RejectedDestination,
		404: poster.RejectedDestination, 405: poster.RejectedDestination, 408: poster.Unknown, 409: poster.Unknown,
		410: poster.RejectedDestination, 413: poster.RejectedContent, 415: poster.RejectedContent, 418: poster.RejectedDestination,
		421: poster.Later, 422: poster.RejectedContent, 425: poster.Later, 429: poster.Later, 499: poster.Unknown,
		500: poster.Unknown, 501: poster.RejectedDestination, 502: poster.Unknown, 503: poster.Unknown, 504: poster.Unknown,
		507: poster.Unknown, 511: poster.Later, 520: poster.Unknown, 521: poster.Later, 522: poster.Unknown, 523: poster.Later,
		524: poster.Unknown, 525: poster.Later, 526: poster.RejectedDestination, 530: poster.Unknown, 599: poster.Unknown,
	}
}

// testDelivers tests that an announcement is one request, and the same one again.
func testDelivers(t *testing.T, f Fixture) {
	s := Serve(t, f.Delivered)
	p := f.New(t, s.URL, s.Client())
	m := message(t, p)
	kept := string(m.Body)
	for range 2 {
		_, err := p.Post(t.Context(), m)
		require.NoError(t, err)
	}
	require.Equal(t, kept, string(m.Body), "the message is left as it was")
	got := s.Requests()
	require.Len(t, got, 2)
	require.Equal(t, got[0].Content, got[1].Content, "every attempt sends the same bytes")
	require.Equal(t, "bot/test (+https://example.jp/bot)", got[0].UserAgent())
	require.True(t, got[0].Close, "no connection is kept")
}

func testConcurrently(t *testing.T, f Fixture) {
	s := Serve(t, f.Delivered)
	p := f.New(t, s.URL, s.Client())
	m := message(t, p)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := p.Post(t.Context(), m); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.Len(t, s.Requests(), 8)
}

// testStatuses tests what every status means, that there was one request, and
// that a redirect leads nowhere.
func testStatuses(t *testing.T, f Fixture) {
	elsewhere := Serve(t, f.Delivered)
	want := common()
	maps.Copy(want, f.Statuses)
	for _, status := range slices.Sorted(maps.Keys(want)) {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			answer := Answer{Status: status}
			if status >= 300 && status < 400 {
				answer.Header = map[string]string{"Location": elsewhere.URL + "/" + Secret}
			}
			s := Serve(t, answer)
			err := post(t, f, s)
			requireOutcome(t, want[status], err)
			require.Len(t, s.Requests(), 1)
		})
	}
	require.Empty(t, elsewhere.Requests(), "no redirect is followed")
	t.Run("429 with a time", func(t *testing.T) {
		err := post(t, f, Serve(t, Answer{Status: 429, Header: map[string]string{"Retry-After": "120"}}))
		requireOutcome(t, poster.Later, err)
		e, _ := errors.AsType[*poster.Error](err)
		require.Equal(t, Now.Add(2*time.Minute), e.NotBefore)
	})
}

// post makes one attempt to announce at a server.
func post(t *testing.T, f Fixture, s *Server) error {
	t.Helper()
	p := f.New(t, s.URL, s.Client())
	_, err := p.Post(t.Context(), message(t, p))
	return err
}

// requireOutcome tests how an attempt ended, and that its error can be shown.
func requireOutcome(t *testing.T, want poster.Outcome, err error) {
	t.Helper()
	require.Equal(t, want, poster.OutcomeOf(err), "%v", err)
	if err == nil {
		return
	}
	e, ok := errors.AsType[*poster.Error](err)
	require.True(t, ok, "the error is a *poster.Error: %v", err)
	require.NotEmpty(t, e.Reason)
	require.False(t, strings.ContainsFunc(e.Error(), unicode.IsControl), "%q", e.Error())
	require.NotContains(t, e.Error(), Secret)
	if want != poster.Later {
		require.True(t, e.NotBefore.IsZero(), "only Later names a time")
	}
}

// testGarbage tests that an answer which is not the platform's own is not taken
// for a delivery, unless the platform has none of its own.
func testGarbage(t *testing.T, f Fixture) {
	want := poster.Unknown
	if f.AnyAnswer {
		want = poster.Delivered
	}
	for name, body := range map[string]string{
		"a login page":           "<html><title>login</title>",
		"nothing":                "",
		"half a JSON":            `{"ok":tru`,
		"JSON of something else": `[1,2,{"error":null}]`,
		"not text":               "\x00\xff\x1b[2J",
		"a page of 3 MiB":        "<html>" + strings.Repeat("x", 3<<20),
	} {
		t.Run(name, func(t *testing.T) {
			s := Serve(t, Answer{Status: 200, Body: body})
			requireOutcome(t, want, post(t, f, s))
			require.Len(t, s.Requests(), 1)
			requireOutcome(t, poster.Unknown, post(t, f, Serve(t, Answer{Status: 500, Body: body})))
			requireOutcome(t, poster.RejectedContent, post(t, f, Serve(t, Answer{Status: 422, Body: body})))
		})
	}
	t.Run("a body that ends early", func(t *testing.T) {
		s := Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(f.Delivered.Body)))
			half := f.Delivered
			half.Body = half.Body[:len(half.Body)/2]
			half.ServeHTTP(w, r)
		}))
		requireOutcome(t, poster.Delivered, post(t, f, s))
	})
}

// testConnections tests what a connection that fails means.
func testConnections(t *testing.T, f Fixture) {
	t.Run("refused", func(t *testing.T) {
		s := Serve(t, f.Delivered)
		s.Close()
		requireOutcome(t, poster.Later, post(t, f, s))
	})
	t.Run("an address that is not known", func(t *testing.T) {
		for _, client := range []*http.Client{
			{Transport: &http.Transport{DialContext: unresolved}},
			{Transport: failing{&net.DNSError{Err: "no such host", Name: "nowhere.example"}}},
			{Transport: failing{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ETIMEDOUT}}},
		} {
			p := f.New(t, "http://nowhere.example", client)
			_, err := p.Post(t.Context(), message(t, p))
			requireOutcome(t, poster.Later, err)
		}
	})
	t.Run("a certificate that is not valid", func(t *testing.T) {
		s := startTLS(t, f.Delivered)
		p := f.New(t, s.URL, &http.Client{})
		_, err := p.Post(t.Context(), message(t, p))
		requireOutcome(t, poster.RejectedDestination, err)
		require.Empty(t, s.Requests())
	})
	t.Run("encryption that the server does not speak", func(t *testing.T) {
		s := Serve(t, f.Delivered)
		p := f.New(t, strings.Replace(s.URL, "http:", "https:", 1), s.Client())
		_, err := p.Post(t.Context(), message(t, p))
		requireOutcome(t, poster.Later, err)
	})
	t.Run("over before it began", func(t *testing.T) {
		s := Serve(t, f.Delivered)
		p := f.New(t, s.URL, s.Client())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Post(ctx, message(t, p))
		requireOutcome(t, poster.Later, err)
		require.Empty(t, s.Requests())
	})
	t.Run("no answer in time", func(t *testing.T) {
		s, arrived := stalling(t)
		p := f.New(t, s.URL, s.Client())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-arrived; cancel() }()
		_, err := p.Post(ctx, message(t, p))
		requireOutcome(t, poster.Unknown, err)
		require.Len(t, s.Requests(), 1)
	})
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, fault)
			p := f.New(t, s.url, &http.Client{})
			_, err := p.Post(t.Context(), message(t, p))
			requireOutcome(t, poster.Unknown, err)
			require.EqualValues(t, 1, s.requests.Load())
		})
	}
	t.Run("a client that is not Go's and says nothing", func(t *testing.T) {
		p := f.New(t, "http://127.0.0.1:9", &http.Client{Transport: failing{errors.New("broken")}})
		_, err := p.Post(t.Context(), message(t, p))
		requireOutcome(t, poster.Unknown, err)
	})
}
