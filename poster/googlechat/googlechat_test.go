package googlechat_test

import (
	"testing"

	"bot/poster/googlechat"
	"bot/poster/postertest"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: googlechat.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"webhook": address + "/v1/spaces/S/messages?key=" + postertest.Secret + "&token=" + postertest.Secret}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"name":"spaces/S/messages/1.1"}`},
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
