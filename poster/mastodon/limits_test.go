package mastodon_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/mastodon"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// pages answer by the path, everything else with 404.
type pages map[string]string

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if body, ok := p[r.URL.Path]; ok {
		postertest.Answer{Status: 200, Body: body}.ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

func nodeinfo(name string) string { return `{"version":"2.0","software":{"name":"` + name + `"}}` }

func statuses(limits string) string { return `{"configuration":{"statuses":{` + limits + `}}}` }

func TestALimitIsTheServersOwn(t *testing.T) {
	t.Parallel()
	const v1, v2, info = "/api/v1/instance", "/api/v2/instance", "/nodeinfo/2.0"
	for name, test := range map[string]struct {
		server   pages
		settings postertest.Settings
		max, url int
		resend   bool
	}{
		"mastodon":                   {pages{v2: statuses(`"max_characters":500,"characters_reserved_per_url":23`), info: nodeinfo("mastodon")}, nil, 500, 23, true},
		"a server with a longer one": {pages{v2: statuses(`"max_characters":11000,"characters_reserved_per_url":23`), info: nodeinfo("mastodon")}, nil, 11000, 23, true},
		"GoToSocial":                 {pages{v2: statuses(`"max_characters":5000,"characters_reserved_per_url":25`), info: nodeinfo("gotosocial")}, nil, 5000, 25, false},
		"Pleroma":                    {pages{v1: `{"max_toot_chars":5000}`, info: nodeinfo("pleroma")}, nil, 5000, 23, false},
		"one that says nothing":      {pages{}, nil, 500, 23, false},
		"one that says nonsense":     {pages{v2: statuses(`"max_characters":20,"characters_reserved_per_url":23`)}, nil, 500, 23, false},
		"the config says it": {pages{v2: statuses(`"max_characters":5000,"characters_reserved_per_url":25`), info: nodeinfo("other")},
			postertest.Settings{"max_characters": 400, "url_characters": 24, "software": "mastodon"}, 400, 24, true},
		"the config says that keys are of no use": {pages{v2: statuses(`"max_characters":500`), info: nodeinfo("mastodon")},
			postertest.Settings{"software": "other"}, 500, 23, false},
		"a warning takes of it": {pages{v2: statuses(`"max_characters":600`), info: nodeinfo("mastodon")},
			postertest.Settings{"content_warning": "ten chars!"}, 590, 23, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir, at := postertest.Serve(t, test.server), t.TempDir(), postertest.Now
			open := func() poster.Poster {
				settings := postertest.Settings{"server": s.URL, "token": postertest.Secret}
				for key, value := range test.settings {
					settings[key] = value
				}
				p, err := mastodon.Driver().New(settings, poster.Options{
					Destination: "news", HTTP: &http.Client{}, Dir: dir, Now: func() time.Time { return at },
				})
				require.NoError(t, err)
				return p
			}
			learn := func() poster.Traits {
				p := open()
				learner, ok := p.(poster.Learner)
				require.True(t, ok)
				learner.Learn(t.Context())
				learner.Learn(t.Context())
				return p.Traits()
			}
			traits := learn()
			require.Equal(t, poster.Limit{Max: test.max, Unit: poster.Graphemes, URL: test.url}, traits.Limit)
			require.Equal(t, test.resend, traits.Resend)

			asked := len(s.Requests())
			require.Equal(t, traits.Limit, learn().Limit, "the next run knows it")
			if len(test.server) > 0 && !strings.Contains(name, "nonsense") {
				require.Len(t, s.Requests(), asked, "and does not ask again on the same day")
			}
			for _, r := range s.Requests() {
				require.Equal(t, http.MethodGet, r.Method)
			}
			files, err := filepath.Glob(filepath.Join(dir, "limits", "*"))
			require.NoError(t, err)
			for _, file := range files {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NotContains(t, string(data), postertest.Secret)
			}
		})
	}
}

func TestCheckSaysWhichLimitsAreWrong(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, pages{
		"/api/v1/accounts/verify_credentials": `{"id":"1","username":"news"}`,
		"/api/v2/instance":                    statuses(`"max_characters":400,"characters_reserved_per_url":25`),
	})
	for said, settings := range map[string]postertest.Settings{
		"":                                     {},
		"set max_characters: 400 and":          {"max_characters": 500},
		"url_characters: 25, or neither":       {"url_characters": 23},
		"the server takes 400 characters and ": {"max_characters": 500, "url_characters": 23},
	} {
		settings["server"], settings["token"] = s.URL, postertest.Secret
		p, err := mastodon.Driver().New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return postertest.Now }})
		require.NoError(t, err)
		checker, ok := p.(poster.Checker)
		require.True(t, ok)
		if err := checker.Check(t.Context()); said == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, said)
		}
	}
}
