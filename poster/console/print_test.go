package console_test

import (
	"context"
	"errors"
	"testing"

	"bot/poster"
	"bot/poster/console"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// print announces the article and returns what was printed.
func print(t *testing.T, format string) string {
	t.Helper()
	f := fixture(format)
	p := f.New(t, "", nil)
	m, err := p.Render(postertest.Post(t, p, postertest.Article()))
	require.NoError(t, err)
	require.Empty(t, f.Stdout.String(), "rendering prints nothing")
	receipt, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, poster.Receipt{}, receipt)
	require.Equal(t, "console:account", p.Traits().Identity.Reveal())
	return f.Stdout.String()
}

func TestATextIsPrintedAsABlockOrAsALineOfJSON(t *testing.T) {
	t.Parallel()
	require.Equal(t, "account:\n  A title\n  https://example.jp/a?x=1&y=2\n", print(t, "text"))
	require.Equal(t, `{"id":"5f1de1a3-6a2c-5a53-8d39-3c7c6f1f0d11","destination":"account",`+
		`"text":"A title\nhttps://example.jp/a?x=1&y=2","url":"https://example.jp/a?x=1&y=2","title":"A title"}`+"\n", print(t, "json"))
}

// broken takes some bytes and then no more.
type broken int

func (b broken) Write([]byte) (int, error) { return int(b), errors.New("broken\npipe") }

func TestAnOutputThatBreaksIsLaterOnlyIfNothingWasPrinted(t *testing.T) {
	t.Parallel()
	for taken, want := range map[broken]poster.Outcome{0: poster.Later, 3: poster.Unknown} {
		p, err := console.Driver().New(postertest.Settings{}, poster.Options{Destination: "account", Stdout: taken})
		require.NoError(t, err)
		_, err = p.Post(t.Context(), poster.Message{ID: "id", Body: []byte("a text")})
		require.Equal(t, want, poster.OutcomeOf(err))
		require.NotContains(t, err.Error(), "\n")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = p.Post(ctx, poster.Message{ID: "id", Body: []byte("a text")})
		require.Equal(t, poster.Later, poster.OutcomeOf(err))
	}
}

func TestAnotherFormatIsAnError(t *testing.T) {
	t.Parallel()
	_, err := console.Driver().New(postertest.Settings{"format": "xml"}, poster.Options{Destination: "account"})
	require.ErrorContains(t, err, "text or json")
}
