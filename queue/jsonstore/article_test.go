package jsonstore

import (
	"strings"
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestEverySpellingOfAGUIDMayBeWanted(t *testing.T) {
	t.Parallel()
	for size := range 24 {
		rest := strings.Repeat("x.Y/z?P=1", 3)[:size]
		for _, spellings := range [][]string{
			{"http://" + rest, "https://" + rest, "HTTP://" + rest, " https://" + rest + "\t"},
			{"tag:" + rest, "tag:" + rest + "\n"},
			{rest + "1"},
		} {
			for _, want := range spellings {
				m := newGUIDMatcher(1)
				m.add(dedupe.Origin{Webhook: "wh_", Source: "s", GUID: dedupe.GUID(want)})
				for _, have := range spellings {
					require.True(t, m.mayWant([]byte(have)), "%q as %q", want, have)
					require.False(t, m.mayWant([]byte(have+"0")), "%q is not %q", want, have+"0")
				}
				require.False(t, m.mayWant(nil))
			}
		}
	}
}
