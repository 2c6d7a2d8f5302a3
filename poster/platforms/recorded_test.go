package platforms_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// recording is what a real server answered: testdata/recorded/SERVER/NAME.json.
type recording struct {
	Response struct {
		Status  int
		Headers map[string]string
		Body    json.RawMessage
	}
}

// recorded returns an answer of GoToSocial 0.20, Dendrite 0.13.8, ntfy 2.13 or Bluesky's
// own server as it was recorded.
func recorded(t *testing.T, server, name string) postertest.Answer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "recorded", server, name+".json"))
	require.NoError(t, err)
	var r recording
	require.NoError(t, json.Unmarshal(data, &r))
	a := postertest.Answer{Status: r.Response.Status, Header: map[string]string{}, Body: row{Body: r.Response.Body}.text()}
	for key, value := range r.Response.Headers {
		if key != "Content-Length" {
			a.Header[key] = value
		}
	}
	return a
}

// platformOf names the platform that a recorded server is of, as destination does.
var platformOf = map[string]string{"gotosocial": "gotosocial", "matrix-dendrite": "matrix", "ntfy": "ntfy", "bluesky": "bluesky"}

func TestWhatRealServersAnsweredToAPost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		server, name string
		want         poster.Outcome
		id           string
	}{
		{"gotosocial", "post_status_1st_with_key", poster.Delivered, "01M8QB40KD3S6V4MC3VJWEXVT7"},
		{"gotosocial", "post_empty", poster.RejectedContent, ""},
		{"gotosocial", "post_too_long", poster.RejectedContent, ""},
		{"gotosocial", "post_bad_media", poster.RejectedContent, ""},
		{"gotosocial", "post_bad_token", poster.RejectedDestination, ""},
		{"gotosocial", "rate_limited", poster.Later, ""},
		{"matrix-dendrite", "send_1st", poster.Delivered, "$xJvEmNtILxy35_YryLKQDpdHx-86pCLuhtBO4Jgz1Ec"},
		{"matrix-dendrite", "send_2nd_same_txn_other_body", poster.Delivered, "$xJvEmNtILxy35_YryLKQDpdHx-86pCLuhtBO4Jgz1Ec"},
		{"matrix-dendrite", "send_bad_token", poster.RejectedDestination, ""},
		{"matrix-dendrite", "send_bad_json", poster.RejectedContent, ""},
		{"matrix-dendrite", "send_too_large", poster.RejectedContent, ""},
		{"matrix-dendrite", "send_unknown_room", poster.RejectedDestination, ""},
		{"ntfy", "publish_json", poster.Delivered, "3y9Pkjn5Yz7M"},
		{"ntfy", "message_4097_bytes_json", poster.Delivered, "FmwTHvMMGwEB"},
		{"ntfy", "bad_attach_url", poster.RejectedContent, ""},
		{"ntfy", "bad_json", poster.RejectedContent, ""},
		{"ntfy", "bad_priority", poster.RejectedContent, ""},
		{"ntfy", "bad_token", poster.RejectedDestination, ""},
		{"ntfy", "no_auth", poster.RejectedDestination, ""},
		{"ntfy", "forbidden_topic", poster.RejectedDestination, ""},
		{"ntfy", "daily_message_limit", poster.Later, ""},
		{"ntfy", "request_limit", poster.Later, ""},
		{"bluesky", "put_record_swapRecord_null_new", poster.Delivered, ""},
		{"bluesky", "put_record_swapRecord_null_exists", poster.Delivered, ""},
		{"bluesky", "put_record_swapRecord_null_exists_other_body", poster.RejectedContent, ""},
		{"bluesky", "put_record_thumb_over_1MB", poster.RejectedContent, ""},
		{"bluesky", "create_record_text_301_graphemes", poster.RejectedContent, ""},
		{"bluesky", "put_record_deactivated", poster.RejectedDestination, ""},
		{"bluesky", "create_record_other_repo", poster.RejectedDestination, ""},
		{"bluesky", "expired_token", poster.Later, ""},
		{"bluesky", "create_record_thumb_wrong_ref", poster.Later, ""},
		{"bluesky", "unknown_method", poster.Unknown, ""},
	} {
		t.Run(test.server+" "+test.name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, site{
				"createSession": {Status: 200, Body: login}, "refreshSession": {Status: 200, Body: login},
				"getRecord": recorded(t, "bluesky", "get_record_exists"), "": recorded(t, test.server, test.name),
			}.longest())
			p := plainPoster(t, platformOf[test.server], s.URL, &http.Client{})
			m, err := p.Render(poster.Post{ID: "id", Text: "text"})
			require.NoError(t, err)
			receipt, err := p.Post(t.Context(), m)
			require.Equal(t, test.want, poster.OutcomeOf(err), "%v", err)
			if test.id != "" {
				require.Equal(t, test.id, receipt.RemoteID)
			}
		})
	}
}

// longest is a site whose answers are chosen by the longest end that fits.
func (s site) longest() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		best := ""
		for end := range s {
			if strings.HasSuffix(r.URL.Path, end) && len(end) > len(best) {
				best = end
			}
		}
		s[best].ServeHTTP(w, r)
	})
}

func TestALoginThatARealServerRefusedPublishedNothing(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]poster.Outcome{
		"create_session_badpw": poster.RejectedDestination, "create_session_rate_limited": poster.Later,
	} {
		s := postertest.Serve(t, recorded(t, "bluesky", name))
		require.Equal(t, want, poster.OutcomeOf(attempt(t, "bluesky", s.URL, &http.Client{})))
		for _, r := range s.Requests() {
			require.True(t, strings.HasSuffix(r.URL.Path, "createSession"))
		}
	}
}

func TestWhatRealServersAnsweredToTheQuestionWhatBecameOfAPost(t *testing.T) {
	t.Parallel()
	// The record that was found after its answer was lost.
	lost := recorded(t, "bluesky", "after_client_reset_get_record")
	var found struct{ Value json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(lost.Body), &found))
	ours := []byte(`{"collection":"app.bsky.feed.post","rkey":"3mabcdefgjc22","record":` + string(found.Value) + `,"swapRecord":null}`)

	const link = "https://example.org/a/1"
	for name, test := range map[string]struct {
		platform string
		site     site
		message  poster.Message
		want     poster.Presence
		id       string
	}{
		"GoToSocial shows it": {
			"gotosocial", site{"verify_credentials": recorded(t, "gotosocial", "verify_credentials"), "/statuses": recorded(t, "gotosocial", "account_statuses")},
			poster.Message{Text: "New article\n" + link}, poster.Found, "01M8QB40KP1VXF9PDP81V2BK0Q",
		},
		"ntfy shows it": {
			"ntfy", site{"/json": recorded(t, "ntfy", "poll")},
			poster.Message{Body: []byte(`{"message":"Why at-most-once + idempotency\nhttps://example.org/a/1","click":"` + link + `"}`)}, poster.Found, "3y9Pkjn5Yz7M",
		},
		"ntfy shows others": {
			"ntfy", site{"/json": recorded(t, "ntfy", "poll")}, poster.Message{Body: []byte(`{"message":"another","click":"` + link + `"}`)}, poster.Absent, "",
		},
		"Dendrite shows others, and not far enough back": {
			"matrix", site{"/messages": recorded(t, "matrix-dendrite", "messages_verify")}, poster.Message{ID: "another"}, poster.CannotTell, "",
		},
		"Bluesky has it after a lost answer": {
			"bluesky", site{"createSession": {Status: 200, Body: login}, "getRecord": lost}, poster.Message{Body: ours}, poster.Found,
			"at://did:plc:abc/app.bsky.feed.post/3mabcdefgjc22",
		},
		"Bluesky has it not": {
			"bluesky", site{"createSession": {Status: 200, Body: login}, "getRecord": recorded(t, "bluesky", "get_record_missing")},
			poster.Message{Body: ours}, poster.Absent, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plainPoster(t, test.platform, postertest.Serve(t, test.site).URL, &http.Client{})
			verifier, ok := p.(poster.Verifier)
			require.True(t, ok)
			presence, receipt, err := verifier.Verify(t.Context(), test.message, time.Date(2026, 11, 30, 23, 2, 0, 0, time.UTC))
			require.NoError(t, err)
			require.Equal(t, test.want, presence)
			require.Equal(t, test.id, receipt.RemoteID)
		})
	}
}

func TestTheLimitsOfARealServerAreLearnt(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, site{"/api/v2/instance": recorded(t, "gotosocial", "instance_v2"), "/nodeinfo/2.0": recorded(t, "gotosocial", "nodeinfo")})
	p := plainPoster(t, "gotosocial", s.URL, &http.Client{})
	learner, ok := p.(poster.Learner)
	require.True(t, ok)
	learner.Learn(t.Context())
	require.Equal(t, poster.Limit{Max: 5000, Unit: poster.Graphemes, URL: 25}, p.Traits().Limit)
	require.False(t, p.Traits().Resend, "it does not heed an Idempotency-Key")
}
