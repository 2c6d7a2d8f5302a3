package matrix_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // What the server asks for.
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/matrix"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// dendrite is a real server.
type dendrite struct {
	url string
	log string
}

const sharedSecret = "shared"

// startDendrite starts the server whose program BOT_DENDRITE names: testdata/dendrite
// says how it is built. Without BOT_DENDRITE the test is skipped.
func startDendrite(t *testing.T) *dendrite {
	t.Helper()
	program := os.Getenv("BOT_DENDRITE")
	if program == "" {
		t.Skip("BOT_DENDRITE does not name a Dendrite (built in testdata/dendrite)")
	}
	dir := t.TempDir()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block := &pem.Block{Type: "MATRIX PRIVATE KEY", Headers: map[string]string{"Key-ID": "ed25519:test"}, Bytes: key.Seed()}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(block), 0o600))
	database := func(name string) string { return "{connection_string: \"file:" + name + ".db\"}" }
	config := `version: 2
global:
  server_name: localhost
  private_key: key.pem
  disable_federation: true
  jetstream: {in_memory: true, storage_path: "./", topic_prefix: Test}
client_api: {registration_disabled: true, registration_shared_secret: ` + sharedSecret + `, rate_limiting: {enabled: false}}
federation_api: {database: ` + database("federation") + `}
key_server: {database: ` + database("key") + `}
media_api: {base_path: media, database: ` + database("media") + `}
mscs: {database: ` + database("mscs") + `}
relay_api: {database: ` + database("relay") + `}
room_server: {database: ` + database("room") + `}
sync_api: {database: ` + database("sync") + `, search: {enabled: false}}
user_api: {account_database: ` + database("account") + `, device_database: ` + database("device") + `}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dendrite.yaml"), []byte(config), 0o600))
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	d := &dendrite{url: "http://" + address, log: filepath.Join(dir, "log")}
	log, err := os.Create(d.log)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), program, "-config", "dendrite.yaml", "-http-bind-address", address)
	c.Dir, c.Stdout, c.Stderr = dir, log, log
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait(); _ = log.Close() })
	require.Eventually(t, func() bool {
		r, err := http.Get(d.url + "/_matrix/client/versions")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond, "the server is up")
	return d
}

// call makes a request, and returns the answer's members.
func (d *dendrite) call(t *testing.T, method, path, token string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, d.url+path, bytes.NewReader(text))
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	var said map[string]any
	require.NoError(t, json.Unmarshal(answer, &said), "%s", answer)
	require.Equal(t, http.StatusOK, r.StatusCode, "%s", answer)
	return said
}

// account registers one, and returns its token.
func (d *dendrite) account(t *testing.T, name string) string {
	t.Helper()
	const path, password = "/_synapse/admin/v1/register", "pass-word-1234"
	nonce := d.call(t, http.MethodGet, path, "", nil)["nonce"]
	mac := hmac.New(sha1.New, []byte(sharedSecret))
	fmt.Fprintf(mac, "%s\x00%s\x00%s\x00notadmin", nonce, name, password)
	said := d.call(t, http.MethodPost, path, "", map[string]any{
		"nonce": nonce, "username": name, "password": password, "admin": false, "mac": hex.EncodeToString(mac.Sum(nil)),
	})
	token, ok := said["access_token"].(string)
	require.True(t, ok)
	return token
}

func (d *dendrite) room(t *testing.T, token string, options map[string]any) string {
	t.Helper()
	room, ok := d.call(t, http.MethodPost, "/_matrix/client/v3/createRoom", token, options)["room_id"].(string)
	require.True(t, ok)
	return room
}

// event is the one message of a room. The server shows it a moment after it took it.
func (d *dendrite) event(t *testing.T, token, room string) map[string]any {
	t.Helper()
	var all []map[string]any
	require.Eventually(t, func() bool { all = d.events(t, token, room); return len(all) > 0 }, 10*time.Second, 50*time.Millisecond)
	require.Len(t, all, 1)
	return all[0]
}

// events are the messages of a room, the newest first.
func (d *dendrite) events(t *testing.T, token, room string) []map[string]any {
	t.Helper()
	chunk, ok := d.call(t, http.MethodGet, "/_matrix/client/v3/rooms/"+room+"/messages?dir=b&limit=100", token, nil)["chunk"].([]any)
	require.True(t, ok)
	var all []map[string]any
	for _, e := range chunk {
		event, ok := e.(map[string]any)
		require.True(t, ok)
		if content, ok := event["content"].(map[string]any); ok && event["type"] == "m.room.message" {
			all = append(all, content)
		}
	}
	return all
}

// losing lets the server take every event, and loses its answer.
type losing struct{}

func (losing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.Method == http.MethodPut {
		_ = resp.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return resp, err
}

// TestOnARealServer runs against Dendrite.
func TestOnARealServer(t *testing.T) {
	t.Parallel()
	d := startDendrite(t)
	token := d.account(t, "news")
	open := func(t *testing.T, room, token string, client *http.Client, more postertest.Settings) poster.Poster {
		settings := postertest.Settings{"server": d.url, "room": room, "token": token}
		for key, value := range more {
			settings[key] = value
		}
		p, err := matrix.Driver().New(settings, poster.Options{
			Destination: "news", HTTP: client, UserAgent: "bot/test", Now: time.Now,
			Hosts: map[string][]string{postertest.Article().Source: {"127.0.0.1"}},
		})
		require.NoError(t, err)
		return p
	}
	render := func(t *testing.T, p poster.Poster, id, title string) poster.Message {
		a := postertest.Article()
		a.Title = title
		post := postertest.Post(t, p, a)
		post.ID = id
		m, err := p.Render(post)
		require.NoError(t, err)
		return m
	}
	check := func(t *testing.T, p poster.Poster) error {
		checker, ok := p.(poster.Checker)
		require.True(t, ok)
		return checker.Check(t.Context())
	}
	verify := func(t *testing.T, p poster.Poster, m poster.Message, since time.Time) (poster.Presence, poster.Receipt) {
		verifier, ok := p.(poster.Verifier)
		require.True(t, ok)
		presence, receipt, err := verifier.Verify(t.Context(), m, since)
		require.NoError(t, err)
		return presence, receipt
	}

	t.Run("an event is made, and found", func(t *testing.T) {
		room := d.room(t, token, nil)
		p := open(t, room, token, &http.Client{}, nil)
		require.NoError(t, check(t, p))
		m := render(t, p, "one", "A title 🎉 @room")
		receipt, err := p.Post(t.Context(), m)
		require.NoError(t, err)
		event := d.event(t, token, room)
		require.Equal(t, m.Text, event["body"])
		require.Equal(t, map[string]any{}, event["m.mentions"], "nobody is mentioned")
		presence, found := verify(t, p, m, time.Now())
		require.Equal(t, poster.Found, presence)
		require.Equal(t, receipt, found)
	})

	t.Run("one whose answer was lost is found, and one that was never sent is not", func(t *testing.T) {
		room := d.room(t, token, nil)
		broken := open(t, room, token, &http.Client{Transport: losing{}}, nil)
		m := render(t, broken, "lost", "A title")
		_, err := broken.Post(t.Context(), m)
		require.Equal(t, poster.Unknown, poster.OutcomeOf(err), "%v", err)
		p := open(t, room, token, &http.Client{}, nil)
		d.event(t, token, room)
		presence, _ := verify(t, p, m, time.Now())
		require.Equal(t, poster.Found, presence)

		never := render(t, p, "never", "Never sent")
		presence, _ = verify(t, p, never, time.Now().Add(time.Hour))
		require.Equal(t, poster.Absent, presence, "the room's events reach far enough back")
		presence, _ = verify(t, p, never, time.Now())
		require.NotEqual(t, poster.Found, presence)
	})

	t.Run("texts at the limit are taken, and larger ones refused", func(t *testing.T) {
		room := d.room(t, token, nil)
		p := open(t, room, token, &http.Client{}, nil)
		for i, title := range []string{strings.Repeat("a", 40_000), strings.Repeat("👨‍👩‍👧‍👦", 2000), strings.Repeat("\"", 40_000)} {
			_, err := p.Post(t.Context(), render(t, p, fmt.Sprintf("long-%d", i), title))
			require.NoError(t, err)
		}
		m := render(t, p, "larger", "A title")
		m.Body = bytes.ReplaceAll(m.Body, []byte("A title"), bytes.Repeat([]byte("a"), 70_000))
		_, err := p.Post(t.Context(), m)
		require.Equal(t, poster.RejectedContent, poster.OutcomeOf(err), "%v", err)
	})

	t.Run("a picture has the text as its caption", func(t *testing.T) {
		room := d.room(t, token, nil)
		var file bytes.Buffer
		require.NoError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 9, 7))))
		pictures := postertest.Serve(t, postertest.Answer{Status: 200, Body: file.String()})
		p := open(t, room, token, &http.Client{}, postertest.Settings{"image": true})
		m := render(t, p, "picture", "A title")
		a := postertest.Article()
		a.Image = pictures.URL + "/a.png"
		preparer, ok := p.(poster.Preparer)
		require.True(t, ok)
		_, err := p.Post(t.Context(), preparer.Prepare(t.Context(), a, m))
		require.NoError(t, err)
		event := d.event(t, token, room)
		require.Equal(t, "m.image", event["msgtype"])
		require.Equal(t, m.Text, event["body"])
		require.Equal(t, map[string]any{"mimetype": "image/png", "size": float64(file.Len()), "w": 9.0, "h": 7.0}, event["info"])
	})

	t.Run("what is to be mended pauses the destination", func(t *testing.T) {
		encrypted := d.room(t, token, map[string]any{"initial_state": []any{map[string]any{
			"type": "m.room.encryption", "state_key": "", "content": map[string]any{"algorithm": "m.megolm.v1.aes-sha2"},
		}}})
		require.ErrorContains(t, check(t, open(t, encrypted, token, &http.Client{}, nil)), "the room is encrypted")
		room := d.room(t, token, nil)
		for name, p := range map[string]poster.Poster{
			"a token that is not known": open(t, room, "nothing", &http.Client{}, nil),
			"a room of others":          open(t, room, d.account(t, "other"), &http.Client{}, nil),
			"a room that is not there":  open(t, "!nothing:localhost", token, &http.Client{}, nil),
		} {
			_, err := p.Post(t.Context(), render(t, p, "id", "A title"))
			require.Equal(t, poster.RejectedDestination, poster.OutcomeOf(err), "%s: %v", name, err)
		}
	})
}
