package jsonstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// The tests with real processes run this program again, as one of these.
const (
	roleVar = "JSONSTORE_TEST_ROLE"
	claimer = "claimer"
	writer  = "writer"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVar) {
	case claimer:
		err = claimAll(os.Args[1])
	case writer:
		err = writeForEver(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts this program in a role.
func child(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), roleVar+"="+role)
	c.Stderr = os.Stderr
	return c
}

// claimAll claims and settles all it can, when its input ends, and prints the ID
// of every entry it had the right to send.
func claimAll(dir string) error {
	ctx := context.Background()
	s, err := jsonstore.Open(ctx, jsonstore.Options{Dir: dir, Now: now, LockTimeout: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	for e, err := range s.Due(ctx, now().Add(time.Hour)) {
		if err != nil {
			return err
		}
		_, err = s.Update(ctx, e.ID, claimNow)
		if errors.Is(err, queue.ErrNotDue) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(e.ID)
		if _, err := s.Update(ctx, e.ID, settleNow); err != nil {
			return err
		}
	}
	return s.Close()
}

func TestSixteenProcessesRace(t *testing.T) {
	t.Parallel()
	for _, entries := range []int{1, 400} {
		t.Run(fmt.Sprint(entries, " entries"), func(t *testing.T) {
			t.Parallel()
			var waiting []queue.Entry
			for n := range entries {
				waiting = append(waiting, storetest.Entry("a", n))
			}
			dir := copied(t, ledgerWith(t, waiting...))
			var mu sync.Mutex
			sent := map[string]int{}
			var start, end sync.WaitGroup
			var inputs []io.Closer
			for range 16 {
				c := child(t, claimer, dir)
				in, err := c.StdinPipe()
				require.NoError(t, err)
				out, err := c.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, c.Start())
				inputs = append(inputs, in)
				start.Add(1)
				end.Go(func() {
					lines := bufio.NewScanner(out)
					lines.Scan()
					start.Done()
					for lines.Scan() {
						mu.Lock()
						sent[lines.Text()]++
						mu.Unlock()
					}
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
				})
			}
			start.Wait()
			for _, in := range inputs {
				require.NoError(t, in.Close())
			}
			end.Wait()
			require.Len(t, sent, entries)
			for id, n := range sent {
				require.Equal(t, 1, n, id)
			}
			files := contents(t, dir)
			require.Equal(t, "[]\n", files["queue.json"])
			require.Equal(t, entries, strings.Count(files["posted.json"], `"status":"posted"`))
		})
	}
}

// writeForEver does all that can be done to a ledger, and says each time what it
// has done.
func writeForEver(dir, round string) error {
	ctx := context.Background()
	for n := 0; ; n++ {
		s, err := jsonstore.Open(ctx, jsonstore.Options{Dir: dir, Now: now})
		if err != nil {
			return err
		}
		for m := range 3 {
			e := storetest.Entry("round "+round, 3*n+m)
			if _, err := s.Insert(ctx, []queue.Candidate{{Entry: &e}}); err != nil {
				return err
			}
			fmt.Println(e.ID, queue.Queued)
			if _, err := s.Update(ctx, e.ID, claimNow); err != nil {
				return err
			}
			fmt.Println(e.ID, queue.Sending)
			if _, err := s.Update(ctx, e.ID, settleNow); err != nil {
				return err
			}
			fmt.Println(e.ID, queue.Posted)
		}
		if n%2 == 0 {
			err = s.Fold(ctx)
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			return err
		}
	}
}

func TestAKilledWriterLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir := copied(t, ledgerWith(t))
	acked := map[string]queue.Status{}
	for round := range 30 {
		c := child(t, writer, dir, strconv.Itoa(round))
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		until := 1 + rand.IntN(60)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			id, status, _ := strings.Cut(lines.Text(), " ")
			acked[id] = queue.Status(status)
			if n == until {
				require.NoError(t, c.Process.Kill())
			}
		}
		require.Error(t, c.Wait(), "it was killed")

		reader, err := jsonstore.OpenReadOnly(t.Context(), dir)
		require.NoError(t, err)
		got := map[string]queue.Status{}
		for _, e := range all(t, reader) {
			require.NotContains(t, got, e.ID, "an entry stands twice")
			got[e.ID] = e.Status
		}
		require.NoError(t, reader.Close())
		order := map[queue.Status]int{queue.Queued: 1, queue.Sending: 2, queue.Posted: 3}
		for id, status := range acked {
			require.GreaterOrEqual(t, order[got[id]], order[status], "%s was %s", id, status)
		}
		require.LessOrEqual(t, len(got), len(acked)+round+1, "at most one a round was not acknowledged")
	}
}
