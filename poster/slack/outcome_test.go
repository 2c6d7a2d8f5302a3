package slack_test

import (
	"net/http"
	"testing"

	"bot/poster"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestSlacksOwnWordsComeBeforeTheStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   poster.Outcome
	}{
		{400, "invalid_payload", poster.RejectedContent},
		{400, "no_text", poster.RejectedContent},
		{400, "user_not_found", poster.RejectedDestination},
		{400, "invalid_token", poster.RejectedDestination},
		{403, "action_prohibited", poster.RejectedDestination},
		{403, "posting_to_general_channel_denied", poster.RejectedDestination},
		{404, "channel_not_found", poster.RejectedDestination},
		{404, "no_service", poster.RejectedDestination},
		{410, "channel_is_archived", poster.RejectedDestination},
		{400, "something_new", poster.RejectedContent},
		{429, "rate_limited", poster.Later},
		{500, "rollup_error", poster.Unknown},
		{200, "ok", poster.Delivered},
		{200, "OK", poster.Unknown},
		{200, `{"ok":false,"error":"channel_not_found"}`, poster.Unknown},
		{201, "ok", poster.Unknown},
		{204, "", poster.Unknown},
	} {
		t.Run(test.body, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, postertest.Answer{Status: test.status, Body: test.body})
			p := fixture().New(t, s.URL, &http.Client{})
			m, err := p.Render(postertest.Post(t, p, postertest.Article()))
			require.NoError(t, err)
			_, err = p.Post(t.Context(), m)
			require.Equal(t, test.want, poster.OutcomeOf(err), "%v", err)
			if poster.OutcomeOf(err) == poster.RejectedDestination {
				require.ErrorContains(t, err, test.body, "the word is shown")
			}
		})
	}
}
