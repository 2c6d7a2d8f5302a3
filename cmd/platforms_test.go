package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/cmd"
	"bot/dedupe"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// accounts are the settings of a destination on each platform, whose server is at
// $SERVER. Every secret in them is $SECRET.
func accounts() map[string]string {
	const webhook = "webhook: ${SERVER}/hook/${SECRET}?key=${SECRET}"
	lines := func(all ...string) string { return strings.Join(all, "\n    ") }
	return map[string]string{
		"bluesky": lines("server: ${SERVER}", "identifier: news.example", "password: ${SECRET}"),
		"console": "format: json",
		"discord": webhook,
		"exec": lines(`command: [sh, -c, "cat; echo failed: $$0 >&2; exit 1", "${SECRET}"]`,
			`redact: ["${SECRET}"]`),
		"googlechat": "webhook: ${SERVER}/v1/spaces/S/messages?key=${SECRET}&token=${SECRET}",
		"mastodon":   lines("server: ${SERVER}", "token: ${SECRET}"),
		"matrix":     lines("server: ${SERVER}", `room: "!r:example"`, "token: ${SECRET}"),
		"ntfy":       lines("server: ${SERVER}", "topic: ${SECRET}", "token: tk_${SECRET}"),
		"slack":      "webhook: ${SERVER}/services/T0/B0/${SECRET}",
		"teams":      "webhook: ${SERVER}/workflows/${SECRET}?sig=${SECRET}",
		"telegram":   lines("server: ${SERVER}", `token: "1:${SECRET}"`, `chat: "@news"`),
		"webhook":    lines(webhook, `headers: {Authorization: "Bearer ${SECRET}"}`, "secret: whsec_${SECRET}"),
		"x": lines("server: ${SERVER}", "consumer_key: a${SECRET}", "consumer_secret: b${SECRET}",
			"access_token: 42-${SECRET}", "access_secret: d${SECRET}", "paid: true"),
	}
}

// site is a fleet of one machine in a folder of its own.
type site struct {
	t      *testing.T
	dir    string
	client *http.Client
	server string
	secret string
	now    time.Time
	// said is all that was printed so far.
	said bytes.Buffer
}

// newSite writes the config. Its destinations reach the server at the address.
func newSite(t *testing.T, server, config string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), client: &http.Client{}, server: server, secret: postertest.Secret, now: time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)}
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "bot.yaml"), []byte(config), 0o600))
	return s
}

// run runs the program, and returns its exit code and what it printed.
func (s *site) run(args ...string) (int, string) {
	s.t.Helper()
	var out bytes.Buffer
	env := cmd.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, HTTP: s.client, Dir: s.dir,
		Hostname: func() (string, error) { return "owner", nil },
		Now:      func() time.Time { return s.now },
		Getenv: func(name string) string {
			return map[string]string{"FLEET_HOST": "owner", "SERVER": s.server, "SECRET": s.secret}[name]
		},
	}
	code := cmd.Run(context.Background(), env)
	s.said.Write(out.Bytes())
	return code, out.String()
}

// ids returns those of the queue's entries.
func (s *site) ids() []string {
	s.t.Helper()
	var ids []string
	_, out := s.run("queue", "list", "--json")
	for _, part := range strings.Split(out, `"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, id)
	}
	return ids
}

// TestARenewedTokenAnnouncesNothingAnew: neither what this version recorded nor what
// an earlier one did, whose identity of an account held its token.
func TestARenewedTokenAnnouncesNothingAnew(t *testing.T) {
	t.Parallel()
	server := postertest.Serve(t, postertest.Answer{Status: 200, Body: `{"id":"7"}`})
	s := newSite(t, server.URL, "destinations:\n  - name: news\n    type: mastodon\n    "+accounts()["mastodon"]+"\n")
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "state"), 0o700))
	earlier := fmt.Sprintf(`[{"webhook":%q,"url":"https://a.example/0","status":"posted"}]`, dedupe.Fingerprint(server.URL+" "+s.secret))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "state", "posted.json"), []byte(earlier), 0o600))
	_, out := s.run("enqueue", "--url", "https://a.example/0", "--url", "https://a.example/1")
	require.Contains(t, out, "queued=1 already=1")
	code, out := s.run("process")
	require.Zero(t, code, out)
	s.secret = "renewed-" + s.secret
	_, out = s.run("enqueue", "--url", "https://a.example/1")
	require.Contains(t, out, "queued=0 already=1")
	posts := slices.DeleteFunc(server.Requests(), func(r postertest.Received) bool { return r.Method != http.MethodPost })
	require.Len(t, posts, 1)
}

func TestTwoAccountsOfOneServerNeedTheirNames(t *testing.T) {
	t.Parallel()
	config := "destinations:\n"
	for _, more := range []string{"", ", account: fans", ", account: news"} {
		config += `  - {name: d` + fmt.Sprint(len(config)) + `, type: mastodon, server: "https://m.example", token: t` + more + "}\n"
	}
	s := newSite(t, "", config)
	code, out := s.run("check", "--offline")
	require.NotEqual(t, 64, code, out)
	s = newSite(t, "", strings.ReplaceAll(config, ", account: fans", ""))
	code, out = s.run("check", "--offline")
	require.Equal(t, 64, code, out)
	require.Contains(t, out, "if they are two, set account in one of them")
}

// TestANameThatIsGivenLaterAnnouncesNothingAnew, unless two accounts could have been
// meant by what was recorded without one.
func TestANameThatIsGivenLaterAnnouncesNothingAnew(t *testing.T) {
	t.Parallel()
	server := postertest.Serve(t, postertest.Answer{Status: 200, Body: `{"id":"7"}`})
	s := newSite(t, server.URL, destinationOn("mastodon", "server: ${SERVER}", "token: ${SECRET}"))
	s.run("init")
	s.run("enqueue", "--url", "https://a.example/1")
	code, out := s.run("process")
	require.Zero(t, code, out)
	name := func(config string) string {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "bot.yaml"), []byte(config), 0o600))
		_, out := s.run("enqueue", "--url", "https://a.example/1", "--dry-run")
		return out
	}
	one := destinationOn("mastodon", "server: ${SERVER}", "token: ${SECRET}", "account: news")
	require.Contains(t, name(one), "queued=0 already=1")
	other := strings.NewReplacer("destinations:\n", "", "name: news", "name: fans", "account: news", "account: fans", "${SECRET}", "other").Replace(one)
	require.Contains(t, name(one+other), "queued=2 already=0", "whose it was is not known")
	unnamed := strings.Replace(one, "    account: news\n", "", 1)
	require.Contains(t, name(unnamed+other), "queued=1 already=1", "it is the first's")
}

// TestCheckAsksEveryPlatformThatCanBeAskedAndPostsNothing, and says of the others that
// they cannot be.
func TestCheckAsksEveryPlatformThatCanBeAskedAndPostsNothing(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string][]string{
		"bluesky":    {"POST /xrpc/com.atproto.server.createSession", "GET /xrpc/com.atproto.server.getSession"},
		"discord":    {"GET /hook/" + postertest.Secret},
		"mastodon":   {"GET /api/v1/accounts/verify_credentials", "GET /api/v2/instance"},
		"matrix":     {"GET /_matrix/client/v3/account/whoami", "GET /_matrix/client/v3/rooms/!r:example/state/m.room.encryption"},
		"ntfy":       {"GET /" + postertest.Secret + "/json"},
		"telegram":   {"GET /bot1:" + postertest.Secret + "/getMe", "GET /bot1:" + postertest.Secret + "/getChat"},
		"x":          {"GET /2/users/me"},
		"exec":       {},
		"console":    nil,
		"googlechat": nil,
		"slack":      nil,
		"teams":      nil,
		"webhook":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := postertest.Answer{Status: 200, Body: `{"ok":true,"id":"1","username":"news","user_id":"@a:example",
				"did":"did:plc:abc","accessJwt":"a.b","refreshJwt":"r.b","configuration":{"statuses":{"max_characters":500}}}`}
			server := postertest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "m.room.encryption") {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				answer.ServeHTTP(w, r)
			}))
			s := newSite(t, server.URL, destinationOn(name, accounts()[name]))
			s.run("init")
			code, out := s.run("check")
			require.Zero(t, code, out)
			var got []string
			for _, r := range server.Requests() {
				got = append(got, r.Method+" "+r.URL.Path)
			}
			if asked == nil {
				require.Contains(t, out, "skipped  destination news: its settings are right; the platform cannot be asked without posting")
				require.Empty(t, got)
				return
			}
			require.Contains(t, out, "ok       destination news: the platform takes its settings")
			require.Equal(t, asked, append([]string{}, got...))
		})
	}
}

// servers are what a destination may be talking to: each repeats all that it was
// sent, as an error page of a framework does.
func servers(t *testing.T) map[string]string {
	all := map[string]string{"refused": "http://" + unused(t), "no name": "http://server.invalid."}
	for _, status := range []int{200, 302, 400, 403, 429, 500} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.HasSuffix(r.URL.Path, "createSession") {
				_, _ = io.WriteString(w, `{"did":"did:plc:abc","accessJwt":"a.`+postertest.Secret+`","refreshJwt":"r.`+postertest.Secret+`"}`)
				return
			}
			all := fmt.Sprintf("http://%s%s %v %s", r.Host, r.RequestURI, r.Header, body)
			w.Header().Set("Location", "http://"+r.Host+"/"+postertest.Secret)
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"message":%q,"id":%q}`, all, r.RequestURI)
		}))
		t.Cleanup(s.Close)
		all[fmt.Sprint(status)] = s.URL
	}
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	}))
	t.Cleanup(reset.Close)
	all["reset"] = reset.URL
	return all
}

// unused is an address on which nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// TestNoPlatformLetsItsSecretsOut runs every command against servers that tell all
// they are sent, and looks for the secrets on the screen, in the logs, in JSON and in
// the state.
func TestNoPlatformLetsItsSecretsOut(t *testing.T) {
	t.Parallel()
	all := accounts()
	for _, name := range platforms.Names() {
		require.Contains(t, all, name)
		if name == "exec" && runtime.GOOS == "windows" {
			continue
		}
		for what, server := range servers(t) {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, server, "destinations:\n  - name: news\n    type: "+name+"\n    "+all[name]+"\n")
				s.everything()
				require.True(t, strings.Contains(s.said.String(), "queued=1"), "something was done: %.500s", s.said.String())
				requireNowhere(t, s, postertest.Secret)
			})
		}
	}
}

// everything runs all commands that deal with destinations, in every way to print.
func (s *site) everything() {
	loud := []string{"--log-level", "debug"}
	s.run("init")
	s.run("enqueue", "--url", "https://a.example/1", "--title", "One")
	s.run("enqueue", "--url", "https://a.example/2")
	for _, args := range [][]string{
		{"check"}, {"check", "--json"}, {"preview"}, {"process", "--dry-run", "--json"}, {"process"},
	} {
		s.run(append(args, loud...)...)
	}
	s.run("resume", "news")
	s.now = s.now.Add(10 * time.Minute)
	for _, args := range [][]string{
		{"process", "--json", "--log-format", "json"}, {"status"}, {"status", "--json"}, {"queue", "list"}, {"posted", "list"},
		{"explain", "https://a.example/1"}, {"explain", "https://a.example/1", "--json"}, {"export"},
	} {
		s.run(append(args, loud...)...)
	}
	for _, id := range s.ids() {
		s.run(append([]string{"queue", "show", id}, loud...)...)
		s.run(append([]string{"queue", "show", id, "--json"}, loud...)...)
		s.run(append([]string{"resolve", id, "--probe", "--json"}, loud...)...)
	}
}

// requireNowhere tests that a secret was not printed, and is not in the state. A
// session's tokens are kept, in files for their owner alone.
func requireNowhere(t *testing.T, s *site, secret string) {
	t.Helper()
	for _, hidden := range []string{secret, secret[5:], url.QueryEscape(secret)} {
		if at := strings.Index(s.said.String(), hidden); at >= 0 {
			require.Fail(t, "a secret was said", "%q", s.said.String()[max(0, at-300):at+len(hidden)])
		}
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		if filepath.Base(filepath.Dir(path)) == "sessions" {
			info, err := d.Info()
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, "%s is for its owner alone", path)
			return nil
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.False(t, bytes.Contains(data, []byte(secret[5:])), path)
		return nil
	}))
}
