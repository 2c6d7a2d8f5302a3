package matrix_test

import (
	"testing"

	"bot/poster/matrix"
	"bot/poster/postertest"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: matrix.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"server": address, "room": "!room:example.jp", "token": postertest.Secret}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"event_id":"$1"}`},
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
