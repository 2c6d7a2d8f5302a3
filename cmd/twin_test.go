package cmd_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const twinConfig = `sources: [{name: s, feed: "http://example.jp/feed", first_run: all, strip_params: [ref], hosts: [old.example.jp]}]
destinations: [{name: d, webhook: "http://hooks.example/d", former_webhooks: ["http://hooks.example/former"]}]
`

// waits is a record of an earlier bot's queue.json that is due.
func waits(webhook, url string) string {
	return `{"url":"` + url + `","webhook":"http://hooks.example/` + webhook + `","scheduled_at":"2026-01-01T00:00:00Z"}`
}

func TestWhatWaitsIsNotSentIfItWasAnnouncedUnderAnotherKey(t *testing.T) {
	t.Parallel()
	const done = `{"webhook":"http://hooks.example/`
	for name, c := range map[string]struct {
		posted, queue string
		exit, posts   int
	}{
		"at another host of its site":                  {done + `d","url":"http://old.example.jp/a"}`, waits("d", "http://example.jp/a"), 0, 0},
		"with the destination's earlier webhook":       {done + `former","url":"http://example.jp/a"}`, waits("d", "http://example.jp/a"), 0, 0},
		"with both":                                    {done + `former","url":"https://old.example.jp/a/"}`, waits("d", "http://example.jp/a"), 0, 0},
		"without a parameter that only tracks":         {done + `d","url":"http://example.jp/a"}`, waits("d", "http://example.jp/a?ref=1"), 0, 0},
		"in this same run":                             {"", waits("former", "http://example.jp/a") + "," + waits("d", "http://old.example.jp/a"), 0, 1},
		"in a record that knows only the address":      {`"http://old.example.jp/a"`, waits("d", "http://example.jp/a"), 5, 0},
		"but not if that is another page":              {done + `d","url":"http://old.example.jp/b"}`, waits("d", "http://example.jp/a"), 0, 1},
		"but not if that was another account":          {done + `other","url":"http://old.example.jp/a"}`, waits("d", "http://example.jp/a"), 0, 1},
		"but not if the other was skipped, not posted": {done + `d","url":"http://old.example.jp/a","status":"skipped"}`, waits("d", "http://example.jp/a"), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, twinConfig)
			s.write("state/posted.json", "["+c.posted+"]")
			s.write("state/queue.json", "["+c.queue+"]")
			s.run(0, "process", "--dry-run", "-q")
			s.run(c.exit, "process")
			require.Len(t, s.posts, c.posts)
			s.now = s.now.Add(time.Hour)
			s.run(0, "process")
			require.Len(t, s.posts, c.posts)
		})
	}
}

func TestHostsThatAreNamedWhileBothSpellingsWait(t *testing.T) {
	t.Parallel()
	const before = `sources: [{name: s, feed: "http://example.jp/feed", guid: false, first_run: all}]
destinations: [{name: d, webhook: "http://hooks.example/d"}]
`
	s := newScene(t, before)
	s.run(0, "init")
	s.serve("example.jp/feed", feed(items("http://example.jp/a", "http://old.example.jp/a")))
	require.Len(t, s.enqueue(0).queued(), 2)
	s.write("bot.yaml", twinConfig)
	s.run(0, "run")
	require.Len(t, s.posts, 1)
	require.Contains(t, s.read("state/posted.json"), `"status":"skipped","reason":"announced already as http://`)
}

func TestWhatWasAnnouncedUnderAnotherKeyCanBeLetGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		posted, step string
		exit         int
	}{
		"skipped": {`{"webhook":"http://hooks.example/former","url":"http://example.jp/a"}`, "retry", 0},
		"held":    {`"http://old.example.jp/a"`, "release", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, twinConfig)
			s.write("state/posted.json", "["+c.posted+"]")
			s.write("state/queue.json", "["+waits("d", "http://example.jp/a")+"]")
			s.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 0 {
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}
			s.run(c.exit, "process")
			require.Empty(t, s.posts)
			s.run(0, "queue", c.step, "7566bae6-4637-5b04-9c2e-ad1ffdf80dcb")
			s.run(3, "process")
			s.now = s.now.Add(time.Hour)
			s.run(0, "process")
			require.Len(t, s.posts, 2, "tried again, since somebody said so")
		})
	}
}
