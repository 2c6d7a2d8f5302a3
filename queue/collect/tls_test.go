package collect_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

// issued is a certificate and its key.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate for example.jp that by signs (nil: itself), valid until.
func issue(t *testing.T, by *issued, authority bool, until time.Time) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: rand.Text()},
		DNSNames: []string{"example.jp"}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IsCA: authority, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	signer := &issued{template, key}
	if by != nil {
		signer = by
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, signer.cert, &key.PublicKey, signer.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &issued{cert, key}
}

func TestACertificateThatIsNotValidIsNamed(t *testing.T) {
	t.Parallel()
	soon, past := time.Now().Add(24*time.Hour), time.Now().Add(-24*time.Hour)
	root := issue(t, nil, true, soon)
	between := issue(t, root, true, soon)
	for name, c := range map[string]struct {
		leaf *issued
		sent []*issued // beside the leaf
		want string    // empty: it is valid
	}{
		"a whole chain":         {issue(t, between, false, soon), []*issued{between}, ""},
		"self-signed":           {issue(t, nil, false, soon), nil, "certificate signed by unknown authority"},
		"a missing certificate": {issue(t, between, false, soon), nil, "certificate signed by unknown authority"},
		"expired":               {issue(t, root, false, past), nil, "certificate has expired or is not yet valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(text(rss("https://example.jp/a")))
			chain := tls.Certificate{Certificate: [][]byte{c.leaf.cert.Raw}, PrivateKey: c.leaf.key}
			for _, more := range c.sent {
				chain.Certificate = append(chain.Certificate, more.cert.Raw)
			}
			s.TLS = &tls.Config{Certificates: []tls.Certificate{chain}}
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			t.Cleanup(s.Close)
			other := httptest.NewServer(text(rss("https://example.jp/b")))
			t.Cleanup(other.Close)

			roots := x509.NewCertPool()
			roots.AddCert(root.cert)
			transport := &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: roots},
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					to := other.Listener.Addr().String()
					if address == "example.jp:443" {
						to = s.Listener.Addr().String()
					}
					return new(net.Dialer).DialContext(ctx, network, to)
				},
			}
			t.Cleanup(transport.CloseIdleConnections)
			col := collector(nil)
			col.HTTP = &http.Client{Transport: transport}
			got := map[string]collect.Result{}
			col.Collect(t.Context(), []collect.Source{
				{Name: "secure", Kind: collect.Feed, Location: "https://example.jp/feed"}, {Name: "other", Kind: collect.Feed, Location: "http://other.example/feed"},
			}, nil, func(r collect.Result) { got[r.Source] = r })
			require.NoError(t, got["other"].Err, "another source is not held up")
			if c.want == "" {
				require.NoError(t, got["secure"].Err)
				return
			}
			require.ErrorContains(t, got["secure"].Err, "fetch https://example.jp/feed: ")
			require.ErrorContains(t, got["secure"].Err, c.want)
		})
	}
}
