package telegram_test

import (
	"testing"

	"bot/poster/postertest"
	"bot/poster/telegram"
)

func fixture() postertest.Fixture {
	return postertest.Fixture{
		Driver: telegram.Driver(),
		Settings: func(address string) postertest.Settings {
			return postertest.Settings{"server": address, "token": "123456:" + postertest.Secret, "chat": "@news"}
		},
		Delivered: postertest.Answer{Status: 200, Body: `{"ok":true,"result":{"message_id":5,"chat":{"username":"news"}}}`},
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
