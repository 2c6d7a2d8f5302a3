package cmd_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/queue/firestoretest"

	"github.com/stretchr/testify/require"
)

// attempts returns how often each address was posted.
func (s *scene) attempts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]int{}
	for _, p := range s.posts {
		all[p.url]++
	}
	return all
}

// playAnswers lets receivers answer what the case says, and looks at what counts as
// posted.
func playAnswers(t *testing.T, c dedupeCase, want dedupeWant) {
	s := c.open(t, true)
	for i, run := range c.Runs {
		s.set(run.Now)
		from := len(s.posts)
		s.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
			code, ok := run.Responses[n-from].(float64)
			if !ok {
				t.Errorf("no answer to post %d", n)
			}
			w.WriteHeader(int(code))
		}
		code := 0
		if i == 0 {
			code = 3 // what was not taken is reported
		}
		s.run(code, "process")
		for _, url := range want.PostedAfter[i] {
			require.Contains(t, s.read("state/posted.json"), `"url":"`+url+`"`, "run %d", i)
		}
		require.Equal(t, len(want.PostedAfter[i]), strings.Count(s.read("state/posted.json"), `"posted_at"`), "run %d", i)
	}
}

// playCrash takes the state directory as it is while the receiver answers, which is what
// a process leaves that dies before it can save the answer.
func playCrash(t *testing.T, c dedupeCase, _ dedupeWant) {
	s := c.open(t, true)
	visible := map[string]map[string]bool{} // posts by receiver and key, as idempotent ones show them
	var left string
	s.answer = func(n int, w http.ResponseWriter, r *http.Request) {
		p := s.posts[n]
		key := p.key
		if p.path == "/hook" {
			key = time.Now().String() // it shows all it gets
		}
		if visible[p.path] == nil {
			visible[p.path] = map[string]bool{}
		}
		visible[p.path][key] = true
		if left == "" {
			left = t.TempDir()
			require.NoError(t, os.CopyFS(left, os.DirFS(filepath.Join(s.dir, "state"))))
		}
		_, _ = w.Write([]byte(`{"id":"1","url":"http://masto.example/@a/1"}`))
	}
	crash := func(to string) {
		left = ""
		s.run(0, "process", "--to", to)
		require.NoError(t, os.RemoveAll(filepath.Join(s.dir, "state")))
		require.NoError(t, os.CopyFS(filepath.Join(s.dir, "state"), os.DirFS(left)))
	}
	s.write("state/queue.json", `[]`)
	s.run(0, "enqueue", "--url", "https://example.jp/a")
	crash("masto")
	crash("hook")
	left = "none"
	// What the account shows, for whoever asks.
	s.serve("masto.example/api/v1/accounts/verify_credentials", body(`{"id":"7"}`))
	s.serve("masto.example/api/v1/accounts/7/statuses?limit=40&exclude_reblogs=true", body(
		`[{"id":"1","url":"http://masto.example/@a/1","created_at":"2026-11-30T00:00:01Z","content":"<a href=\"https://example.jp/a\">a</a>"}]`))
	s.now = s.now.Add(30 * time.Minute)
	s.run(5, "process")
	s.now = s.now.Add(5 * time.Minute)
	s.run(0, "process")
	require.Len(t, visible["/api/v1/statuses"], 1)
	require.Len(t, visible["/hook"], 1)
	said := s.run(0, "queue", "list", "--status", "uncertain")
	require.Contains(t, said, "hook")
	require.NotContains(t, said, "masto")
}

// playTogether lets five processes go for one entry.
func playTogether(t *testing.T, c dedupeCase, want dedupeWant) {
	s := c.open(t, true)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			code, said := s.exit("process")
			if code != 0 {
				t.Errorf("exit %d: %s", code, said)
			}
		})
	}
	all.Wait()
	require.Equal(t, want.PostAttempts, s.attempts())
	s.run(0, "status")
}

// playTimeout lets a send end without an answer, and the platform refuse the repeated
// key with a 500.
func playTimeout(t *testing.T, c dedupeCase, _ dedupeWant) {
	s := c.open(t, true)
	s.write("state/queue.json", `[]`)
	s.run(0, "enqueue", "--url", "https://example.jp/a")
	s.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			panic(http.ErrAbortHandler) // taken, and never answered
		}
		w.WriteHeader(http.StatusInternalServerError)
	}
	s.exit("process")
	for range 5 {
		s.now = s.now.Add(20 * time.Minute)
		s.exit("process")
	}
	keys := map[string]bool{}
	for _, p := range s.posts {
		require.NotEmpty(t, p.key)
		keys[p.key] = true
	}
	require.Len(t, keys, 1, "the same idempotency key")
}

// playStaleLock finds what a process left that was killed while it had the lock.
func playStaleLock(t *testing.T, c dedupeCase, _ dedupeWant) {
	s := c.open(t, true)
	s.serve("example.jp/feed.xml", feed(c.Runs[0].Feeds["https://example.jp/feed.xml"]))
	s.run(0, "status")
	locks := 0
	files, err := os.ReadDir(filepath.Join(s.dir, "state"))
	require.NoError(t, err)
	for _, f := range files {
		if strings.Contains(f.Name(), "lock") {
			s.write("state/"+f.Name(), "999999\n")
			locks++
		}
	}
	if locks == 0 {
		s.write("state/lock", "999999\n")
	}
	require.Len(t, s.enqueue(0).queued(), 1)
}

// playBrokenState puts each broken file in the place of posted.json.
func playBrokenState(t *testing.T, c dedupeCase, want dedupeWant) {
	for i, v := range c.Variants {
		s := c.open(t, true)
		s.serve("example.jp/feed.xml", feed(c.Runs[0].Feeds["https://example.jp/feed.xml"]))
		posted := filepath.Join(s.dir, "state", "posted.json")
		what := v.State
		switch {
		case v.StateBytes != nil:
			what = *v.StateBytes
			s.write("state/posted.json", what)
		case v.State == "missing":
			require.NoError(t, os.Remove(posted))
		case v.State == "a directory":
			require.NoError(t, os.Remove(posted))
			require.NoError(t, os.Mkdir(posted, 0o700))
		case v.State == "read-only":
			if !mountedReadOnly(t, filepath.Join(s.dir, "state")) {
				continue
			}
		}
		code, said := s.exit("run")
		if what == "[]" {
			// An empty array is a whole ledger here: what `bot init` writes.
			require.Equal(t, 0, code, said)
			continue
		}
		require.True(t, strings.Contains(want.Outcomes[i], "error"))
		require.Contains(t, []int{1, 4}, code, "%q: %s", what, said)
		require.Contains(t, said, "state", "%q", what)
		require.Empty(t, s.posts, "%q", what)
		if v.StateBytes != nil {
			require.Contains(t, said, "posted.json", "%q", what)
			require.Equal(t, what, s.read("state/posted.json"), "it is kept")
		}
	}
}

// playTwoMachines lets two machines send what is in one database.
func playTwoMachines(t *testing.T, c dedupeCase, want dedupeWant) {
	s := c.open(t, true)
	host, project := firestoretest.Host(t), firestoretest.Project()
	config := s.read("bot.yaml")
	s.write("bot.yaml", "state: {backend: firestore, project: "+project+", fleet: f}\n"+config)
	s.env0 = map[string]string{"FIRESTORE_EMULATOR_HOST": host}
	s.run(0, "migrate", "firestore")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			code, said := s.exit("process")
			if code != 0 {
				t.Errorf("exit %d: %s", code, said)
			}
		})
	}
	all.Wait()
	require.Equal(t, want.PostAttempts, s.attempts())
}
