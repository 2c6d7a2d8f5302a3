package firestore_test

import (
	"sync"
	"testing"
	"time"

	"bot/poster"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/firestoretest"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

func proxied(t *testing.T) (*firestore.Store, *firestoretest.Proxy, firestore.Options) {
	t.Helper()
	o := options(t)
	opened(t, o)
	plain := o
	p := firestoretest.NewProxy(t, o.Emulator)
	o.Emulator = p.Host
	o.Patience = firestore.Patience{Call: time.Second, Claim: 15 * time.Second, Write: 15 * time.Second}
	return open(t, o), p, plain
}

func TestAClaimWhoseAnswersAreHeldBackIsStillOnesOwn(t *testing.T) {
	t.Parallel()
	s, p, o := proxied(t)
	e := storetest.Entry("a", 1)
	insert(t, s, e)
	release := p.Hold()
	_, err := s.Get(t.Context(), e.ID)
	require.Error(t, err, "a read that is not answered ends")
	release()
	once := sync.OnceFunc(func() {
		// The claim is being made: it was read, and its write will not be answered.
		time.AfterFunc(3*time.Second, p.Hold())
	})
	got, err := s.Update(t.Context(), e.ID, func(e queue.Entry) (queue.Entry, error) {
		once()
		now := storetest.Now().Add(time.Hour)
		c := queue.Claim{Token: "token", By: "worker", At: now, LeaseUntil: now.Add(5 * time.Minute)}
		return queue.TakeClaim(e, now, false, 0, c, poster.Message{ID: e.ID, Text: "text"})
	})
	require.NoError(t, err)
	require.Equal(t, queue.Sending, got.Status)
	there, err := open(t, o).Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, got, there)
}

func TestWhileConnectionsAreTornEveryEntryIsClaimedOnce(t *testing.T) {
	t.Parallel()
	s, p, o := proxied(t)
	const entries = 40
	var all []queue.Entry
	for n := range entries {
		all = append(all, storetest.Entry("a", n))
	}
	insert(t, s, all...)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(70 * time.Millisecond):
				p.Cut()
			}
		}
	})
	for _, e := range all {
		// Reads may fail; a claim that is made is made once.
		require.Eventually(t, func() bool {
			_, err := claim(t.Context(), s, e.ID, "worker")
			return err == nil
		}, 20*time.Second, 10*time.Millisecond)
	}
	close(done)
	wg.Wait()
	for e, err := range open(t, o).All(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, queue.Sending, e.Status)
		require.Equal(t, 1, e.Attempts)
	}
}
