package firestore_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bot/poster"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/firestoretest"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faults does something to commits on their way.
type faults struct {
	mu sync.Mutex
	// commit is called in place of the next commits. Nil: nothing happens to them.
	commit func(ctx context.Context, send func(context.Context) error) error
	// times is how often yet.
	times   int
	commits atomic.Int32
}

func (f *faults) next(times int, commit func(ctx context.Context, send func(context.Context) error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times, f.commit = times, commit
}

func (f *faults) dial() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		send := func(ctx context.Context) error { return invoke(ctx, method, req, reply, cc, opts...) }
		if !strings.HasSuffix(method, "/Commit") {
			return send(ctx)
		}
		f.commits.Add(1)
		f.mu.Lock()
		commit := f.commit
		if f.times--; f.times < 0 {
			commit = nil
		}
		f.mu.Unlock()
		if commit == nil {
			return send(ctx)
		}
		return commit(ctx, send)
	})
}

// lostAnswer lets the write through and loses the answer.
func lostAnswer(code codes.Code) func(context.Context, func(context.Context) error) error {
	return func(ctx context.Context, send func(context.Context) error) error {
		if err := send(ctx); err != nil {
			return err
		}
		return status.Error(code, "the answer was lost")
	}
}

// lostRequest loses the write itself.
func lostRequest(context.Context, func(context.Context) error) error {
	return status.Error(codes.Unavailable, "the request was lost")
}

func claim(ctx context.Context, s queue.Store, id, by string) (queue.Entry, error) {
	now := storetest.Now().Add(time.Hour)
	return s.Update(ctx, id, func(e queue.Entry) (queue.Entry, error) {
		c := queue.Claim{Token: "token of " + by, By: by, At: now, LeaseUntil: now.Add(5 * time.Minute)}
		return queue.TakeClaim(e, now, false, 0, c, poster.Message{ID: e.ID, Text: "text"})
	})
}

func settle(ctx context.Context, s queue.Store, id, by string) (queue.Entry, error) {
	return s.Update(ctx, id, func(e queue.Entry) (queue.Entry, error) {
		return queue.Settle(e, storetest.Now().Add(time.Hour), "token of "+by, queue.Attempt{})
	})
}

func faulty(t *testing.T) (*firestore.Store, *faults, firestore.Options) {
	t.Helper()
	o := options(t)
	opened(t, o)
	plain := o
	f := &faults{}
	o.Dial = []grpc.DialOption{f.dial()}
	o.Patience = firestore.Patience{Call: 3 * time.Second, Claim: 12 * time.Second, Write: 30 * time.Second}
	return open(t, o), f, plain
}

func TestLostAnswersAreFoundToHaveBeenWrites(t *testing.T) {
	t.Parallel()
	// Unavailable is repeated by the client itself, and then its own write is in the
	// way; the others come to us.
	for _, code := range []codes.Code{codes.Unavailable, codes.Internal, codes.DeadlineExceeded, codes.Aborted, codes.Unknown} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			s, f, _ := faulty(t)
			e := storetest.Entry("a", 1)
			f.next(1, lostAnswer(code))
			insert(t, s, e)
			f.next(1, lostAnswer(code))
			got, err := claim(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			require.Equal(t, queue.Sending, got.Status)
			f.next(1, lostAnswer(code))
			got, err = settle(t.Context(), s, e.ID, "worker")
			require.NoError(t, err)
			require.Equal(t, queue.Posted, got.Status)
			require.Equal(t, 1, got.Attempts)
			f.next(1, lostAnswer(code))
			require.NoError(t, s.UpdateBook(t.Context(), "a/b", func(old jsonRaw) (jsonRaw, error) { return append(old, '1'), nil }))
			f.next(1, lostAnswer(code))
			require.NoError(t, s.UpdateBook(t.Context(), "a/b", func(old jsonRaw) (jsonRaw, error) { return append(old, '1'), nil }))
			book, err := s.Book(t.Context(), "a/b")
			require.NoError(t, err)
			require.Equal(t, "11", string(book), "each is counted once")
			f.next(0, nil)
			require.NoError(t, s.Delete(t.Context(), e.ID))
		})
	}
}

type jsonRaw = json.RawMessage

func TestALostRequestIsMadeAgain(t *testing.T) {
	t.Parallel()
	s, f, _ := faulty(t)
	e := storetest.Entry("a", 1)
	f.next(3, func(context.Context, func(context.Context) error) error { return status.Error(codes.Internal, "lost") })
	insert(t, s, e)
	f.next(3, func(context.Context, func(context.Context) error) error { return status.Error(codes.Internal, "lost") })
	_, err := claim(t.Context(), s, e.ID, "worker")
	require.NoError(t, err)
}

func TestAClaimThatIsNotDecidedInTimeIsNoClaim(t *testing.T) {
	t.Parallel()
	s, f, o := faulty(t)
	e := storetest.Entry("a", 1)
	insert(t, s, e)
	f.next(1_000, lostRequest)
	_, err := claim(t.Context(), s, e.ID, "worker")
	require.ErrorIs(t, err, firestore.ErrUndecided)
	got, err := open(t, o).Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, queue.Queued, got.Status)
}

func TestAWriteThatLandsLateIsStillOnesOwn(t *testing.T) {
	t.Parallel()
	s, f, o := faulty(t)
	e := storetest.Entry("a", 1)
	insert(t, s, e)
	landed := make(chan error, 1)
	f.next(1, func(ctx context.Context, send func(context.Context) error) error {
		// The caller gives up and reads "queued"; then the write lands.
		go func() {
			time.Sleep(20 * time.Millisecond)
			landed <- send(context.WithoutCancel(ctx))
		}()
		return status.Error(codes.DeadlineExceeded, "no answer")
	})
	_, err := claim(t.Context(), s, e.ID, "worker")
	require.NoError(t, err)
	<-landed
	got, err := open(t, o).Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, "worker", got.Claim.By)
	require.Equal(t, 1, got.Attempts)
}

func TestSixteenWorkersClaimOnceWhereAnswersAreLost(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o)
	e := storetest.Entry("a", 1)
	insert(t, open(t, o), e)
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for n := range 16 {
		o := o
		f := &faults{}
		f.next(1, lostAnswer(codes.Internal))
		o.Dial = []grpc.DialOption{f.dial()}
		s := open(t, o)
		wg.Go(func() {
			switch _, err := claim(t.Context(), s, e.ID, string(rune('a'+n))); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, queue.ErrNotDue):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, won.Load())
	require.EqualValues(t, 15, lost.Load())
}

func TestAnEmulatorThatDiesAndComesBackEmptyIsNoLedger(t *testing.T) {
	t.Parallel()
	e := firestoretest.Start(t)
	o := options(t)
	o.Emulator = e.Host
	opened(t, o)
	entry := storetest.Entry("a", 1)
	insert(t, open(t, o), entry)
	o.Patience = firestore.Patience{Call: 5 * time.Second, Claim: 6 * time.Second, Write: 6 * time.Second}
	s := open(t, o)
	e.Kill()
	_, err := claim(t.Context(), s, entry.ID, "worker")
	require.ErrorContains(t, err, "Firestore cannot be reached")
	e.Restart(t)
	require.Eventually(t, func() bool {
		_, err := claim(t.Context(), s, entry.ID, "worker")
		return errors.Is(err, queue.ErrNotFound)
	}, 30*time.Second, 100*time.Millisecond, "what is gone is not claimed")
	_, err = firestore.Open(t.Context(), o)
	require.ErrorIs(t, err, queue.ErrNoLedger, "a ledger that is not there is not an empty one")
}

func TestAnInterruptedClaimIsBroughtToItsEnd(t *testing.T) {
	t.Parallel()
	s, f, o := faulty(t)
	e := storetest.Entry("a", 1)
	insert(t, s, e)
	ctx, cancel := context.WithCancel(t.Context())
	f.next(1, func(ctx context.Context, send func(context.Context) error) error {
		cancel()
		return send(ctx)
	})
	got, err := claim(ctx, s, e.ID, "worker")
	require.NoError(t, err)
	require.Equal(t, queue.Sending, got.Status)
	there, err := open(t, o).Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, got, there)
}
