package mastodon_test

import (
	"net/http"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/mastodon"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// named makes a poster with an account's name, which may be empty.
func named(t *testing.T, server, account, token string) (poster.Poster, error) {
	t.Helper()
	settings := postertest.Settings{"server": server, "token": token}
	if account != "" {
		settings["account"] = account
	}
	return mastodon.Driver().New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return postertest.Now }})
}

// TestATokenThatIsRenewedIsTheSameDestination: the identity is the server and the
// account, and an earlier version's, which held the token, counts as well.
func TestATokenThatIsRenewedIsTheSameDestination(t *testing.T) {
	t.Parallel()
	identity := func(server, account, token string) string {
		p, err := named(t, server, account, token)
		require.NoError(t, err)
		require.Equal(t, "https://mastodon.example "+token, p.Traits().Former[0].Reveal())
		return p.Traits().Identity.Reveal()
	}
	const server = "https://mastodon.example"
	require.Equal(t, identity(server, "", "old"), identity(server+"/", "", "new"))
	require.Equal(t, identity(server, "news", "old"), identity(server, " @News@mastodon.example", "new"))
	require.NotEqual(t, identity(server, "news", "a"), identity(server, "fans", "a"))
	require.NotEqual(t, identity(server, "news", "a"), identity(server, "", "a"))
	_, err := named(t, server, "a b", "token")
	require.ErrorContains(t, err, "account is the account's name, such as @news")
}

func TestCheckComparesTheAccountWithTheToken(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		postertest.Answer{Status: 200, Body: `{"id":"1","username":"News"}`}.ServeHTTP(w, nil)
	}))
	for account, wrong := range map[string]bool{"": false, "news": false, "@news@mastodon.example": false, "fans": true} {
		p, err := named(t, s.URL, account, "hush")
		require.NoError(t, err)
		checker, ok := p.(poster.Checker)
		require.True(t, ok)
		if err := checker.Check(t.Context()); wrong {
			require.ErrorContains(t, err, "the token is that of @news, not of @fans")
		} else {
			require.NoError(t, err)
		}
	}
}
