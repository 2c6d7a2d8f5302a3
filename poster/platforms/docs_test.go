package platforms_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bot/poster/platforms"

	"github.com/stretchr/testify/require"
)

// TestEveryPlatformHasAPageAndARowOfGuarantees keeps the documents complete.
func TestEveryPlatformHasAPageAndARowOfGuarantees(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs")
	guarantees, err := os.ReadFile(filepath.Join(docs, "guarantees.md"))
	require.NoError(t, err)
	config, err := os.ReadFile(filepath.Join(docs, "config.md"))
	require.NoError(t, err)
	for _, name := range platforms.Names() {
		page, err := os.ReadFile(filepath.Join(docs, "platforms", name+".md"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(page), "# "+name+"\n"), name)
		for _, heading := range []string{"## Set-up", "## Settings", "## After an unknown outcome"} {
			if name != "console" {
				require.Contains(t, string(page), heading, name)
			}
		}
		require.Contains(t, string(guarantees), "["+name+"](platforms/"+name+".md)")
		require.Contains(t, string(config), "`"+name+"`")
	}
}
