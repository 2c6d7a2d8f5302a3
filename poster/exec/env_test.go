package exec_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"bot/poster"
	program "bot/poster/exec"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// TestAProgramIsGivenNoMoreOfTheEnvironmentThanItNeeds: the secrets of other
// destinations stand in it.
func TestAProgramIsGivenNoMoreOfTheEnvironmentThanItNeeds(t *testing.T) {
	t.Setenv("OTHER_DESTINATIONS_TOKEN", postertest.Secret)
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip("there is no env")
	}
	surrounding := map[string]string{
		"PATH": "/bin:/usr/bin", "HOME": "/home/taro", "TZ": "Asia/Tokyo", "OTHER_DESTINATIONS_TOKEN": postertest.Secret,
		"HTTP_PROXY": "http://user:" + postertest.Secret + "@proxy.example", "LANG": "C",
	}
	// The program writes what it was given as the post's ID.
	script := `printf '{"id":"%s"}' "$(` + env + ` | sort | grep -v '^PWD=\|^SHLVL=\|^_=\|^OLDPWD=' | tr '\n' ' ')"`
	p, err := program.Driver().New(postertest.Settings{
		"command": []string{"/bin/sh", "-c", script}, "env": map[string]string{"LANG": "ja_JP.UTF-8", "CHANNEL": "news"},
	}, poster.Options{Now: time.Now, Getenv: func(name string) string { return surrounding[name] }})
	require.NoError(t, err)
	m, err := p.Render(poster.Post{ID: "id", Text: "text"})
	require.NoError(t, err)
	receipt, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	require.NotContains(t, receipt.RemoteID, postertest.Secret)
	// What the config sets is a secret, and so it is cut out of what is shown.
	require.Equal(t, "CHANNEL=[redacted] HOME=/home/taro LANG=[redacted] PATH=/bin:/usr/bin TZ=Asia/Tokyo", receipt.RemoteID)
}

func TestTheEnvironmentOfAProgramIsNotSeen(t *testing.T) {
	t.Parallel()
	p, err := program.Driver().New(postertest.Settings{
		"command": []string{"/bin/sh", "-c", `echo "no $TOKEN" >&2; exit 65`}, "env": map[string]string{"TOKEN": postertest.Secret},
	}, poster.Options{Now: time.Now})
	require.NoError(t, err)
	_, err = p.Post(t.Context(), poster.Message{ID: "id", Body: []byte("{}")})
	require.ErrorContains(t, err, "(no [redacted])")
	text, _ := json.Marshal(p)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", p, p, p, text), postertest.Secret)

	_, err = program.Driver().New(postertest.Settings{"command": []string{"x"}, "env": map[string]string{"A=B": "c"}}, poster.Options{Now: time.Now})
	require.ErrorContains(t, err, `env: "A=B" is no variable`)
}
