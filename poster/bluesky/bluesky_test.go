package bluesky_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/bluesky"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

const (
	did     = "did:plc:ov3yqdaszdi2dfa6vdm2dwq4"
	putDone = `{"uri":"at://did/app.bsky.feed.post/rkey","cid":"bafy","commit":{"cid":"x","rev":"y"},"validationStatus":"valid"}`
)

func sessionJSON(account, mark string) string {
	return fmt.Sprintf(`{"account":%q,"did":%q,"accessJwt":"access.%s.%s","refreshJwt":"refresh.%s.%s"}`,
		account, did, mark, postertest.Secret, mark, postertest.Secret)
}

// fixture is an account that logged in on an earlier run.
func fixture(t *testing.T) postertest.Fixture {
	dir := t.TempDir()
	f := bare()
	f.Dir = func(address string) string {
		own, err := os.MkdirTemp(dir, "state")
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(filepath.Join(own, "sessions"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(own, "sessions", "account.json"),
			[]byte(sessionJSON(address+" news.bsky.social", "old")), 0o600))
		return own
	}
	return f
}

// bare is an account that never logged in.
func bare() postertest.Fixture {
	return postertest.Fixture{
		Driver: bluesky.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{
				"server": address, "identifier": "@News.bsky.social", "password": postertest.Secret, "languages": []string{"ja"},
			}
		},
		Delivered: postertest.Answer{Status: 200, Body: putDone},
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	postertest.Run(t, fixture(t))
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	t.Parallel()
	postertest.Golden(t, fixture(t), "testdata/request.txt")
}

// pds is a server that answers as a PDS does, as far as the tests go.
type pds map[string]postertest.Answer

func (p pds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, ok := p[filepath.Base(r.URL.Path)]
	if !ok {
		answer = postertest.Answer{Status: 404}
	}
	// A record is taken with a new token only, where there is one.
	if next, ok := p["with new token"]; ok && r.Header.Get("Authorization") == "Bearer access.new."+postertest.Secret {
		answer = next
	}
	answer.ServeHTTP(w, r)
}

func methods(s *postertest.Server) []string {
	var all []string
	for _, r := range s.Requests() {
		all = append(all, filepath.Base(r.URL.Path))
	}
	return all
}

func attempt(t *testing.T, p poster.Poster) (poster.Receipt, error) {
	t.Helper()
	m, err := p.Render(postertest.Post(t, p, postertest.Article()))
	require.NoError(t, err)
	return p.Post(t.Context(), m)
}

func TestALoginIsKeptForItsOwnerAndUsedAgain(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, pds{
		"com.atproto.server.createSession": {Status: 200, Body: sessionJSON("", "new")},
		"with new token":                   {Status: 200, Body: putDone},
	})
	dir := t.TempDir()
	f := bare()
	f.Dir = func(string) string { return dir }
	for range 2 {
		receipt, err := attempt(t, f.New(t, s.URL, s.Client()))
		require.NoError(t, err)
		require.Regexp(t, `^https://bsky.app/profile/`+did+`/post/[2-7a-z]{13}$`, receipt.RemoteURL)
	}
	require.Equal(t, []string{"com.atproto.server.createSession", "com.atproto.repo.putRecord", "com.atproto.repo.putRecord"}, methods(s))
	info, err := os.Stat(filepath.Join(dir, "sessions", "account.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAnExpiredTokenIsRenewedAndTheRecordPutAgain(t *testing.T) {
	t.Parallel()
	expired := postertest.Answer{Status: 400, Body: `{"error":"ExpiredToken","message":"Token has expired"}`}
	s := postertest.Serve(t, pds{
		"com.atproto.repo.putRecord":        expired,
		"com.atproto.server.refreshSession": {Status: 200, Body: sessionJSON("", "new")},
		"with new token":                    {Status: 200, Body: putDone},
	})
	_, err := attempt(t, fixture(t).New(t, s.URL, s.Client()))
	require.NoError(t, err)
	require.Equal(t, []string{"com.atproto.repo.putRecord", "com.atproto.server.refreshSession", "com.atproto.repo.putRecord"}, methods(s))

	s = postertest.Serve(t, pds{
		"com.atproto.repo.putRecord":        expired,
		"com.atproto.server.refreshSession": expired,
		"com.atproto.server.createSession":  {Status: 200, Body: sessionJSON("", "new")},
		"with new token":                    {Status: 200, Body: putDone},
	})
	_, err = attempt(t, fixture(t).New(t, s.URL, s.Client()))
	require.NoError(t, err, "where that has expired too, it logs in")
}

func TestALoginThatFailsPublishedNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer postertest.Answer
		want   poster.Outcome
	}{
		"a wrong password":   {postertest.Answer{Status: 401, Body: `{"error":"AuthenticationRequired","message":"Invalid identifier or password"}`}, poster.RejectedDestination},
		"a strange request":  {postertest.Answer{Status: 400, Body: `{"error":"InvalidRequest"}`}, poster.RejectedDestination},
		"too many logins":    {postertest.Answer{Status: 429, Header: map[string]string{"RateLimit-Reset": "1796079116"}, Body: `{"error":"RateLimitExceeded"}`}, poster.Later},
		"an error":           {postertest.Answer{Status: 500}, poster.Later},
		"a page of a proxy":  {postertest.Answer{Status: 200, Body: "<html>"}, poster.Later},
		"an ID that is none": {postertest.Answer{Status: 200, Body: `{"did":"x\",\"y","accessJwt":"a","refreshJwt":"b"}`}, poster.Later},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, pds{"com.atproto.server.createSession": c.answer})
			_, err := attempt(t, bare().New(t, s.URL, s.Client()))
			require.Equal(t, c.want, poster.OutcomeOf(err), "%v", err)
			require.NotContains(t, methods(s), "com.atproto.repo.putRecord")
		})
	}
}

func TestARecordInTheWayIsOursOrNot(t *testing.T) {
	t.Parallel()
	value := func(text string) postertest.Answer {
		body, _ := json.Marshal(map[string]any{"value": map[string]string{"text": text, "createdAt": "2026-08-03T09:00:00.000Z"}})
		return postertest.Answer{Status: 200, Body: string(body)}
	}
	for name, c := range map[string]struct {
		there    postertest.Answer
		want     poster.Outcome
		presence poster.Presence
	}{
		"ours":           {value("A title\nhttps://example.jp/a?x=1&y=2"), poster.Delivered, poster.Found},
		"another":        {value("Another"), poster.RejectedContent, poster.Absent},
		"none":           {postertest.Answer{Status: 400, Body: `{"error":"RecordNotFound"}`}, poster.RejectedContent, poster.Absent},
		"not to be seen": {postertest.Answer{Status: 502}, poster.Unknown, poster.CannotTell},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, pds{
				"com.atproto.repo.putRecord": {Status: 400, Body: `{"error":"InvalidSwap","message":"Record was at bafy"}`},
				"com.atproto.repo.getRecord": c.there,
			})
			p := fixture(t).New(t, s.URL, s.Client())
			_, err := attempt(t, p)
			require.Equal(t, c.want, poster.OutcomeOf(err), "%v", err)
			m, err := p.Render(postertest.Post(t, p, postertest.Article()))
			require.NoError(t, err)
			verifier, ok := p.(poster.Verifier)
			require.True(t, ok)
			presence, _, _ := verifier.Verify(t.Context(), m, postertest.Now)
			require.Equal(t, c.presence, presence)
		})
	}
}

func TestKeysAreTIDsAndDifferAtTheSameMoment(t *testing.T) {
	t.Parallel()
	p := fixture(t).New(t, "http://127.0.0.1:9", nil)
	seen := map[string]bool{}
	for i := range 1000 {
		m, err := p.Render(poster.Post{ID: fmt.Sprint(i), Text: "text"})
		require.NoError(t, err)
		var put struct {
			Key string `json:"rkey"`
		}
		require.NoError(t, json.Unmarshal(m.Body, &put))
		require.Regexp(t, regexp.MustCompile(`^[234567abcdefghij][2-7a-z]{12}$`), put.Key)
		seen[put.Key] = true
	}
	require.Len(t, seen, 1000)
}

func TestACardHasThePictureOrGoesWithout(t *testing.T) {
	t.Parallel()
	blob := `{"$type":"blob","ref":{"$link":"bafk"},"mimeType":"image/png","size":75}`
	taken := postertest.Answer{Status: 200, Body: `{"blob":` + blob + `}`}
	for name, c := range map[string]struct {
		picture, upload postertest.Answer
		thumb           string
		kind            string
	}{
		"a small one as it is":   {postertest.Answer{Status: 200, Body: postertest.Picture(t, 8)}, taken, blob, "image/png"},
		"a large one made small": {postertest.Answer{Status: 200, Body: postertest.Picture(t, 1200)}, taken, blob, "image/jpeg"},
		"none there":             {postertest.Answer{Status: 404}, taken, "", ""},
		"not a picture":          {postertest.Answer{Status: 200, Body: "<html>"}, taken, "", ""},
		"not taken":              {postertest.Answer{Status: 200, Body: postertest.Picture(t, 8)}, postertest.Answer{Status: 500}, "", "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, pds{"a.png": c.picture, "com.atproto.repo.uploadBlob": c.upload})
			p := fixture(t).New(t, s.URL, s.Client())
			a := postertest.Article()
			a.Image = s.URL + "/a.png"
			post := postertest.Post(t, p, a)
			m, err := p.Render(post)
			require.NoError(t, err)
			preparer, ok := p.(poster.Preparer)
			require.True(t, ok)
			prepared := preparer.Prepare(t.Context(), a, m)
			var put struct {
				Record struct {
					Embed struct {
						External struct{ Thumb json.RawMessage }
					}
				}
			}
			require.NoError(t, json.Unmarshal(prepared.Body, &put))
			require.Equal(t, c.thumb, string(put.Record.Embed.External.Thumb))
			if c.thumb == "" {
				require.Equal(t, string(m.Body), string(prepared.Body))
			}
			if c.kind != "" {
				upload := s.Requests()[1]
				require.Equal(t, c.kind, upload.Header.Get("Content-Type"))
				require.LessOrEqual(t, len(upload.Content), 1_000_000)
			}
		})
	}
}

func TestAPictureIsNotFetchedFromWhereOnlyThisMachineCan(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, pds{"a.png": {Status: 200, Body: postertest.Picture(t, 8)}})
	p := fixture(t).New(t, s.URL, s.Client())
	a := postertest.Article()
	a.Image, a.Source = s.URL+"/a.png", "another"
	m, err := p.Render(postertest.Post(t, p, a))
	require.NoError(t, err)
	preparer, ok := p.(poster.Preparer)
	require.True(t, ok)
	require.Equal(t, string(m.Body), string(preparer.Prepare(t.Context(), a, m).Body))
	require.Empty(t, s.Requests())
}

func TestCheckAsksForTheSession(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, pds{"com.atproto.server.getSession": {Status: 200, Body: `{"did":"` + did + `"}`}})
	checker, ok := fixture(t).New(t, s.URL, s.Client()).(poster.Checker)
	require.True(t, ok)
	require.NoError(t, checker.Check(t.Context()))
	require.Equal(t, []string{"com.atproto.server.getSession"}, methods(s))
}

func TestSettingsAreStrict(t *testing.T) {
	t.Parallel()
	_, err := bluesky.Driver().New(postertest.Settings{"languages": []string{"a", "b", "c", "d"}}, poster.Options{Now: time.Now})
	require.ErrorContains(t, err, "identifier is required")
	require.ErrorContains(t, err, "app password")
	require.ErrorContains(t, err, "at most 3")
}
