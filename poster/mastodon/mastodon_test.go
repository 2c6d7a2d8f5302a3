package mastodon_test

import (
	"testing"

	"bot/poster/mastodon"
	"bot/poster/postertest"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: mastodon.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"server": address, "token": postertest.Secret, "language": "ja"}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"id":"1","url":"https://example.jp/@bot/1"}`},
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
