package cmd_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchHelper makes this test binary one of TestBench's other processes: what is
// measured is measured in processes of its own.
var benchHelper = flag.String("bench-helper", "", "what TestBenchHelper does; it is for TestBench alone")

func TestBenchHelper(t *testing.T) {
	switch *benchHelper {
	case "":
		t.Skip("it is for TestBench alone")
	case "fold":
		helpFold(t)
	case "receive":
		helpReceive(t)
	case "post":
		helpPost(t)
	case "feeds":
		helpFeeds(t)
	case "get":
		helpGet(t)
	case "cloud-enqueue":
		helpCloudEnqueue(t)
	case "cloud-process":
		helpCloudProcess(t)
	default:
		t.Fatalf("there is no helper %q", *benchHelper)
	}
}

// helper returns the command of a helper.
func (b *bench) helper(t *testing.T, what string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return exec.Command(self, append([]string{"-test.run=^TestBenchHelper$", "-bench-helper=" + what}, args...)...)
}

// botIn returns a run of the program in a directory that holds its config.
func (b *bench) botIn(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	c := exec.Command(b.bot, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "FLEET_HOST="+host, "BOT_CONFIG=")
	return c
}

// timed runs a command, which has to exit 0, and returns how long that took and
// what it printed. What others wrote before is on the disk by then.
func timed(t *testing.T, c *exec.Cmd) (float64, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	syscall.Sync()
	var err error
	took := stopwatch(func() { err = c.Run() })
	require.NoError(t, err, "%v: %s%s", c.Args, stdout.Bytes(), stderr.Bytes())
	return took, stdout.String()
}

// lastLine returns the last line of what a command printed.
func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// peak runs a command, which has to exit 0, and returns the most memory that it
// had at once, in bytes.
//
// Linux counts as a process's own what its parent had when it was started
// (setmax_mm_hiwater_rss in exec_mmap), and this process is large. So a shell
// starts it, which is small, and goes away; the orphan comes to this process,
// which asks for that.
func peak(t *testing.T, c *exec.Cmd) float64 {
	t.Helper()
	const setChildSubreaper = 36 // prctl(2)
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	require.Zero(t, errno)
	shell := exec.Command("sh", slices.Concat([]string{"-c", `"$@" >/dev/null 2>&1 & echo $!`, "sh"}, c.Args)...)
	shell.Dir, shell.Env = c.Dir, c.Env
	out, err := shell.Output()
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		if _, err = syscall.Wait4(pid, &status, 0, &usage); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	require.NoError(t, err)
	require.Zero(t, status.ExitStatus(), "%v", c.Args)
	return float64(usage.Maxrss) * 1024
}

// service is a helper that runs until it is stopped.
type service struct {
	cmd   *exec.Cmd
	stdin io.Closer
	// said is the first line it printed.
	said string
}

// serve starts a helper that says something when it is ready and ends when its
// stdin does.
func serve(t *testing.T, c *exec.Cmd) *service {
	t.Helper()
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	s := &service{cmd: c, stdin: stdin}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	s.said = strings.TrimSpace(line)
	go io.Copy(io.Discard, lines)
	return s
}

func (s *service) stop() {
	s.stdin.Close()
	s.cmd.Wait()
}

// untilClosed says a line and returns when stdin ends.
func untilClosed(line string) {
	fmt.Println(line)
	io.Copy(io.Discard, os.Stdin)
}
