package collect_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"bot/queue"
	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func TestWhatOthersWriteLeadsNowherePrivate(t *testing.T) {
	t.Parallel()
	feed := text(rss("https://example.jp/a"))
	for name, c := range map[string]struct {
		kind  collect.Kind
		at    string
		hosts []string
		web   web
		err   string // empty: it is read
	}{
		"a redirect to a metadata service": {
			collect.Feed, "https://example.jp/feed.xml", nil,
			web{"example.jp/feed.xml": status(302, "Location", "http://169.254.169.254/latest/meta-data/"), "169.254.169.254/latest/meta-data/": feed},
			"fetch https://example.jp/feed.xml: 169.254.169.254 is a metadata service's address, and what other people write must not lead there",
		},
		"the second redirect of a row": {
			collect.Feed, "https://example.jp/feed.xml", nil,
			web{
				"example.jp/feed.xml": status(302, "Location", "https://other.example/"), "other.example/": status(302, "Location", "http://[::1]/"),
				"[::1]/": feed,
			},
			"::1 is a loopback address",
		},
		"a sitemap that an index names": {
			collect.Sitemap, "https://example.jp/sitemap.xml", nil,
			web{"example.jp/sitemap.xml": text(`<sitemapindex><sitemap><loc>http://10.0.0.1/s.xml</loc></sitemap></sitemapindex>`), "10.0.0.1/s.xml": text(`<urlset/>`)},
			"fetch http://10.0.0.1/s.xml: 10.0.0.1 is a private address",
		},
		"the feed that a page names": {
			collect.Site, "https://example.jp/", nil,
			web{"example.jp/": text(`<!doctype html><link rel=alternate type=application/rss+xml href=http://192.168.0.1/feed>`), "192.168.0.1/feed": feed},
			"no feed was found there",
		},
		"a redirect to a host that the source names": {
			collect.Feed, "https://example.jp/feed.xml", []string{"10.0.0.1"},
			web{"example.jp/feed.xml": status(302, "Location", "http://10.0.0.1/feed"), "10.0.0.1/feed": feed}, "",
		},
		"a redirect to an IPv6 host that the source names": {
			collect.Feed, "https://example.jp/feed.xml", []string{"[fd00::1]"},
			web{"example.jp/feed.xml": status(302, "Location", "http://[fd00::1]/feed"), "[fd00::1]/feed": feed}, "",
		},
		"a redirect within the network that the source is in": {
			collect.Feed, "http://10.0.0.1/feed.xml", nil,
			web{"10.0.0.1/feed.xml": status(302, "Location", "http://192.168.0.1/feed"), "192.168.0.1/feed": feed}, "",
		},
		"a redirect from there to this machine": {
			collect.Feed, "http://10.0.0.1/feed.xml", nil,
			web{"10.0.0.1/feed.xml": status(302, "Location", "http://127.0.0.1/feed"), "127.0.0.1/feed": feed}, "127.0.0.1 is a loopback address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := one(t, collector(c.web), collect.Source{Kind: c.kind, Location: c.at, Hosts: c.hosts}, collect.Progress{})
			if c.err == "" {
				require.NoError(t, r.Err)
				require.Equal(t, []string{"https://example.jp/a"}, urls(r))
				return
			}
			require.ErrorContains(t, r.Err, c.err)
		})
	}
}

func TestANameThatLeadsToThisMachineIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(text(rss("https://example.jp/a")))
	t.Cleanup(s.Close)
	c := collector(nil)
	c.HTTP = &http.Client{Transport: &http.Transport{}}
	// Where a discovered feed is remembered to be, a name may have come to lead elsewhere.
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	at := "http://localhost:" + port + "/feed"
	prev := collect.Progress{Feed: at, Site: "https://example.jp/"}
	r := one(t, c, collect.Source{Kind: collect.Site, Location: "https://example.jp/"}, prev)
	var leads *queue.AddressError
	require.ErrorAs(t, r.Err, &leads)
	require.Equal(t, "localhost", leads.Host)
	require.Equal(t, "loopback", leads.Class)

	prev.Site = s.URL
	r = one(t, c, collect.Source{Kind: collect.Site, Location: s.URL}, prev)
	require.NoError(t, r.Err, "the source is on this machine itself")
}
