package slack_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

func TestAMessageEscapesWhatSlackWouldAct(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fish & chips <!channel>":  "Fish &amp; chips &lt;!channel&gt;",
		"<https://evil.example|x>": "&lt;https://evil.example|x&gt;",
		"&amp; stays as it is":     "&amp;amp; stays as it is",
	} {
		s := postertest.Serve(t, fixture().Delivered)
		p := fixture().New(t, s.URL, &http.Client{})
		a := postertest.Article()
		a.Title, a.URL = title, "https://example.jp/a"
		m, err := p.Render(postertest.Post(t, p, a))
		require.NoError(t, err)
		_, err = p.Post(t.Context(), m)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(s.Requests()[0].Content), &got))
		require.Equal(t, map[string]any{"text": want + "\nhttps://example.jp/a", "unfurl_links": true}, got)
	}
}
