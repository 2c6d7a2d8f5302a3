package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

// growthReps is how often each size is measured: less often than a pair, since what
// is looked at are powers of ten.
const growthReps = 5

// growth measures how the main works grow with their size, and writes growth.csv
// and the plot of it.
func (b *bench) growth(t *testing.T) {
	var all []growthPoint
	all = append(all, b.growthOf(t, "enqueue of 1,000", "records", []int{1000, 10_000, 100_000, 1_000_000}, b.enqueueSized)...)
	all = append(all, b.growthOf(t, "fold of 1,000", "records", []int{1000, 10_000, 100_000, 1_000_000}, b.foldSized)...)
	receiver := serve(t, b.helper(t, "receive", filepath.Join(b.dir, "grown.jsonl")))
	defer receiver.stop()
	all = append(all, b.growthOf(t, "process", "due entries", []int{10, 100, 1000, 10_000}, func(t *testing.T, n int) sized {
		return b.processSized(t, receiver.said, n)
	})...)
	feeds := serve(t, b.helper(t, "feeds"))
	defer feeds.stop()
	all = append(all, b.growthOf(t, "poll", "sources", []int{10, 100, 1000}, func(t *testing.T, n int) sized {
		return b.pollSized(t, feeds.said, n)
	})...)
	require.NoError(t, os.WriteFile(growthData, growthCSV(all), 0o644))
	require.NoError(t, os.WriteFile(growthPlot, drawGrowth(readGrowth(t)), 0o644))
}

// sized is one work of one size.
type sized struct {
	// master is the directory of a fleet, of which every run has a copy.
	master string
	// run is a run of the work in such a copy, and want a part of what it says.
	run  func(dir string) *exec.Cmd
	want string
}

// growthOf measures a work in several sizes, and adds a row for the largest against
// the smallest.
func (b *bench) growthOf(t *testing.T, work, unit string, sizes []int, prepare func(*testing.T, int) sized) []growthPoint {
	t.Helper()
	var points []growthPoint
	times, peaks := make([][]float64, len(sizes)), make([][]float64, len(sizes))
	for i, size := range sizes {
		s := prepare(t, size)
		for rep := -1; rep < growthReps; rep++ {
			dir := b.copyLedger(t, s.master)
			took, said := timed(t, s.run(dir))
			require.Contains(t, said, s.want)
			os.RemoveAll(dir)
			if rep >= 0 {
				times[i] = append(times[i], took)
			}
		}
		for range 3 {
			dir := b.copyLedger(t, s.master)
			peaks[i] = append(peaks[i], peak(t, s.run(dir)))
			os.RemoveAll(dir)
		}
		os.RemoveAll(s.master)
		points = append(points, growthPoint{work, unit, size, median(times[i]), median(peaks[i])})
	}
	last := len(sizes) - 1
	of := func(size int) string { return fmt.Sprintf("%s %s", grouped(size), unit) }
	r := row{work: work + ", " + of(sizes[last]), against: of(sizes[0])}
	b.add(t, r.compare(times[last], times[0], seconds))
	r.work += ", peak memory"
	b.add(t, r.compare(peaks[last], peaks[0], megabytes))
	return points
}

func (b *bench) enqueueSized(t *testing.T, records int) sized {
	return sized{
		master: b.history(t, records),
		run:    func(dir string) *exec.Cmd { return b.botIn(t, dir, "enqueue", "--from", "urls.txt") },
		want:   "matched=1000 queued=300 already=700",
	}
}

// foldSized copies the ledger before it is closed, since a small one is folded then.
func (b *bench) foldSized(t *testing.T, records int) sized {
	dir := b.history(t, records)
	defer os.RemoveAll(dir)
	s, err := jsonstore.Open(t.Context(), jsonstore.Options{Dir: filepath.Join(dir, "state"), Now: time.Now})
	require.NoError(t, err)
	finish(t, s, 1000)
	master := b.copyLedger(t, dir)
	require.NoError(t, s.Close())
	return sized{
		master: master,
		run:    func(dir string) *exec.Cmd { return b.helper(t, "fold", filepath.Join(dir, "state")) },
	}
}

func (b *bench) processSized(t *testing.T, address string, entries int) sized {
	master, err := os.MkdirTemp(b.dir, "grown")
	require.NoError(t, err)
	b.prepareSends(t, master, address, entries)
	return sized{
		master: master,
		run:    func(dir string) *exec.Cmd { return b.botIn(t, dir, "process") },
		want:   fmt.Sprintf("due=%d posted=%d", entries, entries),
	}
}

// pollSized is a poll of feeds that have an article more than at first.
func (b *bench) pollSized(t *testing.T, address string, sources int) sized {
	require.Equal(t, "ok", get(t, address+"/set?changed=false"))
	master := b.pollDir(t, address, sources)
	timed(t, b.botIn(t, master, "enqueue"))
	require.Equal(t, "ok", get(t, address+"/set?changed=true"))
	return sized{
		master: master,
		run:    func(dir string) *exec.Cmd { return b.botIn(t, dir, "enqueue") },
		want:   fmt.Sprintf("queued=%d already=%d", sources, sources*pollArticles),
	}
}
