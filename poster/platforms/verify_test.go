package platforms_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// site answers requests by the end of their path, and everything else with 404.
type site map[string]postertest.Answer

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for end, answer := range s {
		if strings.HasSuffix(r.URL.Path, end) {
			answer.ServeHTTP(w, r)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

// TestAPlatformSaysWhatBecameOfAPost answers in the shape in which servers were seen
// or are documented to answer: GoToSocial 0.20, Dendrite 0.13.8, ntfy 2.13, X.
func TestAPlatformSaysWhatBecameOfAPost(t *testing.T) {
	t.Parallel()
	ok := func(body string) postertest.Answer { return postertest.Answer{Status: 200, Body: body} }
	me := ok(`{"id":"01G4","username":"announcer"}`)
	status := func(at, link string) string {
		return `{"id":"7","url":"https://example.jp/@a/7","created_at":"` + at + `","content":"<p>A title<br><a href=\"` + link + `\">x</a></p>","card":null}`
	}
	const ours, other = "https://example.jp/a?x=1&amp;y=2", "https://example.jp/b"
	event := func(key, at string) string {
		return `{"content":{"body":"b","msgtype":"m.text","bot.key":"` + key + `"},"event_id":"$7","origin_server_ts":` + at + `}`
	}
	tweet := func(at, link string) string {
		return `{"id":"7","created_at":"` + at + `","entities":{"urls":[{"expanded_url":"` + link + `"}]}}`
	}
	const id = "5f1de1a3-6a2c-5a53-8d39-3c7c6f1f0d11"
	tests := map[string]struct {
		platform string
		site     site
		want     poster.Presence
		id       string
	}{
		"mastodon has it":                 {"mastodon", site{"verify_credentials": me, "01G4/statuses": ok("[" + status("2026-08-03T09:00:01.000Z", ours) + "]")}, poster.Found, "7"},
		"mastodon has an older one":       {"mastodon", site{"verify_credentials": me, "01G4/statuses": ok("[" + status("2026-08-02T09:00:01.000Z", ours) + "]")}, poster.Absent, ""},
		"mastodon has others since":       {"mastodon", site{"verify_credentials": me, "01G4/statuses": ok("[" + status("2026-08-03T09:00:01.000Z", other) + "]")}, poster.CannotTell, ""},
		"mastodon has nothing at all":     {"mastodon", site{"verify_credentials": me, "01G4/statuses": ok("[]")}, poster.Absent, ""},
		"mastodon says null":              {"mastodon", site{"verify_credentials": me, "01G4/statuses": ok("null")}, poster.CannotTell, ""},
		"mastodon's token may not read":   {"mastodon", site{"verify_credentials": me, "01G4/statuses": {Status: 403}}, poster.CannotTell, ""},
		"mastodon is not there":           {"mastodon", site{}, poster.CannotTell, ""},
		"matrix has it":                   {"matrix", site{"/messages": ok(`{"chunk":[` + event(id, "1785747601000") + `],"end":"t1"}`)}, poster.Found, "$7"},
		"matrix goes far enough back":     {"matrix", site{"/messages": ok(`{"chunk":[` + event("x", "1785740000000") + `],"end":"t1"}`)}, poster.Absent, ""},
		"matrix shows the whole room":     {"matrix", site{"/messages": ok(`{"chunk":[` + event("x", "1785747601000") + `]}`)}, poster.Absent, ""},
		"matrix shows too little":         {"matrix", site{"/messages": ok(`{"chunk":[` + event("x", "1785747601000") + `],"end":"t1"}`)}, poster.CannotTell, ""},
		"matrix shows something else":     {"matrix", site{"/messages": ok(`{}`)}, poster.CannotTell, ""},
		"ntfy has it":                     {"ntfy", site{"/json": ok(`{"id":"o","event":"open"}` + "\n" + `{"id":"7","event":"message","message":"A title\nhttps://example.jp/a?x=1&y=2","click":"https://example.jp/a?x=1&y=2"}`)}, poster.Found, "7"},
		"ntfy has another":                {"ntfy", site{"/json": ok(`{"id":"7","event":"message","message":"A title","click":"https://example.jp/b"}`)}, poster.Absent, ""},
		"ntfy has nothing":                {"ntfy", site{"/json": ok("")}, poster.Absent, ""},
		"ntfy answers with a page":        {"ntfy", site{"/json": ok("<html>")}, poster.CannotTell, ""},
		"ntfy's token may not read":       {"ntfy", site{"/json": {Status: 403}}, poster.CannotTell, ""},
		"x has it":                        {"x", site{"/2/users/42/tweets": ok(`{"data":[` + tweet("2026-08-03T09:00:01.000Z", "https://example.jp/a?x=1&y=2") + `]}`)}, poster.Found, "7"},
		"x goes far enough back":          {"x", site{"/2/users/42/tweets": ok(`{"data":[` + tweet("2026-08-02T09:00:01.000Z", "https://example.jp/b") + `]}`)}, poster.Absent, ""},
		"x says nothing":                  {"x", site{"/2/users/42/tweets": ok(`{"meta":{"result_count":0}}`)}, poster.CannotTell, ""},
		"bluesky's record is not there":   {"bluesky", site{"createSession": ok(login), "getRecord": {Status: 400, Body: `{"error":"RecordNotFound"}`}}, poster.Absent, ""},
		"bluesky takes no login":          {"bluesky", site{"createSession": {Status: 401}}, poster.CannotTell, ""},
		"bluesky's answer is not its own": {"bluesky", site{"createSession": ok(login), "getRecord": ok("<html>")}, poster.CannotTell, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, test.site)
			_, settings := destination(test.platform, s.URL)
			if test.platform == "x" {
				settings["access_token"] = "42-" + postertest.Secret
			}
			driver, _ := platforms.Find(test.platform)
			p, err := driver.New(settings, poster.Options{
				Destination: "account", HTTP: &http.Client{}, UserAgent: "bot/test",
				Now: func() time.Time { return postertest.Now.Add(time.Minute) },
			})
			require.NoError(t, err)
			m, err := p.Render(postertest.Post(t, p, postertest.Article()))
			require.NoError(t, err)
			verifier, ok := p.(poster.Verifier)
			require.True(t, ok)
			presence, receipt, err := verifier.Verify(t.Context(), m, postertest.Now)
			require.Equal(t, test.want, presence, "%v", err)
			require.Equal(t, test.id, receipt.RemoteID)
			if err != nil {
				require.Equal(t, poster.CannotTell, presence)
				require.NotContains(t, err.Error(), postertest.Secret)
			}
			for _, r := range s.Requests() {
				require.True(t, r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "createSession"), "asking publishes nothing")
			}
		})
	}
}

// TestResendingNeedsAskingFirst: a platform that may be sent to again after it was
// asked can be asked.
func TestResendingNeedsAskingFirst(t *testing.T) {
	t.Parallel()
	for _, name := range platforms.Names() {
		if name == "console" || name == "exec" {
			continue
		}
		driver, _ := platforms.Find(name)
		row := map[string]string{"webhook": "generic-http", "googlechat": "google-chat"}[name]
		if row == "" {
			row = name
		}
		_, settings := destination(row, "https://server.example")
		p, err := driver.New(settings, poster.Options{Now: func() time.Time { return now }})
		require.NoError(t, err, name)
		_, verifies := p.(poster.Verifier)
		require.False(t, p.Traits().Resend && !verifies, name)
	}
}

// TestRenewedCredentialsAreTheSameDestination: what is renewed now and then is no part
// of an identity, where a platform has anything else that is one.
func TestRenewedCredentialsAreTheSameDestination(t *testing.T) {
	t.Parallel()
	const old, renewed = postertest.Secret, "renewed-" + postertest.Secret
	for platform, keys := range map[string][]string{
		"bluesky": {"password"}, "mastodon": {"token"}, "matrix": {"token"}, "telegram": {"token"}, "ntfy": {"token"},
		"x": {"consumer_key", "consumer_secret", "access_token", "access_secret"},
	} {
		identity := func(secret string) string {
			name, settings := destination(platform, "https://server.example")
			for _, key := range keys {
				settings[key] = map[string]string{"x access_token": "42-", "telegram token": "1:"}[platform+" "+key] + secret
			}
			driver, _ := platforms.Find(name)
			p, err := driver.New(settings, poster.Options{Now: func() time.Time { return now }})
			require.NoError(t, err, platform)
			return p.Traits().Identity.Reveal()
		}
		require.Equal(t, identity(old), identity(renewed), platform)
	}
}

const login = `{"did":"did:plc:abc","accessJwt":"access","refreshJwt":"refresh"}`
