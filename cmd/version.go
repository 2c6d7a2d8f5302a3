package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the program's. Releases raise it together with the changelog.
const version = "0.1.0"

// userAgent names the program to servers.
const userAgent = "bot/" + version + " (announces new articles; one fetch per run)"

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			a.printf("bot %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return a.printJSON(struct {
				Command  string `json:"command"`
				Version  string `json:"version"`
				Revision string `json:"revision,omitempty"`
				Go       string `json:"go"`
				OS       string `json:"os"`
				Arch     string `json:"arch"`
			}{"version", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH})
		},
	}
}
