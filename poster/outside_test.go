package poster_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// loopback is a server on this machine, and its port.
func loopback(t *testing.T, h http.HandlerFunc) (server, port string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	return s.URL, port
}

func get(ctx context.Context, t *testing.T, c *http.Client, address string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// nowhere is a transport that answers everything.
type nowhere struct{}

func (nowhere) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

func TestOutsideGoesNowherePrivate(t *testing.T) {
	t.Parallel()
	for host, class := range map[string]string{
		"127.0.0.1": "loopback", "127.255.0.9": "loopback", "[::1]": "loopback", "[::ffff:127.0.0.1]": "loopback",
		"localhost": "loopback", "feed.localhost.": "loopback",
		"10.1.2.3": "private", "172.31.0.1": "private", "192.168.1.1": "private", "[fd12::1]": "private", "[::ffff:10.0.0.1]": "private",
		"[fec0::1]": "private", "[64:ff9b::a00:1]": "private", "[64:ff9b:1::1]": "private", "[2002:a00:1::]": "private",
		"[2001:0:1:2:3:4:f5ff:fffe]": "private", "[::10.0.0.1]": "private", "[::ffff:0:10.0.0.1]": "private",
		"100.64.0.1": "carrier's private", "169.254.1.1": "link-local", "[fe80::1]": "link-local", "[fe80::1%25eth0]": "link-local",
		"169.254.169.254": "metadata service's", "[fd00:ec2::254]": "metadata service's", "[64:ff9b::a9fe:a9fe]": "metadata service's",
		"168.63.129.16": "metadata service's", "metadata.google.internal": "metadata service's",
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "[::]": "unspecified", "224.0.0.1": "multicast", "[ff02::1]": "multicast",
		"255.255.255.255": "reserved", "198.18.0.1": "reserved", "192.0.0.1": "reserved",
		"127.1": "disguised", "2130706433": "disguised", "0x7F.0.0.1": "disguised", "0x7f000001": "disguised", "10.0.0.0x1.": "disguised",
		"1.example.jp": "", "0x.jp": "", "example.jp": "", "93.184.216.34": "", "[2606:2800::1]": "", "[64:ff9b::5db8:d822]": "", "172.32.0.1": "", "localhost.example.jp": "",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			err := get(t.Context(), t, poster.Outside(&http.Client{Transport: nowhere{}}), "http://"+host+"/")
			if class == "" {
				require.NoError(t, err)
				return
			}
			var refused *poster.AddressError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, class, refused.Class)
		})
	}
}

func TestOutsideLooksAtWhereANameLeads(t *testing.T) {
	t.Parallel()
	reached := false
	server, port := loopback(t, func(http.ResponseWriter, *http.Request) { reached = true })
	c := poster.Outside(&http.Client{Transport: &http.Transport{}})

	err := get(t.Context(), t, c, "http://localhost:"+port+"/")
	var refused *poster.AddressError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "loopback", refused.Class)
	require.Equal(t, "localhost", refused.Host)
	require.Contains(t, refused.Error(), "localhost leads to ")
	require.Contains(t, refused.Error(), ", which is a loopback address, and what other people write must not lead there; if it is meant, name localhost in the source's hosts")
	require.ErrorAs(t, get(t.Context(), t, c, server), &refused)
	require.False(t, reached, "nothing was sent")
}

func TestOutsideTakesGosOwnTransport(t *testing.T) {
	t.Parallel()
	server, _ := loopback(t, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]*http.Client{"no client": nil, "an empty one": {}, "the default transport": {Transport: http.DefaultTransport}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused *poster.AddressError
			require.ErrorAs(t, get(t.Context(), t, poster.Outside(c), server), &refused)
		})
	}
}

func TestTrustedHostsAndTheirClassAreTheOperatorsBusiness(t *testing.T) {
	t.Parallel()
	server, port := loopback(t, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		hosts   []string
		address string
		class   string // empty: it is gone to
	}{
		"the host itself":         {[]string{"127.0.0.1"}, server, ""},
		"its name":                {[]string{"LocalHost"}, "http://localhost:" + port, ""},
		"an address of its class": {[]string{"::1"}, server, ""},
		"an address of the class its name leads to": {[]string{"localhost"}, server, ""},
		"another class":                            {[]string{"10.0.0.1"}, server, "loopback"},
		"a name of everybody's":                    {[]string{"93.184.216.34"}, server, "loopback"},
		"no metadata for a link-local host":        {[]string{"169.254.1.1"}, "http://169.254.169.254/", "metadata service's"},
		"no metadata for the host of such a class": {[]string{"168.63.129.16"}, "http://169.254.169.254/", "metadata service's"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := get(poster.Trust(t.Context(), c.hosts...), t, poster.Outside(&http.Client{Transport: &http.Transport{}}), c.address)
			if c.class == "" {
				require.NoError(t, err)
				return
			}
			var refused *poster.AddressError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.class, refused.Class)
		})
	}
}

func TestAConnectionOfOneSourceServesNoOther(t *testing.T) {
	t.Parallel()
	server, port := loopback(t, func(http.ResponseWriter, *http.Request) {})
	c := poster.Outside(&http.Client{Transport: &http.Transport{}})
	require.NoError(t, get(poster.Trust(t.Context(), "127.0.0.1"), t, c, server))
	require.NoError(t, get(poster.Trust(t.Context(), "localhost"), t, c, server))
	var refused *poster.AddressError
	require.ErrorAs(t, get(poster.Trust(t.Context(), "example.jp"), t, c, server), &refused)
	require.ErrorAs(t, get(t.Context(), t, c, "http://localhost:"+port), &refused)
}

func TestRedirectsAreLookedAtToo(t *testing.T) {
	t.Parallel()
	server, _ := loopback(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	})
	var refused *poster.AddressError
	require.ErrorAs(t, get(poster.Trust(t.Context(), "127.0.0.1"), t, poster.Outside(&http.Client{Transport: &http.Transport{}}), server), &refused)
	require.Equal(t, "metadata service's", refused.Class)
}

func TestAProxyIsTheOperatorsBusiness(t *testing.T) {
	t.Parallel()
	var asked []string
	proxy, _ := loopback(t, func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.String()) })
	address, err := url.Parse(proxy)
	require.NoError(t, err)
	c := poster.Outside(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}})
	require.NoError(t, get(t.Context(), t, c, "http://example.jp/a"))
	var refused *poster.AddressError
	require.ErrorAs(t, get(t.Context(), t, c, "http://10.0.0.1/a"), &refused, "the proxy would go there")
	require.Equal(t, []string{"http://example.jp/a"}, asked)
}

func TestATransportWithItsOwnDialerIsAskedByWhatIsWritten(t *testing.T) {
	t.Parallel()
	server, _ := loopback(t, func(http.ResponseWriter, *http.Request) {})
	to, err := url.Parse(server)
	require.NoError(t, err)
	c := poster.Outside(&http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, to.Host)
	}}})
	require.NoError(t, get(t.Context(), t, c, "http://example.jp/"))
	var refused *poster.AddressError
	require.ErrorAs(t, get(t.Context(), t, c, server), &refused)
}
