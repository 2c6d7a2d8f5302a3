package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

const sendDestinations, sendEach = 16, 625

// process measures `bot process` of ten thousand due entries against a loop that
// makes the same requests and nothing else. The receiver is another process.
func (b *bench) process(t *testing.T) {
	dir := filepath.Join(b.dir, "send")
	require.NoError(t, os.Mkdir(dir, 0o700))
	posts := filepath.Join(b.dir, "posts.jsonl")
	receiver := serve(t, b.helper(t, "receive", posts))
	defer receiver.stop()
	b.prepareSends(t, dir, receiver.said, sendDestinations*sendEach)

	run := func() float64 {
		copied := b.copyLedger(t, dir)
		defer os.RemoveAll(copied)
		took, said := timed(t, b.botIn(t, copied, "process"))
		require.Equal(t, "due=10000 posted=10000 shadow=0 later=0 failed=0 uncertain=0", lastLine(said))
		return took
	}
	// The receiver writes down what it is sent at first, and the loop sends that.
	run()
	figures := inTurns(*reps, run, func() float64 {
		took, said := timed(t, b.helper(t, "post", posts, receiver.said))
		require.Contains(t, said, "sent 10000")
		return took
	})
	r := row{work: "process of 10,000 due entries, 16 destinations", against: "a bare loop of the same POSTs, as many at once", gate: 1.5, aim: 1.2}
	b.add(t, r.compare(figures[0], figures[1], seconds))
}

// prepareSends makes a ledger in which so many entries are due, the destinations in
// turn.
func (b *bench) prepareSends(t *testing.T, dir, address string, entries int) {
	t.Helper()
	var all []queue.Candidate
	for i := range entries {
		d := i % sendDestinations
		all = append(all, queue.Candidate{Entry: new(benchEntry(sendName(d), sendWebhook(address, d), fmt.Sprint(i/sendDestinations)))})
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), []byte(sendConfig(address)), 0o600))
	state := filepath.Join(dir, "state")
	_, err := jsonstore.Init(state, time.Now())
	require.NoError(t, err)
	s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: state, Now: time.Now})
	require.NoError(t, err)
	_, err = s.Insert(t.Context(), all)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func sendName(d int) string { return fmt.Sprintf("d%d", d) }

func sendWebhook(address string, d int) string { return fmt.Sprintf("%s/d%d", address, d) }

// sendConfig has the destinations at a receiver.
func sendConfig(address string) string {
	config := "destinations:\n"
	for d := range sendDestinations {
		config += fmt.Sprintf("  - {name: %s, webhook: %s}\n", sendName(d), sendWebhook(address, d))
	}
	return config
}

// sentPost is a request as the receiver wrote it down.
type sentPost struct {
	Path   string
	Header http.Header
	Body   string
}

// helpReceive answers every post with 204. The first ten thousand are written to
// the file that is named.
func helpReceive(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var lines bytes.Buffer
	left := sendDestinations * sendEach
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		if left > 0 {
			left--
			json.NewEncoder(&lines).Encode(sentPost{r.URL.Path, r.Header, string(body)})
			if left == 0 {
				os.WriteFile(flag.Arg(0), lines.Bytes(), 0o600)
			}
		}
		mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}
	go http.Serve(listener, http.HandlerFunc(handler))
	untilClosed("http://" + listener.Addr().String())
}

// helpPost makes the requests in the file that is named, to the address that is
// named, one at a time on each path, all paths at once, each on a new connection.
func helpPost(t *testing.T) {
	text, err := os.ReadFile(flag.Arg(0))
	require.NoError(t, err)
	byPath := map[string][]*http.Request{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var p sentPost
		require.NoError(t, json.Unmarshal(lines.Bytes(), &p))
		r, err := http.NewRequest(http.MethodPost, flag.Arg(1)+p.Path, strings.NewReader(p.Body))
		require.NoError(t, err)
		for name, values := range p.Header {
			if name != "Content-Length" && name != "Connection" {
				r.Header[name] = values
			}
		}
		byPath[p.Path] = append(byPath[p.Path], r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	var all sync.WaitGroup
	for _, requests := range byPath {
		all.Go(func() {
			for _, r := range requests {
				response, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode != http.StatusNoContent {
					t.Errorf("status %d", response.StatusCode)
				}
			}
		})
	}
	all.Wait()
	fmt.Printf("sent %d\n", len(byPath)*sendEach)
}
