package discord_test

import (
	"testing"

	"bot/poster"
	"bot/poster/discord"
	"bot/poster/postertest"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: discord.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"webhook": address + "/api/webhooks/1/" + postertest.Secret + "?thread_id=7"}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"id":"1234","channel_id":"5"}`},
		Statuses:  map[int]poster.Outcome{204: poster.Delivered},
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
