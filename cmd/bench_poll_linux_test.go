package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bot/queue/jsonstore"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/require"
)

const (
	pollSources  = 1000
	pollArticles = 20
	// pollAtOnce is how many the program asks at once.
	pollAtOnce = 16
)

// poll measures `bot enqueue` of a thousand feeds on the loopback interface, of
// twenty articles each with their bodies, against loops that ask for the same.
func (b *bench) poll(t *testing.T) {
	server := serve(t, b.helper(t, "feeds"))
	defer server.stop()
	address := server.said
	dir := b.pollDir(t, address, pollSources)
	defer os.RemoveAll(dir)
	set := func(changed bool) { require.Equal(t, "ok", get(t, fmt.Sprintf("%s/set?changed=%t", address, changed))) }
	enqueue := func(from, want string) float64 {
		copied := b.copyLedger(t, from)
		defer os.RemoveAll(copied)
		took, said := timed(t, b.botIn(t, copied, "enqueue"))
		require.Equal(t, want, lastLine(said))
		return took
	}
	loop := func(how string) func() float64 {
		return func() float64 {
			took, said := timed(t, b.helper(t, "get", how, address))
			require.Contains(t, said, "got 1000")
			return took
		}
	}

	set(false)
	work := "poll of 1,000 feeds for the first time"
	first := func() float64 { return enqueue(dir, "matched=20000 queued=0 already=0 skipped=20000 held=0 refused=0") }
	figures := inTurns(*reps, first, loop("parse"), loop("whole"))
	b.add(t, row{work: work, against: "a bare loop of the same GETs, and gofeed"}.compare(figures[0], figures[1], seconds))
	b.add(t, row{work: work, against: "a bare loop of the same GETs"}.compare(figures[0], figures[2], seconds))

	_, said := timed(t, b.botIn(t, dir, "enqueue"))
	require.Contains(t, lastLine(said), "skipped=20000")
	unchanged := func() float64 { return enqueue(dir, "matched=0 queued=0 already=0 skipped=0 held=0 refused=0") }
	figures = inTurns(*reps, unchanged, loop("known"))
	r := row{work: "poll of 1,000 feeds that have not changed", against: "a bare loop of the same GETs, all answered 304", gate: 1.2, aim: 1}
	b.add(t, r.compare(figures[0], figures[1], seconds))
	few := b.pollDir(t, address, pollSources/100)
	defer os.RemoveAll(few)
	timed(t, b.botIn(t, few, "enqueue"))
	b.pollMemory(t, row{work: "poll of 1,000 feeds that have not changed, peak memory", gate: 1.6, aim: 1}, dir, few)

	set(true)
	b.pollMemory(t, row{work: "poll of 1,000 feeds with an article more, peak memory"}, dir, few)
	work = "poll of 1,000 feeds with an article more"
	changed := func() float64 {
		return enqueue(dir, "matched=21000 queued=1000 already=20000 skipped=0 held=0 refused=0")
	}
	figures = inTurns(*reps, changed, loop("parse"), loop("whole"))
	b.add(t, row{work: work, against: "a bare loop of the same GETs, and gofeed", gate: 1, aim: 0.5}.compare(figures[0], figures[1], seconds))
	b.add(t, row{work: work, against: "a bare loop of the same GETs"}.compare(figures[0], figures[2], seconds))
}

// pollMemory measures how memory grows with the number of sources.
func (b *bench) pollMemory(t *testing.T, r row, dir, few string) {
	r.against = "10 feeds"
	of := func(from string) float64 {
		copied := b.copyLedger(t, from)
		defer os.RemoveAll(copied)
		return peak(t, b.botIn(t, copied, "enqueue"))
	}
	figures := inTurns(3, func() float64 { return of(dir) }, func() float64 { return of(few) })
	b.add(t, r.compare(figures[0], figures[1], megabytes))
}

// pollDir makes a fleet of so many sources with an empty ledger.
func (b *bench) pollDir(t *testing.T, address string, sources int) string {
	t.Helper()
	dir, err := os.MkdirTemp(b.dir, "poll")
	require.NoError(t, err)
	var config strings.Builder
	config.WriteString(benchConfig + "sources:\n")
	for i := range sources {
		fmt.Fprintf(&config, "  - {name: s%d, feed: %s/%d, first_run: none}\n", i, address, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), []byte(config.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "urls.txt"), nil, 0o600))
	_, err = jsonstore.Init(filepath.Join(dir, "state"), time.Now())
	require.NoError(t, err)
	return dir
}

func get(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// helpFeeds serves any number of feeds, with ETags, of twenty articles each; and
// after /set?changed=true of one article more.
func helpFeeds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var changed atomic.Bool
	now := time.Now()
	bodies := [2][]byte{benchFeed("SOURCE", pollArticles, now), benchFeed("SOURCE", pollArticles+1, now)}
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			changed.Store(r.FormValue("changed") == "true")
			io.WriteString(w, "ok")
			return
		}
		version := map[bool]int{true: 1}[changed.Load()]
		w.Header().Set("ETag", `"`+strconv.Itoa(version)+`"`)
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		w.Write(bytes.ReplaceAll(bodies[version], []byte("SOURCE"), []byte(strings.Trim(r.URL.Path, "/"))))
	}
	go http.Serve(listener, http.HandlerFunc(handler))
	untilClosed("http://" + listener.Addr().String())
}

// benchFeed is a feed as a blog has it: so many articles, the newest of now, with
// descriptions and with bodies of some 4 KiB.
func benchFeed(source string, articles int, now time.Time) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"` +
		` xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:slash="http://purl.org/rss/1.0/modules/slash/">` +
		"<channel><title>Example</title><link>https://example.jp/</link><description>d</description>\n")
	for i := range articles {
		n := articles - i
		page := fmt.Sprintf("https://example.jp/%s/%d/", source, n)
		fmt.Fprintf(&b, "<item><title>今週の新刊 第%d巻</title><link>%s</link><dc:creator><![CDATA[山田 花子]]></dc:creator><pubDate>%s</pubDate>"+
			"<category><![CDATA[manga]]></category><guid isPermaLink=\"false\">%s</guid><description><![CDATA[<p>A summary &#8230;</p>]]></description>"+
			"<content:encoded><![CDATA[<p><img src=\"/%d.jpg\"/></p>%s]]></content:encoded><slash:comments>0</slash:comments></item>\n",
			n, page, now.Add(-time.Duration(i)*time.Minute).Format(time.RFC1123Z), page, n, strings.Repeat("<p>A paragraph of <em>text</em> &amp; more of it, 吾輩は猫である。</p>\n", 50))
	}
	b.WriteString("</channel></rss>\n")
	return []byte(b.String())
}

// helpGet asks for the thousand feeds below the address that is named, as many at
// once as the program, and does with each what is named first: known sends the
// ETag, whole reads the answer, parse has gofeed parse it.
func helpGet(t *testing.T) {
	how, address := flag.Arg(0), flag.Arg(1)
	work := make(chan int)
	client := &http.Client{}
	var all sync.WaitGroup
	for range pollAtOnce {
		all.Go(func() {
			for i := range work {
				if err := getFeed(client, fmt.Sprintf("%s/%d", address, i), how); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range pollSources {
		work <- i
	}
	close(work)
	all.Wait()
	fmt.Printf("got %d\n", pollSources)
}

func getFeed(client *http.Client, address, how string) error {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	want := http.StatusOK
	if how == "known" {
		request.Header.Set("If-None-Match", `"0"`)
		want = http.StatusNotModified
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	if how != "parse" {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	feed, err := gofeed.NewParser().Parse(response.Body)
	if err == nil && len(feed.Items) < pollArticles {
		return fmt.Errorf("%d articles", len(feed.Items))
	}
	return err
}
