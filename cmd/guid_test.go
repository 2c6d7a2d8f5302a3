//go:build unix

package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// feeds serves a feed of one article, whose guid is set and whose slug is another at
// every request.
type feeds struct {
	guid atomic.Value
	n    atomic.Int64
	date string
}

func (f *feeds) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>Site</title><item><title>A</title><link>https://site.example/%d</link>`+
		`<guid isPermaLink="false">%s</guid><pubDate>%s</pubDate></item></channel></rss>`, f.n.Add(1), f.guid.Load(), f.date)
}

func TestAnArticleIsAnnouncedOnceByAllMachinesUnderWhateverAddress(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, accept)
	site := &feeds{date: time.Now().UTC().Add(-time.Hour).Format(time.RFC1123Z)}
	site.guid.Store("first")
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	c := newCloud(t, r.URL, "a")
	sources := fmt.Sprintf("sources: [{name: site, feed: %q}]\n", server.URL)

	one := c.machine("one", "one", "local", sources)
	one.must("", "init")
	for range 3 {
		one.must("", "run")
	}
	require.Len(t, r.received(), 1)
	one.must("", "migrate", "firestore")

	machines := []*fleet{c.machine("two", "", "firestore", sources), c.machine("three", "", "firestore", sources)}
	for _, guid := range []string{"first", "second", "third", "fourth"} {
		site.guid.Store(guid)
		var all sync.WaitGroup
		for _, m := range machines {
			all.Go(func() { m.must("", "run") })
		}
		all.Wait()
	}
	require.Len(t, r.received(), 4)
}
