package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestTheExamplesOfThePageAreRight parses every example of docs/config.md. Those
// that name sources and destinations of others get them.
func TestTheExamplesOfThePageAreRight(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "config.md"))
	require.NoError(t, err)
	examples := yamlBlock.FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(examples), 8)
	e := env{"NEWS_WEBHOOK": "x", "MANGA_WEBHOOK": "y", "NEWS_WEBHOOK_2025": "z"}
	for _, example := range examples {
		text := example[1]
		if !strings.Contains(text, "sources:") {
			text += "sources: [{name: blog, site: https://blog.example}]\n"
		}
		_, err := parse(text, e)
		require.NoError(t, err, text)
	}
}

// TestThePageNamesEveryKey looks on the page for every key that is known.
func TestThePageNamesEveryKey(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "config.md"))
	require.NoError(t, err)
	const nonsense = "zzzzzzzzzzzzzzzz: 1"
	for _, text := range []string{
		nonsense, "state: {" + nonsense + "}", "sources: [{name: a, feed: b, " + nonsense + "}]",
		"rules: [{name: a, " + nonsense + "}]", "rules: [{name: a, match: {" + nonsense + "}}]", "rules: [{name: a, announce: {" + nonsense + "}}]",
		"destinations: [{name: a, " + nonsense + "}]",
	} {
		c, err := parse(text, nil)
		if len(c.Destinations) > 0 {
			err = c.Destinations[0].Settings.Decode(&struct{}{})
		}
		require.Error(t, err)
		_, list, found := strings.Cut(err.Error(), "known here: ")
		require.True(t, found, err)
		list, _, _ = strings.Cut(list, "\n")
		for key := range strings.SplitSeq(list, ", ") {
			require.Regexp(t, "`[{]?"+key+"[`:]", string(page), "%s is not on the page", key)
		}
	}
}
