package platforms_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
)

// inTurn gives one answer after the other, the last for ever.
type inTurn struct {
	answers chan postertest.Answer
	last    postertest.Answer
}

func answersInTurn(first, then postertest.Answer) *inTurn {
	a := &inTurn{make(chan postertest.Answer, 1), then}
	a.answers <- first
	return a
}

func (a *inTurn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case first := <-a.answers:
		first.ServeHTTP(w, r)
	default:
		a.last.ServeHTTP(w, r)
	}
}

// TestAPictureThatIsNotTakenIsLeftOut: a platform that refuses an announcement for its
// picture, and so did not publish it, is sent it once more without.
func TestAPictureThatIsNotTakenIsLeftOut(t *testing.T) {
	t.Parallel()
	for platform, test := range map[string]struct {
		refusal, taken postertest.Answer
	}{
		"discord":     {postertest.Answer{Status: 400, Body: `{"message":"Invalid Form Body","code":50035,"errors":{"embeds":{}}}`}, postertest.Answer{Status: 200, Body: `{"id":"1"}`}},
		"slack":       {postertest.Answer{Status: 400, Body: "invalid_blocks"}, postertest.Answer{Status: 200, Body: "ok"}},
		"google-chat": {postertest.Answer{Status: 400, Body: `{"error":{"message":"Invalid JSON payload received. cards_v2[0].card","status":"INVALID_ARGUMENT"}}`}, postertest.Answer{Status: 200, Body: `{"name":"1"}`}},
		"ntfy":        {postertest.Answer{Status: 400, Body: `{"code":40013,"http":400,"error":"invalid request: attachment URL is invalid"}`}, postertest.Answer{Status: 200, Body: `{"id":"1"}`}},
		"telegram":    {postertest.Answer{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: wrong file identifier/HTTP URL specified"}`}, postertest.Answer{Status: 200, Body: `{"ok":true,"result":{"message_id":1}}`}},
	} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			post := func(h http.Handler, image string) ([]postertest.Received, error) {
				s := postertest.Serve(t, h)
				name, settings := destination(platform, s.URL)
				settings["image"] = true
				driver, _ := platforms.Find(name)
				p, err := driver.New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return now }})
				require.NoError(t, err)
				a := postertest.Article()
				a.Image, a.Summary = image, ""
				m, err := p.Render(postertest.Post(t, p, a))
				require.NoError(t, err)
				_, err = p.Post(t.Context(), m)
				return s.Requests(), err
			}
			const picture = "https://example.jp/picture.png"
			sent, err := post(answersInTurn(test.refusal, test.taken), picture)
			require.NoError(t, err)
			require.Len(t, sent, 2)
			require.Contains(t, sent[0].Content, picture)
			require.NotContains(t, sent[1].Content, picture)
			require.Contains(t, sent[1].Content, "https://example.jp/a?x=1&y=2", "the link stays")

			sent, err = post(answersInTurn(test.refusal, test.refusal), picture)
			require.Equal(t, poster.RejectedContent, poster.OutcomeOf(err), "%v", err)
			require.Len(t, sent, 2, "and no more than once")

			sent, err = post(answersInTurn(postertest.Answer{Status: 500}, test.taken), picture)
			require.Equal(t, poster.Unknown, poster.OutcomeOf(err), "%v", err)
			require.Len(t, sent, 1, "what may have been published is not sent again")

			for _, none := range []string{"", "not an address", "data:image/png;base64,AAAA", "/a.png", "ftp://example.jp/a.png"} {
				sent, err = post(test.taken, none)
				require.NoError(t, err)
				require.Len(t, sent, 1)
				for _, part := range []string{"attach", "photo", "blocks", "cardsV2", "embeds"} {
					require.False(t, strings.Contains(sent[0].Content, `"`+part+`"`), "%q: %s", none, sent[0].Content)
				}
			}
		})
	}
}
