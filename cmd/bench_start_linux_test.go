package cmd_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue/jsonstore"

	"github.com/stretchr/testify/require"
)

// startTurns is how many turns of start there are for every repetition: each takes
// milliseconds.
const startTurns = 5

// start measures runs that find nothing to do, as most runs of a schedule are, over
// a ledger of a million records against an empty one. The large one was written to
// before, so that it has the marks by which a ledger is known again.
func (b *bench) start(t *testing.T) {
	full := b.history(t, 1_000_000)
	defer os.RemoveAll(full)
	b.finishEntries(t, filepath.Join(full, "state"), 1000, filepath.Join(full, "done.json"))
	timed(t, b.helper(t, "fold", filepath.Join(full, "state")))
	empty := b.emptyLedger(t)
	defer os.RemoveAll(empty)
	nothing := filepath.Join(b.dir, "nothing.txt")
	require.NoError(t, os.WriteFile(nothing, nil, 0o600))
	b.startOf(t, "enqueue of an empty list", "matched=0 queued=0 already=0 skipped=0 held=0 refused=0", full, empty, "enqueue", "--from", nothing)
	b.startOf(t, "process with nothing due", "due=0 posted=0 shadow=0 later=0 failed=0 uncertain=0", full, empty, "process")
}

func (b *bench) startOf(t *testing.T, what, want, full, empty string, args ...string) {
	t.Helper()
	what += ", 1,000,000 records"
	over := func(dir string) func() float64 {
		return func() float64 {
			took, said := timed(t, b.botIn(t, dir, args...))
			require.Equal(t, want, lastLine(said))
			return took
		}
	}
	figures := inTurns(startTurns**reps, over(full), over(empty))
	b.add(t, row{work: what, against: "an empty ledger", gate: 1.2, aim: 1}.compare(figures[0], figures[1], seconds))
	peakOver := func(dir string) func() float64 {
		return func() float64 { return peak(t, b.botIn(t, dir, args...)) }
	}
	figures = inTurns(3, peakOver(full), peakOver(empty))
	b.add(t, row{work: what + ", peak memory", against: "an empty ledger", gate: 1.2, aim: 1}.compare(figures[0], figures[1], megabytes))
}

// emptyLedger is what `bot init` leaves, with the bench's config.
func (b *bench) emptyLedger(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(b.dir, "empty")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.yaml"), []byte(benchConfig), 0o600))
	_, err = jsonstore.Init(filepath.Join(dir, "state"), time.Now())
	require.NoError(t, err)
	return dir
}
