package cmd_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryTestThatTheGuaranteesNameIsThere(t *testing.T) {
	t.Parallel()
	files := projectFiles(t)
	declared := map[string]bool{}
	for name, text := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(text, -1) {
			declared[string(m[1])] = true
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(files["docs/guarantees.md"], -1)
	require.Greater(t, len(named), 20)
	for _, m := range named {
		require.True(t, declared[string(m[1])], "%s is named and not there", m[1])
	}
}
