package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bot/cmd"

	"github.com/stretchr/testify/require"
)

// evil is a text as nobody means well: it clears the screen, renames the window, turns
// the direction of what follows, and begins a line that looks like the program's own.
const evil = "x\x1b[2J\x1b]0;owned\x07\u202e\u009b31m\r\nFORGED line\r\n\tFORGED too\u2028FORGED"

// inJSON writes evil as JSON may hold it.
func inJSON() string { return strings.ReplaceAll(strconv.QuoteToASCII(evil), `\x`, `\u00`) }

// hostileFleet is a directory whose state, config and source are all evil.
func hostileFleet(t *testing.T, receiver string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.ReplaceAll(strings.ReplaceAll(inJSON(), `\a`, `\u0007`), `\x07`, `\u0007`)
	record := func(more string) string {
		return fmt.Sprintf(`{"title":%s,"source":%[1]s,"rule":%[1]s,"last_error":%[1]s,"reason":%[1]s,"remote_url":%[1]s,"remote_id":%[1]s,`+
			`"claimed_by":%[1]s,"summary":%[1]s,"author":%[1]s,"categories":[%[1]s],%[2]s}`, text, more)
	}
	webhook := receiver + "/a"
	files := map[string]string{
		"bot.yaml": fmt.Sprintf("destinations: [{name: a, webhook: %q}, {name: screen, type: console}]\nsources: [{name: s, list: list.txt, first_run: all}]\n", webhook),
		"list.txt": "https://manga.example/l\x1b[2J\nhttps://manga.example/ok\n",
		"state/posted.json": "[" + record(fmt.Sprintf(`"webhook":%q,"url":"https://manga.example/p","destination":%s`, webhook, text)) + "," +
			text + "]",
		"state/queue.json": "[" + strings.Join([]string{
			record(fmt.Sprintf(`"webhook":%q,"url":"https://manga.example/q1","status":"queued","due_at":"2026-08-01T00:00:00Z"`, webhook)),
			record(fmt.Sprintf(`"webhook":%q,"url":"https://manga.example/q2","status":"uncertain","destination":%s`, webhook, text)),
			record(fmt.Sprintf(`"webhook":%q,"url":"https://manga.example/q3","status":"failed"`, webhook)),
			record(fmt.Sprintf(`"webhook":%s,"url":"https://manga.example/q4","status":"queued","due_at":"2026-08-01T00:00:00Z"`, text)),
			record(fmt.Sprintf(`"url":%s`, text)),
		}, ",\n") + "]",
	}
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func TestNothingFromOutsideSteersATerminalOrForgesALine(t *testing.T) {
	t.Parallel()
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/\x1b[2J")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"error":%q,"message":%[1]q,"id":%[1]q,"url":%[1]q}`+"\n%[1]s", evil)
	}))
	t.Cleanup(answers.Close)
	dir := hostileFleet(t, answers.URL)
	ids := map[string]string{}
	for _, args := range [][]string{
		{"status"}, {"check", "--offline"}, {"check"}, {"queue", "list"}, {"posted", "list"}, {"queue", "show", "ID q1"}, {"queue", "show", "ID q2"},
		{"explain", "https://manga.example/q1"}, {"explain", evil}, {"explain", "https://manga.example/p"}, {"preview"}, {"backtest", "--days", "9"},
		{"export"}, {"enqueue", "--dry-run"}, {"process", "--dry-run"}, {"enqueue"}, {"enqueue", "--url", evil}, {"enqueue", "--url", "https://manga.example/u", "--title", evil},
		{"process"}, {"queue", "list"}, {"queue", "show", "ID q1"}, {"posted", "add", "https://manga.example/" + evil}, {"posted", "list"}, {"status"},
		{"resolve", evil, "--posted"}, {"resolve", "ID q2", "--posted", "--remote-url", evil}, {"pause", "--reason", evil}, {"status"}, {"process"}, {"resume"},
		{"queue", "cancel", evil}, {"-c", evil, "status"}, {"import", evil}, {evil}, {"--" + evil},
	} {
		for _, more := range [][]string{nil, {"--json"}, {"--log-level", "debug"}, {"--log-level", "debug", "--log-format", "json"}} {
			args := append(append([]string{}, args...), more...)
			for i, a := range args {
				if name, ok := strings.CutPrefix(a, "ID "); ok {
					args[i] = idOf(t, dir, ids, "https://manga.example/"+name)
				}
			}
			var said bytes.Buffer
			env := smallWorld(dir, "a", args...)
			env.Stdout, env.Stderr = &said, &said
			cmd.Run(context.Background(), env)
			require.Equal(t, -1, bytes.IndexFunc(said.Bytes(), steers), "bot %q: %q", args, said.String())
			for line := range strings.Lines(said.String()) {
				require.False(t, strings.HasPrefix(strings.TrimPrefix(line, "bot: "), "FORGED"), "bot %q: %q", args, line)
			}
		}
	}
}

// idOf returns the ID of the entry of an address.
func idOf(t *testing.T, dir string, known map[string]string, url string) string {
	t.Helper()
	if known[url] == "" {
		var out bytes.Buffer
		env := smallWorld(dir, "a", "export")
		env.Stdout = &out
		require.Equal(t, 0, cmd.Run(context.Background(), env))
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, `"url":"`+url+`"`) {
				_, rest, _ := strings.Cut(line, `"id":"`)
				known[url], _, _ = strings.Cut(rest, `"`)
			}
		}
		require.NotEmpty(t, known[url])
	}
	return known[url]
}

func TestNamesThatLeadAstrayAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../etc", "a/b", "..", ".", "a\\b", "A", "", "a\x1b[2J", "-a", strings.Repeat("a", 65), "a b", "a\nb", "ａ"} {
		for _, config := range []string{
			"sources: [{name: %q, list: l.txt}]", "destinations: [{name: %q, type: console}]", "rules: [{name: %q}]",
			"state: {backend: firestore, project: demo-p, fleet: %q}",
		} {
			if (name == "" || name == "A" || len(name) == 65) && strings.HasPrefix(config, "state") {
				continue // not given, so it is the default; and a fleet may be called the others
			}
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), fmt.Appendf(nil, config, name), 0o600))
			var said bytes.Buffer
			env := smallWorld(dir, "a", "status")
			env.Stdout, env.Stderr = &said, &said
			require.Equal(t, 64, cmd.Run(context.Background(), env), "%s: %q: %s", config, name, &said)
			require.Equal(t, -1, bytes.IndexFunc(said.Bytes(), steers), "%q", said.String())
		}
	}
}

// endless never ends, and never ends a line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestWhatNeverEndsIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, 0, cmd.Run(context.Background(), smallWorld(dir, "a", "init")))
	for _, args := range [][]string{{"import", "-"}, {"enqueue", "--from", "-"}} {
		var said bytes.Buffer
		env := smallWorld(dir, "a", args...)
		env.Stdin, env.Stderr = endless{}, &said
		require.Equal(t, 1, cmd.Run(context.Background(), env))
		require.Contains(t, said.String(), " MiB")
	}
}
