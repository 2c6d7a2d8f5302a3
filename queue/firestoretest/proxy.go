package firestoretest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy stands between a client and the emulator. While it holds, what the client
// sends arrives, and nothing comes back.
type Proxy struct {
	// Host is its address, as FIRESTORE_EMULATOR_HOST has it.
	Host string

	mu    sync.Mutex
	held  chan struct{} // closed: nothing is held
	conns []net.Conn
}

// NewProxy starts a proxy to an address, which ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Host: l.Addr().String(), held: make(chan struct{})}
	close(p.held)
	go p.serve(l, to)
	t.Cleanup(func() {
		l.Close()
		p.Cut()
	})
	return p
}

func (p *Proxy) serve(l net.Listener, to string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
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

func (p *Proxy) wait() {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	<-held
}

// Hold holds every answer back until the function it returns is called.
func (p *Proxy) Hold() (release func()) {
	held := make(chan struct{})
	p.mu.Lock()
	p.held = held
	p.mu.Unlock()
	return func() { close(held) }
}

// Cut tears every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
