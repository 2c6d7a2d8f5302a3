package discord_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"bot/poster"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestAMessageMentionsNobodyAndShowsTitlesAsTheyAre(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"snake_case_name and *stars* ||x||": `snake\_case\_name and \*stars\* \|\|x\|\|`,
		"重要 @everyone <@123> @here":         `重要 @everyone \<@123> @here`,
		"# not a heading":                   `\# not a heading`,
		"[a](https://evil.example)":         `\[a\](https://evil.example)`,
	} {
		s := postertest.Serve(t, fixture().Delivered)
		p := fixture().New(t, s.URL, &http.Client{})
		a := postertest.Article()
		a.Title, a.URL = title, "https://example.jp/a_b_c"
		m, err := p.Render(postertest.Post(t, p, a))
		require.NoError(t, err)
		receipt, err := p.Post(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, "1234", receipt.RemoteID)

		request := s.Requests()[0]
		require.Equal(t, "thread_id=7&wait=true", request.URL.RawQuery, "the answer is waited for")
		require.Empty(t, request.Header.Get("Idempotency-Key"), "Discord knows none")
		var got struct {
			Content         string
			AllowedMentions struct{ Parse []string } `json:"allowed_mentions"`
		}
		require.NoError(t, json.Unmarshal([]byte(request.Content), &got))
		require.Equal(t, want+"\n<https://example.jp/a_b_c>", got.Content)
		require.Equal(t, []string{}, got.AllowedMentions.Parse)
	}
}

func TestCheckAsksForTheWebhookAndPostsNothing(t *testing.T) {
	t.Parallel()
	s := postertest.Serve(t, fixture().Delivered)
	p := fixture().New(t, s.URL, &http.Client{})
	checker, ok := p.(poster.Checker)
	require.True(t, ok)
	require.NoError(t, checker.Check(t.Context()))
	require.Equal(t, http.MethodGet, s.Requests()[0].Method)
	require.Empty(t, s.Requests()[0].Content)
}
