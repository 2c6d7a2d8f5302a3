package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"bot/cmd"

	"github.com/stretchr/testify/require"
)

func TestAnEnvOfNothingIsFilledWithTheRealWorld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  cmd.Env
		want int
	}{
		"no arguments at all": {cmd.Env{}, 0},
		"a command":           {cmd.Env{Args: []string{"version"}}, 0},
		"a wrong command":     {cmd.Env{Args: []string{"no-such-command"}}, 64},
		"a config":            {cmd.Env{Args: []string{"-c", "no/such/file.yaml", "run"}}, 64},
		"the demonstration":   {cmd.Env{Args: []string{"demo"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, cmd.Run(context.Background(), c.env))
		})
	}
}

func TestWithoutAnEnvironmentTheGuardRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, 0, cmd.Run(context.Background(), cmd.Env{Args: []string{"init"}, Dir: dir}))
	require.Equal(t, 4, cmd.Run(context.Background(), cmd.Env{Args: []string{"run"}, Dir: dir}))
	require.Equal(t, 0, cmd.Run(context.Background(), cmd.Env{Args: []string{"status"}, Dir: dir}))
}

func TestAPanicIsNotSwallowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, 0, cmd.Run(context.Background(), cmd.Env{Args: []string{"init"}, Dir: dir}))
	require.PanicsWithValue(t, "no clock", func() {
		cmd.Run(context.Background(), cmd.Env{Args: []string{"check", "--offline"}, Dir: dir, Now: func() time.Time { panic("no clock") }})
	})
}

func TestAnInterruptedRunSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, 0, cmd.Run(context.Background(), cmd.Env{Args: []string{"init"}, Dir: dir}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, command := range []string{"enqueue", "process", "run", "preview", "check"} {
		var said bytes.Buffer
		env := smallWorld(dir, "a", command)
		env.Stderr = &said
		require.Equal(t, 130, cmd.Run(ctx, env), command)
		require.Contains(t, []string{"", "bot: interrupted\n"}, said.String(), command)
	}
}

// smallWorld is a world of its own, with a receiver that is the screen.
func smallWorld(dir, host string, args ...string) cmd.Env {
	return cmd.Env{
		Args: args, Dir: dir,
		Getenv: func(name string) string {
			if name == "FLEET_HOST" {
				return host
			}
			return ""
		},
		Hostname: func() (string, error) { return host, nil },
		Now:      func() time.Time { return time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC) },
	}
}

func TestTwoRunsShareNothing(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 8 {
		dir := t.TempDir()
		wg.Go(func() {
			url := fmt.Sprintf("https://manga.example/%d", i)
			var said bytes.Buffer
			for _, args := range [][]string{
				{"init"}, {"enqueue", "--url", url, "--quiet"}, {"process", "--log-level", "debug"},
				{"status", "--json"}, {"posted", "list", "--log-format", "json"},
			} {
				env := smallWorld(dir, fmt.Sprintf("host-%d", i), args...)
				env.Stdout, env.Stderr = &said, &said
				if code := cmd.Run(context.Background(), env); code != 0 {
					t.Errorf("bot %v: exit code %d: %s", args, code, &said)
				}
			}
			if n := bytes.Count(said.Bytes(), []byte("https://manga.example/")); n != bytes.Count(said.Bytes(), []byte(url)) {
				t.Errorf("run %d saw what was another's: %s", i, &said)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "state", "posted.json")); err != nil || bytes.Count(text, []byte(url)) != 1 {
				t.Errorf("run %d: %s, %v", i, text, err)
			}
		})
	}
	wg.Wait()
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, 0, cmd.Run(context.Background(), smallWorld(dir, "a", "init")))
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"enqueue", "--url", "https://manga.example/1"}, {"export"}, {"version"}, {"preview", "--json"},
	} {
		var said bytes.Buffer
		env := smallWorld(dir, "a", args...)
		env.Stdout, env.Stderr = full{}, &said
		require.Equal(t, 1, cmd.Run(context.Background(), env), args)
		require.Contains(t, said.String(), syscall.ENOSPC.Error())
	}
}

func TestDestinationsThatPrintSideBySideStayApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := "destinations:\n"
	for i := range 8 {
		config += fmt.Sprintf("  - {name: screen-%d, type: console}\n", i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), []byte(config), 0o600))
	var said bytes.Buffer
	for _, args := range [][]string{{"init"}, {"enqueue", "--url", "https://manga.example/1"}, {"process"}} {
		said.Reset()
		env := smallWorld(dir, "a", args...)
		env.Stdout, env.Stderr = &said, &said
		require.Equal(t, 0, cmd.Run(context.Background(), env), said.String())
	}
	for i := range 8 {
		require.Contains(t, said.String(), fmt.Sprintf("screen-%d:\n  https://manga.example/1\n", i))
	}
}
