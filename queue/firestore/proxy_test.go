package firestore_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"bot/poster"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// proxy stands between the store and the emulator. While it holds, what the store
// sends arrives, and nothing comes back.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	held  chan struct{} // closed: nothing is held
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{Listener: l, held: make(chan struct{})}
	close(p.held)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, client, server)
			p.mu.Unlock()
			go pass(server, client, func() {})
			go pass(client, server, p.wait)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	return p
}

// pass copies what comes from one side to the other, after waiting each time.
func pass(to io.WriteCloser, from io.Reader, wait func()) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		wait()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) wait() {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	<-held
}

// hold holds every answer back until the function it returns is called.
func (p *proxy) hold() (release func()) {
	held := make(chan struct{})
	p.mu.Lock()
	p.held = held
	p.mu.Unlock()
	return func() { close(held) }
}

// cut tears every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func proxied(t *testing.T) (*firestore.Store, *proxy, firestore.Options) {
	t.Helper()
	o := options(t)
	opened(t, o)
	plain := o
	p := newProxy(t, o.Emulator)
	o.Emulator = p.Addr().String()
	o.Patience = firestore.Patience{Call: time.Second, Claim: 15 * time.Second, Write: 15 * time.Second}
	return open(t, o), p, plain
}

func TestAClaimWhoseAnswersAreHeldBackIsStillOnesOwn(t *testing.T) {
	t.Parallel()
	s, p, o := proxied(t)
	e := storetest.Entry("a", 1)
	insert(t, s, e)
	release := p.hold()
	_, err := s.Get(t.Context(), e.ID)
	require.Error(t, err, "a read that is not answered ends")
	release()
	once := sync.OnceFunc(func() {
		// The claim is being made: it was read, and its write will not be answered.
		time.AfterFunc(3*time.Second, p.hold())
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
				p.cut()
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
