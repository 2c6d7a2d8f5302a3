package slack_test

import (
	"testing"

	"bot/poster/postertest"
	"bot/poster/slack"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: slack.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"webhook": address + "/services/T0/B0/" + postertest.Secret}
		},
		Delivered: postertest.Answer{Status: 200, Body: "ok"},
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	postertest.Run(t, fixture())
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	t.Parallel()
	postertest.Golden(t, fixture(), "testdata/request.txt")
}
