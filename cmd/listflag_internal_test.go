package cmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesBelongToTheListFlagBeforeThem(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"enqueue --url a b --to d e":               "enqueue --url a --url=b --to d --to=e",
		"enqueue --url=a b":                        "enqueue --url=a --url=b",
		"-c f enqueue -q --source a b":             "-c f enqueue -q --source a --source=b",
		"enqueue --url a -qc f b":                  "enqueue --url a -qc f b",
		"enqueue --url a -cf b":                    "enqueue --url a -cf b",
		"enqueue --url a --title t b":              "enqueue --url a --title t b",
		"enqueue --url a --dry-run b":              "enqueue --url a --dry-run b",
		"enqueue --url a -- b":                     "enqueue --url a -- b",
		"enqueue --url - b":                        "enqueue --url - --url=b",
		"enqueue --url":                            "enqueue --url",
		"enqueue --unknown a b":                    "enqueue --unknown a b",
		"queue list --status queued held --to d e": "queue list --status queued --status=held --to d --to=e",
		"posted add --to d http://a.example/1":     "posted add --to d http://a.example/1",
		"queue cancel --to d id":                   "queue cancel --to d id",
		"nothing --url a b":                        "nothing --url a b",
		"":                                         "",
	} {
		got := spread(newRootCmd(newApp(Env{})), strings.Fields(given))
		require.Equal(t, strings.Fields(want), got, given)
	}
}
