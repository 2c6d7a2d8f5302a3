package platforms_test

import (
	"bytes"
	"encoding/json"
	"image"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// routes answer by the end of the path, one after the other, the last for ever.
type routes struct {
	mu  sync.Mutex
	all map[string][]postertest.Answer
}

func (r *routes) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for end, answers := range r.all {
		if strings.HasSuffix(req.URL.Path, end) {
			answers[0].ServeHTTP(w, req)
			r.all[end] = answers[min(1, len(answers)-1):]
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

// upload is how a platform is brought a picture.
type upload struct {
	// at is the end of the address that takes it, and taken its answers.
	at    string
	taken []postertest.Answer
	// field is its name in a form. Empty: it is the body.
	field string
	// post is the end of the address that publishes, posted its answer, and named how
	// the picture is named there.
	post   string
	posted string
	named  string
	// refused is how the platform refuses the picture once it is to be published. Empty
	// status: it does not.
	refused postertest.Answer
}

func uploads() map[string]upload {
	ok := func(body string) postertest.Answer { return postertest.Answer{Status: 200, Body: body} }
	return map[string]upload{
		"mastodon": {
			at: "/api/v2/media", taken: []postertest.Answer{ok(`{"id":"55","url":"https://m.example/55.png"}`)}, field: "file",
			post: "/api/v1/statuses", posted: `{"id":"7"}`, named: `"media_ids":["55"]`,
			refused: postertest.Answer{Status: 422, Body: `{"error":"Validation failed"}`},
		},
		"matrix": {
			at: "/_matrix/media/v3/upload", taken: []postertest.Answer{ok(`{"content_uri":"mxc://m.example/abc"}`)},
			post: "/id", posted: `{"event_id":"$7"}`,
			named: `"filename":"picture.png","url":"mxc://m.example/abc","info":{"mimetype":"image/png"`,
		},
		"x": {
			at: "/2/media/upload", taken: []postertest.Answer{ok(`{"data":{"id":"55"}}`)}, field: "media",
			post: "/2/tweets", posted: `{"data":{"id":"7"}}`, named: `"media":{"media_ids":["55"]}`,
			refused: postertest.Answer{Status: 400, Body: `{"errors":[{"message":"Your media IDs are invalid."}]}`},
		},
	}
}

// onLoopback are the options of a destination whose sources are on this machine, so
// that their pictures may be.
func onLoopback() poster.Options {
	return poster.Options{
		HTTP: &http.Client{}, Now: func() time.Time { return now },
		Hosts: map[string][]string{postertest.Article().Source: {"127.0.0.1"}},
	}
}

// send announces an article with a picture, and returns what the server was sent that
// was no picture's own request.
func (u upload) send(t *testing.T, platform string, picture, published postertest.Answer, taken ...postertest.Answer) (*postertest.Server, error) {
	t.Helper()
	s := postertest.Serve(t, &routes{all: map[string][]postertest.Answer{
		"/a.png": {picture}, u.at: taken, "/api/v1/media/55": {{Status: 206}, {Status: 200, Body: `{"id":"55"}`}},
		u.post: {published, {Status: 200, Body: u.posted}},
	}})
	name, settings := destination(platform, s.URL)
	settings["image"] = true
	driver, _ := platforms.Find(name)
	p, err := driver.New(settings, onLoopback())
	require.NoError(t, err)
	a := postertest.Article()
	a.Image = s.URL + "/a.png"
	preparer, ok := p.(poster.Preparer)
	require.True(t, ok)
	post := postertest.Post(t, p, a)
	post.ID = "id"
	m, err := p.Render(post)
	require.NoError(t, err)
	m = preparer.Prepare(t.Context(), a, m)
	require.NotContains(t, string(m.Body), postertest.Secret)
	_, err = p.Post(t.Context(), m)
	return s, err
}

// sentTo are the bodies of what was sent to addresses that end so.
func sentTo(s *postertest.Server, end string) []postertest.Received {
	var all []postertest.Received
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.URL.Path, end) {
			all = append(all, r)
		}
	}
	return all
}

// TestAPictureIsBroughtBeforeThePostThatNamesIt, or the post goes without.
func TestAPictureIsBroughtBeforeThePostThatNamesIt(t *testing.T) {
	t.Parallel()
	small := postertest.Picture(t, 8)
	picture := postertest.Answer{Status: 200, Body: small}
	for platform, u := range uploads() {
		posted := postertest.Answer{Status: 200, Body: u.posted}
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			s, err := u.send(t, platform, picture, posted, u.taken...)
			require.NoError(t, err)
			require.Len(t, sentTo(s, u.at), 1)
			require.Equal(t, small, fileOf(t, sentTo(s, u.at)[0], u.field))
			require.Len(t, sentTo(s, u.post), 1)
			require.Contains(t, sentTo(s, u.post)[0].Content, u.named)
		})
		for name, test := range map[string]struct {
			picture postertest.Answer
			taken   postertest.Answer
		}{
			"none there":      {postertest.Answer{Status: 404}, u.taken[0]},
			"not a picture":   {postertest.Answer{Status: 200, Body: "<html>"}, u.taken[0]},
			"refused":         {picture, postertest.Answer{Status: 422}},
			"an error":        {picture, postertest.Answer{Status: 500}},
			"a strange reply": {picture, postertest.Answer{Status: 200, Body: "<html>"}},
		} {
			t.Run(platform+" "+name, func(t *testing.T) {
				t.Parallel()
				s, err := u.send(t, platform, test.picture, posted, test.taken)
				require.NoError(t, err)
				require.Len(t, sentTo(s, u.post), 1)
				require.NotContains(t, sentTo(s, u.post)[0].Content, u.named)
			})
		}
		if u.refused.Status != 0 {
			t.Run(platform+" refused in the end", func(t *testing.T) {
				t.Parallel()
				s, err := u.send(t, platform, picture, u.refused, u.taken...)
				require.NoError(t, err)
				require.Len(t, sentTo(s, u.post), 2)
				require.NotContains(t, sentTo(s, u.post)[1].Content, u.named)
			})
		}
	}
}

func TestAPictureThatIsStillReadIsWaitedFor(t *testing.T) {
	t.Parallel()
	u := uploads()["mastodon"]
	s, err := u.send(t, "mastodon", postertest.Answer{Status: 200, Body: postertest.Picture(t, 8)}, postertest.Answer{Status: 200, Body: u.posted},
		postertest.Answer{Status: 202, Body: `{"id":"55","url":null}`})
	require.NoError(t, err)
	require.Len(t, sentTo(s, "/api/v1/media/55"), 2)
	require.Contains(t, sentTo(s, u.post)[0].Content, u.named)
}

// fileOf is the file in a request.
func fileOf(t *testing.T, r postertest.Received, field string) string {
	t.Helper()
	if field == "" {
		require.Equal(t, "image/png", r.Header.Get("Content-Type"))
		return r.Content
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	require.NoError(t, err)
	form, err := multipart.NewReader(strings.NewReader(r.Content), params["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	require.Len(t, form.File[field], 1)
	require.Equal(t, "image/png", form.File[field][0].Header.Get("Content-Type"))
	file, err := form.File[field][0].Open()
	require.NoError(t, err)
	defer file.Close()
	var data bytes.Buffer
	_, err = data.ReadFrom(file)
	require.NoError(t, err)
	return data.String()
}

// TestAPictureIsMadeSmallEnough for a platform's limit, or is none.
func TestAPictureIsMadeSmallEnough(t *testing.T) {
	t.Parallel()
	webp := "RIFF\x24\x00\x00\x00WEBPVP8 " + strings.Repeat("x", 64)
	for name, test := range map[string]struct {
		file string
		most int
		kind string
	}{
		"as it is":                    {postertest.Picture(t, 8), 1_000_000, "image/png"},
		"too large":                   {postertest.Picture(t, 1200), 1_000_000, "image/jpeg"},
		"far too large":               {postertest.Picture(t, 1200), 100_000, "image/jpeg"},
		"larger than could be":        {postertest.Picture(t, 1200), 1000, ""},
		"of a kind that Go lacks":     {webp, 1000, "image/webp"},
		"of such a kind, and large":   {webp, 10, ""},
		"cut off":                     {postertest.Picture(t, 1200)[:1_500_000], 1_000_000, ""},
		"a bomb of too many pixels":   {bomb, 1_000_000, ""},
		"nothing":                     {"", 1_000_000, ""},
		"a page":                      {"<html>", 1_000_000, ""},
		"larger than what is fetched": {postertest.Picture(t, 8) + strings.Repeat("x", 10<<20), 20 << 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, postertest.Answer{Status: 200, Body: test.file})
			a := postertest.Article()
			a.Image = s.URL + "/a.png"
			p, ok := poster.FetchPicture(t.Context(), onLoopback(), a, test.most)
			require.Equal(t, test.kind != "", ok)
			require.Equal(t, test.kind, p.Kind)
			require.LessOrEqual(t, len(p.Data), test.most)
			if p.Width > 0 {
				about, _, err := image.DecodeConfig(bytes.NewReader(p.Data))
				require.NoError(t, err)
				require.Equal(t, [2]int{about.Width, about.Height}, [2]int{p.Width, p.Height})
			}
		})
	}
}

// bomb says that it is a picture of 65,535 by 65,535 points.
const bomb = "GIF89a\xff\xff\xff\xff\x00\x00\x00,"

// TestTheMessageWithAPictureIsJSON: what was frozen can be read again.
func TestTheMessageWithAPictureIsJSON(t *testing.T) {
	t.Parallel()
	rest, had := poster.Without([]byte(`{"a":1,"b":"<&>","c":[]}`), "c", "d")
	require.True(t, had)
	require.True(t, json.Valid(rest))
	require.Equal(t, `{"a":1,"b":"<&>"}`, string(rest))
	_, had = poster.Without([]byte(`{"a":1}`), "c")
	require.False(t, had)
	_, had = poster.Without([]byte(`[`), "c")
	require.False(t, had)
}
