package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"bot/poster/platforms"

	"github.com/stretchr/testify/require"
)

// destinationOn is a config whose only destination has these settings, of which the
// first is in line 4.
func destinationOn(platform string, settings ...string) string {
	return "destinations:\n  - name: news\n    type: " + platform + "\n    " + strings.Join(settings, "\n    ") + "\n"
}

// requireWrong tests that check finds fault with a line of the config, and says what.
func requireWrong(t *testing.T, config string, line int, what string) {
	t.Helper()
	s := newSite(t, "http://127.0.0.1:9", config)
	code, out := s.run("check", "--offline")
	require.Equal(t, 64, code, out)
	require.Contains(t, out, fmt.Sprintf("bot.yaml:%d:", line), config)
	require.Contains(t, out, what, config)
	require.NotContains(t, out, s.secret)
}

// TestAWrongSettingIsFoundByCheckWithItsLine, on every platform: one of another kind,
// one that there is not, and one that is missing.
func TestAWrongSettingIsFoundByCheckWithItsLine(t *testing.T) {
	t.Parallel()
	optional := map[string]string{"console": "format", "exec": "redact", "ntfy": "server, token", "telegram": "server", "x": "server", "bluesky": "server", "webhook": "headers, secret"}
	for _, name := range platforms.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(accounts()[name], "\n    ")
			s := newSite(t, "http://127.0.0.1:9", destinationOn(name, lines...))
			s.run("init")
			_, out := s.run("check", "--offline")
			require.Contains(t, out, "news: its settings are right")

			requireWrong(t, destinationOn(name, append(lines, "bogus: 1")...), 4+len(lines), "unknown")
			for i, line := range lines {
				key, _, _ := strings.Cut(line, ":")
				other := append([]string(nil), lines...)
				other[i] = key + ": {a: {b: c}}"
				requireWrong(t, destinationOn(name, other...), 4+i, key)
				if strings.Contains(optional[name], key) {
					continue
				}
				other = append(append([]string{"# " + key}, lines[:i]...), lines[i+1:]...)
				requireWrong(t, destinationOn(name, other...), 2, key)
			}
		})
	}
}

// TestASettingOfAWrongValueIsFoundByCheckWithItsLine: values of the right kind that
// cannot be.
func TestASettingOfAWrongValueIsFoundByCheckWithItsLine(t *testing.T) {
	t.Parallel()
	for platform, values := range map[string][]string{
		"bluesky":    {"server: ftp://pds.example", `identifier: "@"`, "languages: [a, b, c, d]", "image: perhaps"},
		"console":    {"format: xml"},
		"discord":    {"webhook: discord.example/api", "username: " + strings.Repeat("x", 81), "embed: 3"},
		"exec":       {"command: []", `command: [""]`, `env: {"A=B": c}`},
		"googlechat": {"webhook: /v1/spaces", "image: 1"},
		"mastodon": {
			"server: m.example", `token: ""`, "visibility: direct", "software: pleroma", "max_characters: 20", "url_characters: -1", "account: a b",
			"content_warning: " + strings.Repeat("x", 480),
		},
		"matrix":   {"server: m.example", `room: "#news:m.example"`, `token: ""`},
		"ntfy":     {"server: n.example", "topic: a/b", "priority: urgent"},
		"slack":    {"webhook: hooks.slack.example", "image: often"},
		"teams":    {"webhook: mailto:a@b.example"},
		"telegram": {"token: nothing", "chat: news", "server: t.example"},
		"webhook": {
			"webhook: http://", "secret: whsec_***", "headers: {Host: a.example}", `headers: {"a b": c}`, "body: '{\"a\": {{.Nothing}}}'", "body: '{'",
			"idempotent: maybe", "success_status: [404]", "duplicate_status: [200]", "success_status: [many]",
		},
		"x": {"paid: false", `consumer_key: ""`, "server: api.x.example"},
	} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, accounts(), platform)
			for _, value := range values {
				key, _, _ := strings.Cut(value, ":")
				settings := []string{value}
				for _, line := range strings.Split(accounts()[platform], "\n    ") {
					if !strings.HasPrefix(line, key+":") {
						settings = append(settings, line)
					}
				}
				requireWrong(t, destinationOn(platform, settings...), 4, key)
			}
		})
	}
}
