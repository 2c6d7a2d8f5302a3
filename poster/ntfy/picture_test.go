package ntfy_test

import (
	"testing"

	"bot/poster/postertest"
)

func TestThePictureGoesAlongIfAskedFor(t *testing.T) {
	t.Parallel()
	postertest.Golden(t, fixture().With("image", true), "testdata/picture.txt")
}
