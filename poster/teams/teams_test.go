package teams_test

import (
	"testing"

	"bot/poster/postertest"
	"bot/poster/teams"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: teams.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"webhook": address + "/powerautomate/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=" + postertest.Secret}
		},
		Delivered: postertest.Answer{Status: 202},
		AnyAnswer: true,
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
