package poster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// roundTrip is a transport that is not Go's own.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// client returns one that uses this transport.
func client(t http.RoundTripper, secrets ...string) *poster.Client {
	var all []poster.Secret
	for _, s := range secrets {
		all = append(all, poster.NewSecret(s))
	}
	return poster.NewClient(poster.Options{
		Destination: "account", HTTP: &http.Client{Transport: t}, UserAgent: "bot/test", Now: func() time.Time { return now },
	}, all...)
}

// failing returns the error of a request that ends with err.
func failing(err error) error {
	c := client(roundTrip(func(*http.Request) (*http.Response, error) { return nil, err }))
	_, err = c.Do(context.Background(), poster.Request{URL: poster.NewSecret("http://a.example/x"), Body: []byte("{}")})
	return err
}

func TestATransportThatIsNotGosOwnIsBelievedOnlyWhenItNeverConnected(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want poster.Outcome
	}{
		"a dial":                 {&net.OpError{Op: "dial", Err: errors.New("refused")}, poster.Later},
		"a name":                 {fmt.Errorf("fake: %w", &net.DNSError{Err: "no such host"}), poster.Later},
		"a write":                {&net.OpError{Op: "write", Err: errors.New("broken pipe")}, poster.Unknown},
		"a read":                 {&net.OpError{Op: "read", Err: errors.New("reset")}, poster.Unknown},
		"an end":                 {io.ErrUnexpectedEOF, poster.Unknown},
		"a deadline":             {context.DeadlineExceeded, poster.Unknown},
		"anything else":          {errors.New("?"), poster.Unknown},
		"a redirect gone astray": {http.ErrUseLastResponse, poster.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, poster.OutcomeOf(failing(test.err)))
		})
	}
}

func TestARequestIsMadeOnceAndCannotBeRepeatedByTheTransport(t *testing.T) {
	t.Parallel()
	var got *http.Request
	c := client(roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	}))
	_, err := c.Do(t.Context(), poster.Request{
		URL: poster.NewSecret(" http://a.example/x "), Header: http.Header{"user-agent": {"another"}}, Body: []byte("{}"),
	})
	require.NoError(t, err)
	require.Nil(t, got.GetBody)
	require.True(t, got.Close)
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, []string{"bot/test"}, got.Header["User-Agent"])
	require.EqualValues(t, 2, got.ContentLength)
	deadline, ok := got.Context().Deadline()
	require.True(t, ok)
	require.LessOrEqual(t, time.Until(deadline), time.Minute)
}

func TestTheClientThatWasGivenIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	given := &http.Transport{}
	base := &http.Client{Transport: given}
	poster.NewClient(poster.Options{HTTP: base, Now: time.Now})
	require.False(t, given.DisableKeepAlives)
	require.Nil(t, given.DialContext)
	require.Nil(t, base.CheckRedirect)
}

func TestAServerThatSpeaksHTTP2IsSpokenToInHTTP1(t *testing.T) {
	t.Parallel()
	var major atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		major.Store(int64(r.ProtoMajor))
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	r, err := client(s.Client().Transport).Do(t.Context(), poster.Request{URL: poster.NewSecret(s.URL), Body: []byte("{}")})
	require.NoError(t, err)
	require.Equal(t, 200, r.Status)
	require.EqualValues(t, 1, major.Load())
}

func TestAProxyThatRefusesMeansThatNothingWasSent(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(strings.Replace(proxy.URL, "http://", "http://user:PROXYPASSWORD@", 1))
	require.NoError(t, err)
	for name, transport := range map[string]*http.Transport{
		"by its answer":      {Proxy: http.ProxyURL(address)},
		"by a wrong setting": {Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("bad proxy " + address.String()) }},
	} {
		_, err = client(transport).Do(t.Context(), poster.Request{URL: poster.NewSecret("https://a.example/x"), Body: []byte("{}")})
		require.Equal(t, poster.Later, poster.OutcomeOf(err), name)
		require.NotContains(t, err.Error(), "PROXYPASSWORD")
	}
}

func TestAnAnswerIsReadUpToAMebibyte(t *testing.T) {
	t.Parallel()
	c := client(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", 2<<20)))}, nil
	}))
	r, err := c.Do(t.Context(), poster.Request{URL: poster.NewSecret("http://a.example")})
	require.NoError(t, err)
	require.Len(t, r.Body, 1<<20)
	require.False(t, r.Torn)
}

func TestRedactingCutsOutEverySpellingOfASecret(t *testing.T) {
	t.Parallel()
	c := client(nil,
		"https://user:pass-word@hooks.example.com/services/T000/SECRET%2FPART?sig=a%2Bb%3Dcdef&x=1#frag-ment",
		"token with blank",
		"whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
	)
	for said, want := range map[string]string{
		"at https://user:pass-word@hooks.example.com/services/T000/SECRET%2FPART?sig=a%2Bb%3Dcdef&x=1#frag-ment now": "at [redacted] now",
		"POST /services/T000/SECRET%2FPART?sig=a%2Bb%3Dcdef&x=1 failed":                                              "POST [redacted] failed",
		"sig is a+b=cdef":                  "sig is [redacted]",
		"part SECRET/PART":                 "part [redacted]/[redacted]",
		"user pass-word":                   "[redacted] [redacted]",
		"Bearer token with blank":          "Bearer [redacted]",
		"token+with+blank":                 "[redacted]",
		"token%20with%20blank":             "[redacted]",
		"MDEyMzQ1Njc4OWFiY2RlZg==":         "[redacted]",
		"token\x00 with blank":             "[redacted]",
		"hooks.example.com refused it":     "hooks.example.com refused it",
		"the webhook services api is down": "the webhook services api is down",
		"two\nlines\x1b[31m":               "two lines[31m",
	} {
		require.Equal(t, want, c.Redact(said), "%q", said)
	}
}

func TestAnythingCanBeASecret(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", " ", "://", "////://", "=://=", "https://", "http://%zz/SECRET", "a", "\xff\xfe\xfd\xfc"} {
		c := client(nil, secret)
		require.Equal(t, "nothing to hide", c.Redact("nothing to hide"), "%q", secret)
	}
	require.Equal(t, "at [redacted]", client(nil, "http://%zz/SECRET").Redact("at SECRET"))
}

func TestAReceiptIsCleanAndWithinBounds(t *testing.T) {
	t.Parallel()
	c := client(nil, "https://hooks.example.com/SECRETPATH")
	require.Equal(t, poster.Receipt{RemoteID: "a b", RemoteURL: "https://example.jp/p%3Cb%3E"}, c.Receipt("a\nb\x00", "https://example.jp/p<b>"))
	for _, address := range []string{"javascript:alert(1)", "/relative", "", "https://", "https://x.example/SECRETPATH", "https://x.example/" + strings.Repeat("x", 3000)} {
		require.Empty(t, c.Receipt("1", address).RemoteURL, address)
	}
	require.LessOrEqual(t, len(c.Receipt(strings.Repeat("x", 9999), "").RemoteID), 210)
}
