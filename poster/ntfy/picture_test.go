package ntfy_test

import (
	"testing"

	"bot/poster/postertest"
)

func TestThePictureGoesAlongIfAskedFor(t *testing.T) {
	t.Parallel()
	f := fixture()
	settings := f.Settings
	f.Settings = func(address string) postertest.Settings {
		s := settings(address)
		s["image"] = true
		return s
	}
	postertest.Golden(t, f, "testdata/picture.txt")
}
