package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/postertest"
	"bot/poster/webhook"

	"github.com/stretchr/testify/require"
)

// send announces the article with these settings and returns the request.
func send(t *testing.T, extra postertest.Settings, a poster.Article) (postertest.Received, poster.Receipt) {
	t.Helper()
	s := postertest.Serve(t, fixture().Delivered)
	settings := postertest.Settings{"webhook": s.URL + "/hook"}
	for name, v := range extra {
		settings[name] = v
	}
	p, err := webhook.Driver().New(settings, poster.Options{
		Destination: "account", HTTP: &http.Client{}, UserAgent: "bot/test", Now: func() time.Time { return postertest.Now },
	})
	require.NoError(t, err)
	m, err := p.Render(postertest.Post(t, p, a))
	require.NoError(t, err)
	receipt, err := p.Post(t.Context(), m)
	require.NoError(t, err)
	require.Len(t, s.Requests(), 1)
	return s.Requests()[0], receipt
}

func TestTheBodyIsAsItIsDocumented(t *testing.T) {
	t.Parallel()
	request, receipt := send(t, nil, postertest.Article())
	want, err := os.ReadFile("testdata/request.json")
	require.NoError(t, err)
	require.JSONEq(t, string(want), request.Content)
	require.Equal(t, http.MethodPost, request.Method)
	require.Equal(t, "application/json", request.Header.Get("Content-Type"))
	require.Equal(t, "5f1de1a3-6a2c-5a53-8d39-3c7c6f1f0d11", request.Header.Get("Idempotency-Key"))
	require.Empty(t, request.Header.Get("webhook-signature"))
	require.Equal(t, "1", receipt.RemoteID)

	request, _ = send(t, nil, poster.Article{URL: "https://example.jp/a"})
	want, err = os.ReadFile("testdata/bare.json")
	require.NoError(t, err)
	require.JSONEq(t, string(want), request.Content)
}

func TestASecretSignsAsStandardWebhooksSays(t *testing.T) {
	t.Parallel()
	first, second := []byte("0123456789abcdef0123456789abcdef"), []byte("abcdefghijklmnopqrstuvwxyz012345")
	encode := func(key []byte) poster.Secret {
		return poster.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(key))
	}
	request, _ := send(t, postertest.Settings{"secret": encode(first).Reveal(), "secrets": []string{encode(second).Reveal()}}, postertest.Article())
	id, at := request.Header.Get("webhook-id"), request.Header.Get("webhook-timestamp")
	require.Equal(t, "5f1de1a3-6a2c-5a53-8d39-3c7c6f1f0d11", id)
	require.Equal(t, strconv.FormatInt(postertest.Now.Unix(), 10), at)
	signatures := strings.Fields(request.Header.Get("webhook-signature"))
	require.Len(t, signatures, 2, "one for each secret, while it is changed")
	for i, key := range [][]byte{first, second} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + at + "." + request.Content))
		require.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), signatures[i])
	}
}

// TestASignatureIsTheOneOfThePublishedExample holds it against the example that
// the libraries of Standard Webhooks are tested with.
func TestASignatureIsTheOneOfThePublishedExample(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, fixture().Delivered)
	p, err := webhook.Driver().New(
		postertest.Settings{"webhook": s.URL, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		poster.Options{Destination: "account", HTTP: &http.Client{}, Now: func() time.Time { return time.Unix(1614265330, 0) }},
	)
	require.NoError(t, err)
	_, err = p.Post(t.Context(), poster.Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Body: []byte(`{"test": 2432232314}`)})
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", s.Requests()[0].Header.Get("webhook-signature"))
}

func TestABodyOfOnesOwnIsValidJSONWhateverTheTitleHolds(t *testing.T) {
	t.Parallel()
	body := `{"msg": "New: {{.Title}} {{.URL}}", "raw": {{.Title}}, "tags": {{.Categories}}, "n": 1}`
	for _, title := range []string{`He said "no" \ yes`, "two\nlines\t\x00", "</script>", `"}], "x": [{"`, "", "\u2028", "{{.URL}}"} {
		a := postertest.Article()
		a.Title = title
		request, _ := send(t, postertest.Settings{"body": body}, a)
		var got struct {
			Msg, Raw string
			Tags     []string
			N        int
			X        any
		}
		require.NoError(t, json.Unmarshal([]byte(request.Content), &got), request.Content)
		require.Equal(t, poster.CleanLine(title), got.Raw)
		require.Equal(t, "New: "+poster.CleanLine(title)+" "+a.URL, got.Msg)
		require.Equal(t, a.Categories, got.Tags)
		require.Nil(t, got.X, "a title adds no member")
	}
}

func TestWrongSettingsAreErrorsThatShowNoSecret(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]postertest.Settings{
		"no webhook":                 {},
		"another scheme":             {"webhook": "ftp://" + postertest.Secret},
		"a secret that is no base64": {"webhook": "https://x.example", "secret": "whsec_***" + postertest.Secret},
		"a secret that is empty":     {"webhook": "https://x.example", "secret": "whsec_"},
		"a header of ours":           {"webhook": "https://x.example", "headers": map[string]string{"idempotency-key": postertest.Secret}},
		"a header with a line":       {"webhook": "https://x.example", "headers": map[string]string{"X-A": postertest.Secret + "\r\nX-B: 1"}},
		"a body that is no JSON":     {"webhook": "https://x.example", "body": `{"a": {{.Title}}`},
		"a body with a bad field":    {"webhook": "https://x.example", "body": `{"a": {{.Titel}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := webhook.Driver().New(set, poster.Options{Destination: "account"})
			require.Error(t, err)
			require.NotContains(t, err.Error(), postertest.Secret)
		})
	}
}

func TestOnlyADestinationThatSaysSoIsIdempotent(t *testing.T) {
	t.Parallel()
	traits := func(set postertest.Settings) poster.Traits {
		p, err := webhook.Driver().New(set, poster.Options{Destination: "account"})
		require.NoError(t, err)
		return p.Traits()
	}
	require.Zero(t, traits(postertest.Settings{"webhook": "https://x.example"}).Idempotent)
	require.Positive(t, traits(postertest.Settings{"webhook": "https://x.example", "idempotent": true}).Idempotent)
}
