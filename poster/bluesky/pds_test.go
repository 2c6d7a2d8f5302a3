package bluesky_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/bluesky"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// startPDS starts a real server from the directory that BOT_PDS names: testdata/pds
// after `npm install`. Without BOT_PDS the test is skipped.
func startPDS(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("BOT_PDS")
	if dir == "" {
		t.Skip("BOT_PDS does not name a directory with a PDS (testdata/pds after `npm install`)")
	}
	port, plcPort := freePort(t), freePort(t)
	c := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "start.cjs"))
	c.Env = append(os.Environ(), "PORT="+port, "PLC_PORT="+plcPort, "DATA="+t.TempDir())
	var log bytes.Buffer
	c.Stderr = &log
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "%s", log.String())
	require.Equal(t, "ready\n", line)
	return "http://127.0.0.1:" + port
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

const realPassword = "app-pass-word-1234"

// register makes an account on the server.
func register(t *testing.T, server, handle string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"handle": handle, "email": handle + "@mail.example", "password": realPassword})
	require.NoError(t, err)
	r, err := http.Post(server+"/xrpc/com.atproto.server.createAccount", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
}

// real is an account on the server, whose requests go through the client.
func real(t *testing.T, server, handle string, client *http.Client) poster.Poster {
	t.Helper()
	p, err := bluesky.Driver().New(postertest.Settings{"server": server, "identifier": handle, "password": realPassword}, poster.Options{
		Destination: handle, HTTP: client, UserAgent: "bot/test", Now: time.Now, Dir: t.TempDir(),
		Hosts: map[string][]string{postertest.Article().Source: {"127.0.0.1"}},
	})
	require.NoError(t, err)
	return p
}

// torn lets the server take every record, and loses its answer.
type torn struct{}

func (torn) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "putRecord") {
		_ = resp.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return resp, err
}

// records returns how many posts the account has, and the last of them.
func records(t *testing.T, server, handle string) (int, map[string]any) {
	t.Helper()
	r, err := http.Get(server + "/xrpc/com.atproto.repo.listRecords?collection=app.bsky.feed.post&repo=" + url.QueryEscape(handle))
	require.NoError(t, err)
	defer r.Body.Close()
	var said struct {
		Records []struct{ Value map[string]any }
	}
	require.NoError(t, json.NewDecoder(r.Body).Decode(&said))
	if len(said.Records) == 0 {
		return 0, nil
	}
	return len(said.Records), said.Records[0].Value
}

// TestOnARealServer runs against @atproto/pds, the server behind bsky.social.
func TestOnARealServer(t *testing.T) {
	t.Parallel()
	server := startPDS(t)
	n := 0
	account := func(t *testing.T) string {
		n++
		handle := fmt.Sprintf("news%d.test", n)
		register(t, server, handle)
		return handle
	}
	render := func(t *testing.T, p poster.Poster, title string) poster.Message {
		a := postertest.Article()
		a.Title = title
		m, err := p.Render(postertest.Post(t, p, a))
		require.NoError(t, err)
		return m
	}

	t.Run("a record is made, and the same again changes nothing", func(t *testing.T) {
		handle := account(t)
		p := real(t, server, handle, &http.Client{})
		checker, ok := p.(poster.Checker)
		require.True(t, ok)
		require.NoError(t, checker.Check(t.Context()))
		m := render(t, p, "A title 🎉")
		first, err := p.Post(t.Context(), m)
		require.NoError(t, err)
		again, err := p.Post(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, first, again)
		count, value := records(t, server, handle)
		require.Equal(t, 1, count)
		require.Equal(t, m.Text, value["text"])

		m.Body = bytes.ReplaceAll(m.Body, []byte("A title"), []byte("Another"))
		_, err = p.Post(t.Context(), m)
		require.Equal(t, poster.RejectedContent, poster.OutcomeOf(err), "another record under the same key: %v", err)
	})

	t.Run("a post whose answer was lost is found, and put again only once", func(t *testing.T) {
		handle := account(t)
		broken := real(t, server, handle, &http.Client{Transport: torn{}})
		m := render(t, broken, "A title")
		_, err := broken.Post(t.Context(), m)
		require.Equal(t, poster.Unknown, poster.OutcomeOf(err), "%v", err)

		p := real(t, server, handle, &http.Client{})
		verifier, ok := p.(poster.Verifier)
		require.True(t, ok)
		presence, receipt, err := verifier.Verify(t.Context(), m, time.Now())
		require.NoError(t, err)
		require.Equal(t, poster.Found, presence)
		again, err := p.Post(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, receipt, again)
		count, _ := records(t, server, handle)
		require.Equal(t, 1, count)

		presence, _, err = verifier.Verify(t.Context(), render(t, p, "Never sent"), time.Now())
		require.NoError(t, err)
		require.Equal(t, poster.Absent, presence)
	})

	t.Run("texts at both limits are taken", func(t *testing.T) {
		handle := account(t)
		p := real(t, server, handle, &http.Client{})
		for _, title := range []string{strings.Repeat("a", 4000), strings.Repeat("👨‍👩‍👧‍👦", 160), strings.Repeat("漢", 1300), strings.Repeat("é", 2000)} {
			_, err := p.Post(t.Context(), render(t, p, title))
			require.NoError(t, err)
		}
		m := render(t, p, "A title")
		m.Body = bytes.ReplaceAll(m.Body, []byte("A title"), bytes.Repeat([]byte("a"), 301))
		_, err := p.Post(t.Context(), m)
		require.Equal(t, poster.RejectedContent, poster.OutcomeOf(err), "%v", err)
	})

	t.Run("a card has its picture", func(t *testing.T) {
		handle := account(t)
		p := real(t, server, handle, &http.Client{})
		pictures := postertest.Serve(t, postertest.Answer{Status: 200, Body: postertest.Picture(t, 1200)})
		a := postertest.Article()
		a.Image = pictures.URL + "/a.png"
		m, err := p.Render(postertest.Post(t, p, a))
		require.NoError(t, err)
		preparer, ok := p.(poster.Preparer)
		require.True(t, ok)
		_, err = p.Post(t.Context(), preparer.Prepare(t.Context(), a, m))
		require.NoError(t, err)
		_, value := records(t, server, handle)
		text, err := json.Marshal(value["embed"])
		require.NoError(t, err)
		require.Contains(t, string(text), `"mimeType":"image/jpeg"`)
	})
}
