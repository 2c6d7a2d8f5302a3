package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/postertest"
	"bot/poster/webhook"

	"github.com/stretchr/testify/require"
)

func TestTheReceiverMayHaveItsOwnWayToSayThatItHasIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings postertest.Settings
		status   int
		body     string
		want     poster.Outcome
	}{
		"any 2xx as a rule":                   {nil, 299, "", poster.Delivered},
		"the status that is named":            {postertest.Settings{"success_status": []int{202, 204}}, 204, "", poster.Delivered},
		"another one may come from a proxy":   {postertest.Settings{"success_status": []int{202, 204}}, 200, "<html>login", poster.Unknown},
		"the text that is named":              {postertest.Settings{"success_contains": `"errcode":0`}, 200, `{"errcode":0,"errmsg":"ok"}`, poster.Delivered},
		"an error in a 200":                   {postertest.Settings{"success_contains": `"errcode":0`}, 200, `{"errcode":93000}`, poster.Unknown},
		"it says that it had it":              {postertest.Settings{"duplicate_status": []int{409}}, 409, "", poster.Delivered},
		"it says so, and no rule does":        {nil, 409, "", poster.Unknown},
		"a rejection is one whatever it says": {postertest.Settings{"success_contains": "no"}, 404, "no", poster.RejectedDestination},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := postertest.Serve(t, postertest.Answer{Status: test.status, Body: test.body})
			settings := postertest.Settings{"webhook": s.URL}
			for key, value := range test.settings {
				settings[key] = value
			}
			p, err := webhook.Driver().New(settings, poster.Options{HTTP: &http.Client{}, Now: func() time.Time { return postertest.Now }})
			require.NoError(t, err)
			_, err = p.Post(t.Context(), poster.Message{ID: "id", Body: []byte("{}")})
			require.Equal(t, test.want, poster.OutcomeOf(err), "%v", err)
		})
	}
	for wrong, settings := range map[string]postertest.Settings{
		"success_status: 404 is no success":      {"success_status": []int{404}},
		"success_status: 99 is no status":        {"success_status": []int{99}},
		"success_status is empty":                {"success_status": []int{}},
		"duplicate_status: 500 is no status":     {"duplicate_status": []int{500}},
		"duplicate_status: 200 is no status for": {"duplicate_status": []int{200}},
	} {
		settings["webhook"] = "https://hook.example"
		_, err := webhook.Driver().New(settings, poster.Options{Now: time.Now})
		require.ErrorContains(t, err, wrong)
	}
}
