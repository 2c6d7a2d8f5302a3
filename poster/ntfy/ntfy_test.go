package ntfy_test

import (
	"testing"

	"bot/poster/ntfy"
	"bot/poster/postertest"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: ntfy.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"server": address, "topic": postertest.Secret, "token": "tk_" + postertest.Secret, "tags": []string{"loudspeaker"}, "priority": "high"}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"id":"3y9Pkjn5Yz7M","time":1796080093,"event":"message"}`},
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
