package collect_test

import (
	"net/http"
	"testing"
	"time"

	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

func TestAServerSaysHowLongADocumentStaysAsItIs(t *testing.T) {
	t.Parallel()
	date := func(after time.Duration) string { return now.Add(after).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		headers []string
		want    time.Duration
	}{
		"nothing":                         {nil, 0},
		"for some minutes":                {[]string{"Cache-Control", "public, max-age=300"}, 5 * time.Minute},
		"of which some are over":          {[]string{"Cache-Control", "max-age=300", "Age", "100"}, 200 * time.Second},
		"of which all are over":           {[]string{"Cache-Control", "max-age=300", "Age", "300"}, 0},
		"for a year, which is an hour":    {[]string{"Cache-Control", "max-age=31536000, immutable"}, time.Hour},
		"in quotes and capitals":          {[]string{"Cache-Control", `Max-Age="60"`}, time.Minute},
		"and that it is not to be relied": {[]string{"Cache-Control", "max-age=300, no-cache"}, 0},
		"and that it is not to be kept":   {[]string{"Cache-Control", "no-store", "Expires", date(time.Hour)}, 0},
		"for no time":                     {[]string{"Cache-Control", "max-age=0"}, 0},
		"for other caches alone":          {[]string{"Cache-Control", "s-maxage=300"}, 0},
		"in words that mean nothing":      {[]string{"Cache-Control", "max-age=soon"}, 0},
		"until a time":                    {[]string{"Expires", date(10 * time.Minute), "Date", date(0)}, 10 * time.Minute},
		"until a time, by another clock":  {[]string{"Expires", date(-50 * time.Minute), "Date", date(-time.Hour)}, 10 * time.Minute},
		"until a time that is over":       {[]string{"Expires", "0"}, 0},
		"until a time, and for a while":   {[]string{"Expires", date(time.Minute), "Cache-Control", "max-age=300"}, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, w := feedOf("")
			w["example.jp/blog/feed.xml"] = func(rw http.ResponseWriter, _ *http.Request) {
				for i := 0; i < len(test.headers); i += 2 {
					rw.Header().Set(test.headers[i], test.headers[i+1])
				}
				_, _ = rw.Write([]byte(rss("https://example.jp/a")))
			}
			r := one(t, collector(w), source, collect.Progress{})
			require.NoError(t, r.Err)
			want := now.Add(test.want)
			if test.want == 0 {
				want = time.Time{}
			}
			require.Equal(t, want, r.Next.FreshUntil)
		})
	}
}

func TestASourceIsLeftAloneWhileItStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, kind := range []collect.Kind{collect.Feed, collect.Site, collect.Sitemap, collect.List} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			said := "max-age=600"
			serve := func(body string) http.HandlerFunc {
				return func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Cache-Control", said)
					_, _ = rw.Write([]byte(body))
				}
			}
			w := web{"example.jp/x": serve(map[collect.Kind]string{
				collect.Feed: rss("https://example.jp/a"), collect.List: "https://example.jp/a\n",
				collect.Sitemap: sitemapOf("<url><loc>https://example.jp/a</loc></url>"),
				collect.Site:    `<link rel=alternate type=application/rss+xml href=/feed>`,
			}[kind]), "example.jp/feed": serve(rss("https://example.jp/a"))}
			asked := &requests{next: w}
			c := collector(asked)
			clock := now
			c.Now = func() time.Time { return clock }
			source := collect.Source{Kind: kind, Location: "https://example.jp/x"}
			first := one(t, c, source, collect.Progress{})
			require.NoError(t, first.Err)
			require.Len(t, first.Articles, 1)
			requests := len(asked.urls())

			clock = now.Add(599 * time.Second)
			second := one(t, c, source, first.Next)
			require.Equal(t, collect.StatusNotModified, second.Status)
			require.Equal(t, first.Next, second.Next, "it was not read")
			require.Len(t, asked.urls(), requests)

			forgotten := second.Next
			forgotten.Forget()
			require.Len(t, one(t, c, source, forgotten).Articles, 1)
			c.Fresh = true
			require.Len(t, one(t, c, source, second.Next).Articles, 1)
			c.Fresh = false
			moved := source
			moved.Location = "https://example.jp/elsewhere"
			require.Error(t, one(t, c, moved, second.Next).Err, "another address is asked")

			clock, said = now.Add(600*time.Second), "no-cache"
			third := one(t, c, source, second.Next)
			require.Len(t, third.Articles, 1)
			require.Equal(t, clock, third.Next.LastSuccess)
			require.Zero(t, third.Next.FreshUntil)
		})
	}
}
