package webhook_test

import (
	"testing"

	"bot/poster/postertest"
	"bot/poster/webhook"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: webhook.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{
				"webhook": address + "/hook/" + postertest.Secret + "?key=" + postertest.Secret,
				"headers": map[string]string{"Authorization": "Bearer " + postertest.Secret},
			}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"id":"1"}`},
		AnyAnswer: true,
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	postertest.Run(t, fixture())
}
