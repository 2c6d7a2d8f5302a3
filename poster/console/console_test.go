package console_test

import (
	"testing"

	"bot/poster/console"
	"bot/poster/postertest"
)

func fixture(format string) postertest.Fixture {
	return postertest.Fixture{
		Driver:   console.Driver(),
		Settings: func(string) postertest.Settings { return postertest.Settings{"format": format} },
		Local:    true,
		Stdout:   new(postertest.Buffer),
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			postertest.Run(t, fixture(format))
		})
	}
}
