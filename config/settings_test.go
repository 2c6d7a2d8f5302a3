package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/config"

	"github.com/stretchr/testify/require"
)

// own is what a platform may decode its settings into: one field of each kind.
type own struct {
	Webhook config.Secret            `yaml:"webhook"`
	Token   *config.Secret           `yaml:"token"`
	Secrets []config.Secret          `yaml:"secrets"`
	Headers map[string]config.Secret `yaml:"headers"`
	Labels  map[string]string        `yaml:"labels"`
	Server  string                   `yaml:"server"`
	Thread  int8                     `yaml:"thread"`
	Chat    int64                    `yaml:"chat"`
	Ratio   float64                  `yaml:"ratio"`
	Loud    bool                     `yaml:"loud"`
	Maybe   *bool                    `yaml:"maybe"`
	Wait    time.Duration            `yaml:"wait"`
	Tags    []string                 `yaml:"tags"`
	Parts   []part                   `yaml:"parts"`
	Part    part                     `yaml:"part"`
	Hidden  string                   `yaml:"-"`
	shared
}

type part struct {
	Name string        `yaml:"name,required"`
	Key  config.Secret `yaml:"key,required"`
}

type shared struct {
	Lang string `yaml:"lang"`
}

// settings returns the settings of a destination with these lines, in a folder
// that holds secret files.
func settings(t *testing.T, lines string, e env) (*config.Settings, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"token": "from-file\n", "two": "one\r\n\r\n two \r\n", "empty": "\n", "latin": "caf\xe9",
		"large": strings.Repeat("x", 64<<10+1), "pem": "-----BEGIN\nabc\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	c, err := config.Parse("bot.yaml", []byte(destination(lines)), dir, e.get)
	require.NotNil(t, c)
	return c.Destinations[0].Settings, err
}

func TestDecodeFillsFieldsOfEveryKind(t *testing.T) {
	t.Parallel()
	s, err := settings(t, `
    webhook: ${HOOK}
    token_file: token
    secrets_file: two
    headers: {A: b, X_file: pem}
    labels: {lang: ja, "a b": ''}
    server: https://social.example
    thread: -128
    chat: ${CHAT}
    ratio: 0.5
    loud: ${LOUD}
    maybe: false
    wait: 1d
    tags: [a, "${HOOK}"]
    parts: [{name: x, key: y}, {name: z, key_file: token}]
    part: {name: p, key: "$$"}
    lang: de
`, env{"HOOK": "h", "CHAT": "-1001234567890", "LOUD": "true"})
	require.NoError(t, err)
	var o own
	require.NoError(t, s.Decode(&o))
	require.Equal(t, "h", o.Webhook.Reveal())
	require.Equal(t, "from-file", o.Token.Reveal())
	require.Len(t, o.Secrets, 2)
	require.Equal(t, "one", o.Secrets[0].Reveal())
	require.Equal(t, "two", o.Secrets[1].Reveal())
	require.Equal(t, "b", o.Headers["A"].Reveal())
	require.Equal(t, "-----BEGIN\nabc", o.Headers["X"].Reveal())
	require.Equal(t, map[string]string{"lang": "ja", "a b": ""}, o.Labels)
	require.Equal(t, "https://social.example", o.Server)
	require.EqualValues(t, -128, o.Thread)
	require.EqualValues(t, -1001234567890, o.Chat)
	require.InDelta(t, 0.5, o.Ratio, 0)
	require.True(t, o.Loud)
	require.NotNil(t, o.Maybe)
	require.False(t, *o.Maybe)
	require.Equal(t, 24*time.Hour, o.Wait)
	require.Equal(t, []string{"a", "h"}, o.Tags)
	require.Equal(t, "y", o.Parts[0].Key.Reveal())
	require.Equal(t, "from-file", o.Parts[1].Key.Reveal())
	require.Equal(t, "$", o.Part.Key.Reveal())
	require.Equal(t, "de", o.Lang)
}

func TestDecodePlacesEveryProblem(t *testing.T) {
	t.Parallel()
	for _, m := range []mistake{
		{"an unknown setting", "    sever: x\n", "3:5: unknown key sever; did you mean server?"},
		{"a common key that is nearly one", "    min_intervall: 10m\n", "3:5: unknown key min_intervall; did you mean min_interval?"},
		{"a secret that is a list", "    webhook: [hunter2]\n", "3:14: webhook: want a text, not a list"},
		{"a secret that is a number", "    webhook: 12345\n", "3:14: webhook: want a text; put it in quotes"},
		{"a secret without a value", "    webhook:\n", "3:13: webhook has no value; want a text, or leave the key out"},
		{"a secret that is empty", "    webhook: ''\n", "3:14: webhook is empty"},
		{"a secret and its file", "    webhook: hunter2\n    webhook_file: token\n", "4:19: webhook and webhook_file are both here; leave one out"},
		{"a file that is not there", "    webhook_file: run/nope\n", `3:19: webhook_file: cannot read "run/nope": no such file or directory`},
		{"a file that is a folder", "    webhook_file: .\n", `3:19: webhook_file: cannot read ".": is a directory`},
		{"a file with nothing in it", "    webhook_file: empty\n", `3:19: webhook_file: the file "empty" is empty`},
		{"a file that is no text", "    webhook_file: latin\n", `3:19: webhook_file: the file "latin" is not UTF-8 text`},
		{"a file that is too large", "    webhook_file: large\n", `3:19: webhook_file: the file "large" is larger than 64 KiB`},
		{"a file without a name", "    webhook_file: ''\n", "3:19: webhook_file is empty; want the path of a file"},
		{"a file named by the environment", "    webhook_file: ${SECRET}\n", `3:19: webhook_file: cannot read "${SECRET}": no such file or directory`},
		{"a list of secrets with another kind in it", "    secrets: [a, {b: hunter2}]\n", "3:18: in secrets: want a text, not a mapping"},
		{"a file for what is no secret", "    server_file: token\n", "3:5: unknown key server_file; server is no secret, so write it here"},
		{"a number too large", "    thread: 128\n", `3:13: thread: "128" is too large`},
		{"a number that is none", "    ratio: half\n", "3:12: ratio: want a number, not a text"},
		{"a flag that is none", "    loud: yes\n", "3:11: loud: want true or false, not a text"},
		{"a duration without a unit", "    wait: 10\n", `3:11: wait: "10": a duration needs a unit; write for example 10m for minutes`},
		{"a missing setting", "    part: {name: x}\n", "3:11: key is missing"},
		{"an unknown setting further in", "    parts: [{named: x, key: y}]\n", "3:13: name is missing\nbot.yaml:3:14: unknown key named; did you mean name?"},
		{"a mapping that is a list", "    labels: [a]\n", "3:13: labels: want a mapping, not a list"},
		{"a text in a mapping that is a list", "    labels: {a: [b]}\n", "3:17: in labels: want a text, not a list"},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s, err := settings(t, m.text, env{"SECRET": "hunter2"})
			require.NoError(t, err)
			require.EqualError(t, s.Decode(new(own)), "bot.yaml:"+m.want)
		})
	}
}

func TestDecodeRepeatsWhatTheEnvironmentLacks(t *testing.T) {
	t.Parallel()
	s, loadErr := settings(t, "    webhook: ${HOOK}\n", nil)
	decodeErr := s.Decode(new(own))
	require.Equal(t, loadErr, decodeErr)
	require.Equal(t, loadErr, config.Join(loadErr, decodeErr), "told once")
}

func TestErrorfPlacesWhatOthersFind(t *testing.T) {
	t.Parallel()
	c, err := parse("sources: [{name: a, feed: https://a.example/}]\n"+`destinations:
  - name: d
    type: telegraph
    text: '{{'
    token_file: x
rules:
  - name: r
    text: '}}'
`, nil)
	require.NoError(t, err)
	d := c.Destinations[0]
	require.EqualError(t, d.Errorf("type", "no platform %q", d.Type), `bot.yaml:4:11: no platform "telegraph"`)
	require.EqualError(t, d.Settings.Errorf("type", "x"), "bot.yaml:4:11: x")
	require.EqualError(t, d.Settings.Errorf("token", "token %w", errors.New("is odd")), "bot.yaml:6:17: token is odd")
	require.EqualError(t, d.Settings.Errorf("webhook", "webhook is required"), "bot.yaml:3:5: webhook is required")
	require.EqualError(t, d.Text.Errorf("text: %v", "odd"), "bot.yaml:5:11: text: odd")
	require.EqualError(t, c.Rules[0].Text.Errorf("text: odd"), "bot.yaml:9:11: text: odd")
	require.EqualError(t, c.Rules[0].Errorf("name", "odd"), "bot.yaml:8:11: odd")
	require.EqualError(t, c.Sources[0].Errorf("feed", "odd"), "bot.yaml:1:27: odd")
	require.EqualError(t, c.State.Errorf("dir", "odd"), "bot.yaml:1:1: odd")
	require.ErrorAs(t, d.Errorf("type", "x"), new(config.Problem))

	c, err = parse(destination("    type: ${TYPE}\n"), env{"TYPE": "hunter2"})
	require.NoError(t, err)
	require.EqualError(t, c.Destinations[0].Errorf("type", "no platform %q", c.Destinations[0].Type), `bot.yaml:3:11: no platform "${TYPE}"`)
}

func TestTheFingerprintChangesWithTheSettingsAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	fingerprint := func(lines, token string) string {
		require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
		c, err := config.Parse("bot.yaml", []byte(destination(lines)), dir, env{"HOOK": "https://a.example"}.get)
		require.NoError(t, err)
		return c.Destinations[0].Settings.Fingerprint()
	}
	base := fingerprint("    webhook: https://a.example\n    token_file: token\n", "one")
	require.Regexp(t, "^[0-9a-f]{32}$", base)
	for name, same := range map[string]string{
		"order":       "    token_file: token\n    webhook: https://a.example\n",
		"comments":    "    # a comment\n    webhook: \"https://a.example\"\n    token_file: token\n",
		"common keys": "    webhook: https://a.example\n    token_file: token\n    min_interval: 10m\n    text: x\n",
		"environment": "    webhook: ${HOOK}\n    token_file: token\n",
		"type":        "    webhook: https://a.example\n    token_file: token\n    type: webhook\n",
	} {
		require.Equal(t, base, fingerprint(same, "one"), name)
	}
	for name, other := range map[string]string{
		"value":    "    webhook: https://b.example\n    token_file: token\n",
		"key":      "    hook: https://a.example\n    token_file: token\n",
		"more":     "    webhook: https://a.example\n    token_file: token\n    loud: true\n",
		"less":     "    webhook: https://a.example\n",
		"kind":     "    webhook: [https://a.example]\n    token_file: token\n",
		"platform": "    webhook: https://a.example\n    token_file: token\n    type: slack\n",
	} {
		require.NotEqual(t, base, fingerprint(other, "one"), name)
	}
	require.NotEqual(t, base, fingerprint("    webhook: https://a.example\n    token_file: token\n", "two"), "what the file holds")
}

func TestSecretsCannotBePrinted(t *testing.T) {
	t.Parallel()
	c, err := parse(destination("    former_webhooks: [https://a.example/hunter2]\n"), nil)
	require.NoError(t, err)
	secret := c.Destinations[0].FormerWebhooks[0]
	require.Equal(t, "https://a.example/hunter2", secret.Reveal())
	encoded, err := json.Marshal(secret)
	require.NoError(t, err)
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "secret", secret, "list", c.Destinations[0].FormerWebhooks)
	for _, shown := range []string{
		fmt.Sprint(secret), fmt.Sprintf("%v %+v %#v %s %q %x", secret, secret, secret, secret, secret, secret),
		fmt.Sprintf("%v %+v %#v", c.Destinations[0].FormerWebhooks, c.Destinations[0].FormerWebhooks, c.Destinations[0].FormerWebhooks),
		string(encoded), logged.String(),
	} {
		require.NotContains(t, shown, "hunter2")
		require.NotContains(t, shown, fmt.Sprintf("%x", "hunter2"))
	}
}
