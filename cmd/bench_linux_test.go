package cmd_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	ratios = flag.Bool("ratios", false, "measure the program against other ways to do its work (TestBench)")
	reps   = flag.Int("reps", 9, "how often TestBench measures each pair")
)

// TestBench measures the real program, built as for a release, against other ways
// to do the same work, and prints a table of ratios. It runs only with -ratios, as
// `make bench` does; -run TestBench/NAME measures one part.
//
// What is compared is measured in turns, in the opposite order every other time,
// and the ratio is the median over the pairs: a machine has its moods, and both
// sides of a pair see the same one.
//
// BENCH_DIR names a directory on the disk that is meant. A disk in memory makes
// syncs free, so that the rows about them are left out there.
func TestBench(t *testing.T) {
	if !*ratios {
		t.Skip("only with -ratios")
	}
	b := newBench(t)
	fmt.Print(b.about())
	t.Run("start", b.start)
	t.Run("enqueue", b.enqueue)
	t.Run("fold", b.fold)
	t.Run("claim", b.claim)
	t.Run("process", b.process)
	t.Run("poll", b.poll)
	t.Run("firestore", b.firestore)
	t.Run("growth", b.growth)
	fmt.Print(b.table(), "load: ", firstLine("/proc/loadavg"), "\n")
}

// bench is one run of TestBench.
type bench struct {
	// dir is on the disk that is measured.
	dir string
	// bot is the program, node is Node's; empty if there is none.
	bot, node string
	rows      []row
}

// row is a line of the table.
type row struct {
	work, against string
	// ours and theirs are the medians, readably.
	ours, theirs string
	// ratio is the median ratio, and half of all are between from and to.
	ratio, from, to float64
	gate, aim       float64
	// atLeast: more is better.
	atLeast bool
	// not says why there is nothing to show. Empty: there is.
	not string
}

func newBench(t *testing.T) *bench {
	dir, err := os.MkdirTemp(os.Getenv("BENCH_DIR"), "bot-bench")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	// A database server runs as somebody else, below here.
	require.NoError(t, os.Chmod(dir, 0o711))
	b := &bench{dir: dir, bot: filepath.Join(dir, "bot")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.bot, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	b.node, _ = exec.LookPath("node")
	return b
}

// inMemory reports whether the bench's disk is none.
func (b *bench) inMemory() bool {
	var st syscall.Statfs_t
	return syscall.Statfs(b.dir, &st) == nil && st.Type == 0x01021994
}

// about says on what the figures were taken.
func (b *bench) about() string {
	lines := []string{
		fmt.Sprintf("%s, %d cores, Linux %s", runtime.Version(), runtime.NumCPU(), firstLine("/proc/sys/kernel/osrelease")),
		"disk: " + b.disk(),
		"load: " + firstLine("/proc/loadavg") + " (others at work make rows with syncs in them useless)",
		"Node: " + cmp.Or(versionOf(b.node, "--version"), "none"),
		"PostgreSQL: " + cmp.Or(versionOf(findServer("postgres"), "--version"), "none"),
		fmt.Sprintf("%d pairs each, of claims %d", *reps, claimTurns**reps),
	}
	return strings.Join(lines, "\n") + "\n\n"
}

// disk names the file system of the bench's directory: the last mount that holds
// it.
func (b *bench) disk() string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "unknown"
	}
	best, kind := "", "unknown"
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) > 3 && len(f[1]) >= len(best) && strings.HasPrefix(b.dir+"/", strings.TrimSuffix(f[1], "/")+"/") {
			best, kind = f[1], fmt.Sprintf("%s on %s (%s)", f[2], f[0], f[3])
		}
	}
	return kind
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func versionOf(program string, args ...string) string {
	if program == "" {
		return ""
	}
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// inTurns calls each of the functions once for nothing and then n times, in the
// opposite order every other time, and returns what each of them returned.
func inTurns(n int, sides ...func() float64) [][]float64 {
	all := make([][]float64, len(sides))
	for rep := -1; rep < n; rep++ {
		for i := range sides {
			if rep%2 != 0 {
				i = len(sides) - 1 - i
			}
			figure := sides[i]()
			if rep >= 0 {
				all[i] = append(all[i], figure)
			}
		}
	}
	return all
}

// compare fills in the figures of a row: ours[i] and theirs[i] are a pair.
func (r row) compare(ours, theirs []float64, unit func(float64) string) row {
	quotients := make([]float64, len(ours))
	for i := range ours {
		quotients[i] = ours[i] / theirs[i]
	}
	slices.Sort(quotients)
	n := len(quotients)
	r.ratio, r.from, r.to = median(quotients), quotients[n/4], quotients[n-1-n/4]
	r.ours, r.theirs = unit(median(ours)), unit(median(theirs))
	return r
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.0f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func megabytes(bytes float64) string { return fmt.Sprintf("%.1f MB", bytes/1e6) }

func perSecond(n float64) string { return fmt.Sprintf("%.0f/s", n) }

// add adds a row and shows it at once, since the next may take a while.
func (b *bench) add(t *testing.T, r row) {
	b.rows = append(b.rows, r)
	t.Log(strings.Join(r.cells(), " | "))
}

var heading = []string{"work", "against", "this program", "the other", "ratio", "half of them", "gate", "aim"}

func (r row) cells() []string {
	if r.not != "" {
		return []string{r.work, r.against, "not measured: " + r.not, "", "", "", r.bound(r.gate), r.bound(r.aim)}
	}
	ratio := times(r.ratio)
	if r.gate != 0 && (r.atLeast && r.ratio < r.gate || !r.atLeast && r.ratio > r.gate) {
		ratio += " MISSED"
	}
	return []string{r.work, r.against, r.ours, r.theirs, ratio, times(r.from) + " to " + times(r.to), r.bound(r.gate), r.bound(r.aim)}
}

func times(ratio float64) string {
	if ratio < 0.1 {
		return fmt.Sprintf("%.3f×", ratio)
	}
	return fmt.Sprintf("%.2f×", ratio)
}

// bound writes a gate or an aim. Zero: there is none.
func (r row) bound(limit float64) string {
	sign := "≤ "
	if r.atLeast {
		sign = "≥ "
	}
	if limit == 0 {
		return "–"
	}
	return fmt.Sprintf("%s%g×", sign, limit)
}

// table returns all rows in Markdown.
func (b *bench) table() string {
	lines := [][]string{heading, slices.Repeat([]string{"---"}, len(heading))}
	for _, r := range b.rows {
		lines = append(lines, r.cells())
	}
	var text strings.Builder
	text.WriteString("\n")
	for _, cells := range lines {
		text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return text.String() + "\n"
}

// stopwatch returns how many seconds something takes.
func stopwatch(do func()) float64 {
	start := time.Now()
	do()
	return time.Since(start).Seconds()
}
