package discord_test

import (
	"fmt"
	"net/http"
	"testing"

	"bot/poster"
	"bot/poster/discord"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestDiscordsOwnCodesComeBeforeTheStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   poster.Outcome
		says   string
	}{
		{400, `{"message":"Invalid Form Body","code":50035}`, poster.RejectedContent, "Invalid Form Body"},
		{400, `{"message":"Cannot send an empty message","code":50006}`, poster.RejectedContent, "empty message"},
		{403, `{"message":"blocked by automatic moderation","code":200000}`, poster.RejectedContent, "moderation"},
		{400, `{"message":"Webhooks posted to forum channels must have a thread_name or thread_id","code":220001}`, poster.RejectedDestination, "thread_id"},
		{404, `{"message":"Unknown Webhook","code":10015}`, poster.RejectedDestination, "make a new one"},
		{401, `{"message":"Invalid Webhook Token","code":50027}`, poster.RejectedDestination, "make a new one"},
		{400, `{"message":"Unknown Channel","code":10003}`, poster.RejectedDestination, "permissions"},
		{429, `{"message":"blocked","code":50035,"retry_after":3}`, poster.Later, "fewer posts"},
		{503, `{"code":50035}`, poster.Unknown, "may have published"},
		{200, `{"id":""}`, poster.Unknown, "not the platform's own"},
		{200, `{"id":7}`, poster.Unknown, "not the platform's own"},
		{204, "", poster.Delivered, ""},
	} {
		t.Run(fmt.Sprint(test.status, test.body), func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, postertest.Answer{Status: test.status, Body: test.body, Header: map[string]string{"Retry-After": "5"}})
			p := fixture().New(t, s.URL, &http.Client{})
			m, err := p.Render(postertest.Post(t, p, postertest.Article()))
			require.NoError(t, err)
			_, err = p.Post(t.Context(), m)
			require.Equal(t, test.want, poster.OutcomeOf(err), "%v", err)
			if err != nil {
				require.ErrorContains(t, err, test.says)
			}
		})
	}
}

func TestCheckSaysWhatToMend(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, postertest.Answer{Status: 404, Body: `{"message":"Unknown Webhook","code":10015}`})
	checker, ok := fixture().New(t, s.URL, &http.Client{}).(poster.Checker)
	require.True(t, ok)
	require.ErrorContains(t, checker.Check(t.Context()), "make a new one")
}

func TestWrongSettingsAreErrors(t *testing.T) {
	t.Parallel()
	const long = "an account's name that is longer than the eighty characters that Discord takes for it"
	for name, set := range map[string]postertest.Settings{
		"no webhook":       {},
		"a long name":      {"webhook": "https://discord.com/api/webhooks/1/x", "username": long},
		"an unknown key":   {"webhook": "https://discord.com/api/webhooks/1/x", "user": "x"},
		"no whole address": {"webhook": "discord.com/api/webhooks/1/x"},
	} {
		_, err := discord.Driver().New(set, poster.Options{Destination: "account"})
		require.Error(t, err, name)
	}
}
