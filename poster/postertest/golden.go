package postertest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Golden tests that the requests of one announcement are those in the file, to the
// byte. With UPDATE_GOLDEN set it writes the file instead.
func Golden(t *testing.T, f Fixture, path string) {
	t.Helper()
	s := Serve(t, f.Delivered)
	p := f.New(t, s.URL, s.Client())
	_, err := p.Post(t.Context(), message(t, p))
	require.NoError(t, err)
	var b strings.Builder
	for _, r := range s.Requests() {
		fmt.Fprintf(&b, "%s %s\n", r.Method, r.RequestURI)
		var lines []string
		for name, values := range r.Header {
			if name != "Accept-Encoding" && name != "Content-Length" {
				lines = append(lines, name+": "+strings.Join(values, ", "))
			}
		}
		slices.Sort(lines)
		fmt.Fprintf(&b, "%s\n\n%s\n", strings.Join(lines, "\n"), r.Content)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
