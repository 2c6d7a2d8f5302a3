package postertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// testLeaks tests that no secret is in anything a poster gives back or is, however
// it is printed, although the server repeats all it was sent.
func testLeaks(t *testing.T, f Fixture) {
	for _, status := range []int{200, 302, 400, 401, 403, 404, 422, 429, 500, 503} {
		for name, echo := range echoes() {
			t.Run(fmt.Sprintf("%d, %s", status, name), func(t *testing.T) {
				t.Parallel()
				s := Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					all := "http://" + r.Host + r.RequestURI
					for name := range r.Header {
						all += " " + name + ": " + r.Header.Get(name)
					}
					w.Header().Set("Location", all)
					w.WriteHeader(status)
					_, _ = io.WriteString(w, echo(all))
				}))
				p := f.New(t, s.URL, s.Client())
				m := message(t, p)
				receipt, err := p.Post(t.Context(), m)
				requireNoSecret(t, p, m, receipt, err)
			})
		}
	}
	t.Run("without an answer", func(t *testing.T) {
		s := serveRaw(t, reset)
		for _, transport := range []http.RoundTripper{
			http.DefaultTransport,
			&http.Transport{DialContext: unresolved},
			failing{errors.New("broken: " + s.url + "/" + Secret)},
		} {
			p := f.New(t, s.url, &http.Client{Transport: transport})
			_, err := p.Post(t.Context(), message(t, p))
			require.Error(t, err)
			requireNoSecret(t, p, err)
			if checker, ok := p.(poster.Checker); ok {
				requireNoSecret(t, checker.Check(t.Context()))
			}
		}
	})
	t.Run("in bad settings", func(t *testing.T) {
		for _, address := range []string{"http://%zz", "ftp://127.0.0.1", "", "127.0.0.1:80", "http://127.0.0.1:port"} {
			_, err := f.Driver.New(f.Settings(address), poster.Options{Destination: "account"})
			requireNoSecret(t, err)
		}
	})
}

// echoes are ways in which a server repeats a text.
func echoes() map[string]func(string) string {
	quoted := func(name string) func(string) string {
		return func(all string) string {
			out, _ := json.Marshal(map[string]any{name: all, "id": all, "url": all})
			return string(out)
		}
	}
	return map[string]func(string) string{
		"as text":         func(all string) string { return all },
		"as a message":    quoted("message"),
		"as an error":     quoted("error"),
		"escaped":         func(all string) string { return url.QueryEscape(all) },
		"far into a text": func(all string) string { return strings.Repeat("x", 150) + all },
		"with controls":   func(all string) string { return strings.ReplaceAll(all, "HUSH", "HU\x00SH") },
		"in pieces":       func(all string) string { return strings.Join(strings.Split(all, "/"), " ") },
		"as a page":       func(all string) string { return "<html>" + all },
	}
}

// requireNoSecret prints values in every way there is, and tests that no secret
// is seen.
func requireNoSecret(t *testing.T, values ...any) {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	logJSON := slog.New(slog.NewJSONHandler(&out, nil))
	for _, v := range values {
		fmt.Fprintf(&out, "%v %+v %#v %s %q\n", v, v, v, v, v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		log.Info("value", "v", v)
		logJSON.Info("value", "v", v)
		if err, ok := v.(error); ok {
			fmt.Fprintln(&out, err.Error())
		}
		if p, ok := v.(poster.Poster); ok {
			fmt.Fprintf(&out, "%v %+v %#v\n", p.Traits(), p.Traits(), p.Traits())
		}
		if m, ok := v.(poster.Message); ok {
			out.Write(m.Body)
		}
	}
	for _, hidden := range []string{Secret, Secret[4:], url.QueryEscape(Secret), base64.StdEncoding.EncodeToString([]byte(Secret))} {
		require.NotContains(t, out.String(), hidden)
	}
}
