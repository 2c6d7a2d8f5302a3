package x_test

import (
	"testing"

	"bot/poster"
	"bot/poster/postertest"
	"bot/poster/x"

	"github.com/stretchr/testify/require"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: x.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"server": address, "consumer_key": "ck" + postertest.Secret, "consumer_secret": postertest.Secret, "access_token": "42-" + postertest.Secret, "access_secret": "as" + postertest.Secret, "paid": true}
		},
		Delivered: postertest.Answer{Status: 201, Body: `{"data":{"id":"1","text":"t"}}`},
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	postertest.Run(t, fixture())
}

func TestAPostIsOneSignedRequest(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, fixture().Delivered)
	p := fixture().New(t, s.URL, s.Client())
	m, err := p.Render(postertest.Post(t, p, postertest.Article()))
	require.NoError(t, err)
	receipt, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, poster.Receipt{RemoteID: "1", RemoteURL: "https://x.com/i/status/1"}, receipt)
	r := s.Requests()[0]
	require.Equal(t, "POST /2/tweets", r.Method+" "+r.RequestURI)
	require.JSONEq(t, `{"text":"A title\nhttps://example.jp/a?x=1&y=2"}`, r.Content)
	require.Regexp(t, `^OAuth oauth_consumer_key="ck.*", oauth_nonce="\w+", oauth_signature_method="HMAC-SHA1", `+
		`oauth_timestamp="1785747600", oauth_token="42-.*", oauth_version="1.0", oauth_signature="[^"]+"$`, r.Header.Get("Authorization"))
}

func TestThatPostsAreBilledHasToBeAgreedTo(t *testing.T) {
	t.Parallel()
	settings := fixture().Settings("https://api.example")
	delete(settings, "paid")
	_, err := x.Driver().New(settings, poster.Options{})
	require.ErrorContains(t, err, "paid: true")
}
