package exec_test

import (
	"context"
	"testing"

	"bot/poster"
	"bot/poster/exec"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func fixture(script string) postertest.Fixture {
	return postertest.Fixture{
		Driver: exec.Driver(),
		Settings: func(string) postertest.Settings {
			return postertest.Settings{"command": []string{"/bin/sh", "-c", script}, "redact": []string{postertest.Secret}}
		},
		Local: true,
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	postertest.Run(t, fixture("cat"))
}

func TestTheExitCodeSaysHowItWent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   poster.Outcome
	}{
		"0 is delivered":                       {"exit 0", poster.Delivered},
		"it need not read":                     {"exec <&-", poster.Delivered},
		"65 is content":                        {"exit 65", poster.RejectedContent},
		"69 is the destination":                {"exit 69", poster.RejectedDestination},
		"75 is later":                          {"exit 75", poster.Later},
		"78 is the destination":                {"exit 78", poster.RejectedDestination},
		"1 may have announced":                 {"exit 1", poster.Unknown},
		"a signal may have come after it":      {"kill -9 $$", poster.Unknown},
		"a program that is not there is a 127": {"exit 127", poster.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fixture("echo "+postertest.Secret+" >&2; "+c.script).New(t, "", nil)
			m, err := p.Render(postertest.Post(t, p, postertest.Article()))
			require.NoError(t, err)
			_, err = p.Post(t.Context(), m)
			require.Equal(t, c.want, poster.OutcomeOf(err), "%v", err)
			if err != nil {
				require.NotContains(t, err.Error(), postertest.Secret)
			}
		})
	}
}

func TestTheProgramGetsTheAnnouncementAndMayNameThePost(t *testing.T) {
	t.Parallel()
	p := fixture(`grep -q '"url":"https://example.jp/a?x=1&y=2"' && echo '{"id":"7","url":"https://example.jp/7"}'`).New(t, "", nil)
	m, err := p.Render(postertest.Post(t, p, postertest.Article()))
	require.NoError(t, err)
	receipt, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, poster.Receipt{RemoteID: "7", RemoteURL: "https://example.jp/7"}, receipt)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Post(cancelled, m)
	require.Equal(t, poster.Later, poster.OutcomeOf(err), "it is not begun when the run is over")
}

func TestAProgramThatIsNotThereIsFoundByCheck(t *testing.T) {
	t.Parallel()
	p, err := exec.Driver().New(postertest.Settings{"command": []string{"/nowhere/announce"}}, poster.Options{})
	require.NoError(t, err)
	checker, ok := p.(poster.Checker)
	require.True(t, ok)
	require.Equal(t, poster.RejectedDestination, poster.OutcomeOf(checker.Check(t.Context())))
	_, err = p.Post(t.Context(), poster.Message{})
	require.Equal(t, poster.RejectedDestination, poster.OutcomeOf(err))
	_, err = exec.Driver().New(postertest.Settings{}, poster.Options{})
	require.ErrorContains(t, err, "command")
}
