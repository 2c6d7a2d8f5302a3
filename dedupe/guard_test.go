package dedupe_test

import (
	"errors"
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestGuardLetsOnlyTheOwnerWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, owner, host string
		hostErr           error
		want              string // part of the refusal; empty: allowed
	}{
		{name: "the owner may write", owner: "press-01", host: "press-01"},
		{name: "case does not count", owner: "Press-01.Example.JP", host: "press-01.example.jp"},
		{name: "blanks around a name do not count", owner: " press-01\n", host: "press-01\n"},
		{name: "an unset owner is refused", host: "press-01", want: "FLEET_HOST is not set"},
		{name: "a blank owner is refused", owner: " \t", host: "press-01", want: "FLEET_HOST is not set"},
		{name: "another machine is refused", owner: "press-01", host: "press-02", want: "not the one that FLEET_HOST names"},
		{name: "a part of the name is not the name", owner: "press-01", host: "press-01.example.jp", want: "not the one"},
		{name: "a longer name is not the name", owner: "press-01.example.jp", host: "press-01", want: "not the one"},
		{name: "localhost owns nothing", owner: "localhost", host: "localhost", want: "many machines have"},
		{name: "localhost in capitals owns nothing", owner: "LOCALHOST", host: "press-01", want: "many machines have"},
		{name: "localhost.localdomain owns nothing", owner: "localhost.localdomain", host: "localhost.localdomain", want: "many machines have"},
		{name: "localhost with a root dot owns nothing", owner: "localhost.", host: "localhost.", want: "many machines have"},
		{name: "(none) owns nothing", owner: "(none)", host: "(none)", want: "many machines have"},
		{name: "a loopback address owns nothing", owner: "127.0.0.1", host: "127.0.0.1", want: "many machines have"},
		{name: "a machine called localhost is refused", owner: "press-01", host: "localhost", want: "no host name of its own"},
		{name: "a machine without a name is refused", owner: "press-01", host: "", want: "no host name of its own"},
		{name: "a machine called (none) is refused", owner: "press-01", host: "(none)", want: "no host name of its own"},
		{name: "a machine whose name cannot be read is refused", owner: "press-01", host: "press-01", hostErr: errors.New("press-01: no"), want: "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := dedupe.Guard{Owner: c.owner, Hostname: func() (string, error) { return c.host, c.hostErr }}.Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, dedupe.ErrRefused)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "FLEET_HOST must be set to the owner's host name")
			require.NotContains(t, err.Error(), "press")
			require.NotContains(t, err.Error(), "localhost")
			require.NotContains(t, err.Error(), "(none)")
		})
	}
}

func TestGuardWithoutAWayToAskIsRefused(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, dedupe.Guard{Owner: "press-01"}.Check(), dedupe.ErrRefused)
}
