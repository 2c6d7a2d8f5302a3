package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGone(t *testing.T) {
	t.Parallel()
	if processStart(os.Getpid()) == "" {
		t.Skip("this system does not tell when a process began")
	}
	env := Env{Hostname: func() (string, error) { return "owner-host", nil }}
	own := worker(env)
	began := strings.Split(processStart(os.Getpid()), "-")
	require.Len(t, began, 3)
	ended := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, ended.Run())
	as := func(host string, pid int, boot, namespace, start string) string {
		return fmt.Sprintf("%s:%d:%s-%s-%s", host, pid, boot, namespace, start)
	}
	for name, c := range map[string]struct {
		worker string
		want   bool
	}{
		"this process is there":                       {own, false},
		"a process that ended is gone":                {as("owner-host", ended.Process.Pid, began[0], began[1], "1"), true},
		"its ID, taken by a later one, is gone":       {as("owner-host", os.Getpid(), began[0], began[1], "1"), true},
		"a process from before the boot is gone":      {as("owner-host", os.Getpid(), "00000000", began[1], began[2]), true},
		"of another machine nothing is known":         {as("other-host", ended.Process.Pid, began[0], began[1], "1"), false},
		"of another container nothing is known":       {as("owner-host", ended.Process.Pid, began[0], "1", "1"), false},
		"where no start is told, nothing is known":    {"owner-host:1:", false},
		"of a name in another shape nothing is known": {"owner-host", false},
		"of no process ID nothing is known":           {as("owner-host", 0, began[0], began[1], "1"), false},
		"of no name nothing is known":                 {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, gone(env)(c.worker))
		})
	}
}
