package platforms_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bot/poster"
	"bot/poster/platforms"
	"bot/poster/postertest"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// scene is a network on loopback in which one attempt is made.
type scene struct {
	// server is the address that the destination is configured with.
	server string
	// transport is the client's. Nil: Go's own.
	transport *http.Transport
	// timeout is the client's. Zero: none but the program's own.
	timeout time.Duration
	// text is what is said. Empty: a word.
	text string
	// received counts the requests that the server read. Nil: none may be.
	received *atomic.Int64
	// cancel, when it is closed, ends the run. Nil: never.
	cancel <-chan struct{}
}

// scenes make the rows of testdata/outcomes.jsonl that are not answers happen, each
// with real sockets.
func scenes() map[string]func(*testing.T) scene {
	return map[string]func(*testing.T) scene{
		"dns_failure": func(t *testing.T) scene {
			resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "udp", nameServer(t))
			}}
			return scene{server: "http://nowhere.invalid.", transport: &http.Transport{DialContext: (&net.Dialer{Resolver: resolver}).DialContext}}
		},
		"dial_timeout": func(t *testing.T) scene {
			return scene{
				server:    "http://" + crowded(t),
				transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 100 * time.Millisecond}).DialContext},
			}
		},
		"tls_cert_invalid": func(t *testing.T) scene {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			t.Cleanup(s.Close)
			return scene{server: s.URL}
		},
		"proxy_connect_refused": func(t *testing.T) scene {
			return scene{server: "https://server.example", transport: through("http://user:" + postertest.Secret + "@" + closed(t))}
		},
		"timeout_waiting_response": func(t *testing.T) scene {
			address, received := raw(t, func(*http.Request, net.Conn) { <-t.Context().Done() })
			return scene{server: address, received: received, timeout: 100 * time.Millisecond}
		},
		"connection_reset": func(t *testing.T) scene {
			address, received := raw(t, func(r *http.Request, c net.Conn) { _, _ = io.Copy(io.Discard, r.Body); reset(c) })
			return scene{server: address, received: received}
		},
		"context_cancelled_after_write": func(t *testing.T) scene {
			arrived := make(chan struct{})
			address, received := raw(t, func(*http.Request, net.Conn) { close(arrived); <-t.Context().Done() })
			return scene{server: address, received: received, cancel: arrived}
		},
		"write_error_mid_body": func(t *testing.T) scene {
			address, received := raw(t, func(_ *http.Request, c net.Conn) { reset(c) })
			return scene{server: address, received: received, text: strings.Repeat("long ", 8<<20/5)}
		},
		"truncated_status_line": func(t *testing.T) scene {
			return saying(t, "HTTP/1.1 20")
		},
		"2xx_headers_ok_body_truncated": func(t *testing.T) scene {
			return saying(t, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":")
		},
	}
}

// TestEveryEndWithoutAnAnswerMeansWhatItShould makes the rows happen that are not
// answers, at a webhook.
func TestEveryEndWithoutAnAnswerMeansWhatItShould(t *testing.T) {
	t.Parallel()
	makers, tested := scenes(), 0
	for _, r := range readRows(t) {
		if r.Phase == "response" || r.Platform != "generic-http" {
			continue
		}
		tested++
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, makers, r.Name)
			playScene(t, makers[r.Name](t), outcomes[r.Outcome])
		})
	}
	require.Equal(t, len(makers), tested)
}

// TestEndsWithoutAnAnswerThatNoRowNames are more of the kind.
func TestEndsWithoutAnAnswerThatNoRowNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scene func(*testing.T) scene
		want  poster.Outcome
	}{
		"refused": {func(t *testing.T) scene { return scene{server: "http://" + closed(t)} }, poster.Later},
		"a proxy that does not let it through": {func(t *testing.T) scene {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
			t.Cleanup(proxy.Close)
			return scene{server: "https://server.example", transport: through(proxy.URL)}
		}, poster.Later},
		"reset after the first byte": {func(t *testing.T) scene {
			return scene{server: onAccept(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); reset(c) })}
		}, poster.Unknown},
		"reset during the handshake": {func(t *testing.T) scene {
			return scene{server: strings.Replace(onAccept(t, reset), "http:", "https:", 1)}
		}, poster.Later},
		"closed without a word": {func(t *testing.T) scene {
			address, received := raw(t, func(r *http.Request, _ net.Conn) { _, _ = io.Copy(io.Discard, r.Body) })
			return scene{server: address, received: received}
		}, poster.Unknown},
		"a status and the end": {func(t *testing.T) scene { return saying(t, "HTTP/1.1 200 OK\r\n") }, poster.Unknown},
		"interim answers and the end": {func(t *testing.T) scene {
			return saying(t, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		}, poster.Unknown},
		"a rejection whose body is torn": {func(t *testing.T) scene {
			return saying(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nNo")
		}, poster.RejectedDestination},
		"an error whose body is torn": {func(t *testing.T) scene {
			return saying(t, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100\r\n\r\n<ht")
		}, poster.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playScene(t, test.scene(t), test.want)
		})
	}
}

// playScene makes one attempt at a webhook, and tests how it ended and that the
// server was sent one request at most.
func playScene(t *testing.T, s scene, want poster.Outcome) {
	t.Helper()
	_, settings := destination("generic-http", s.server)
	driver, _ := platforms.Find("webhook")
	client := &http.Client{Timeout: s.timeout}
	if s.transport != nil {
		client.Transport = s.transport
	}
	p, err := driver.New(settings, poster.Options{Destination: "account", HTTP: client, UserAgent: "bot/test", Now: func() time.Time { return now }})
	require.NoError(t, err)
	text := s.text
	if text == "" {
		text = "text"
	}
	m, err := p.Render(poster.Post{ID: "id", Text: text})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.cancel != nil {
		go func() { <-s.cancel; cancel() }()
	}
	_, err = p.Post(ctx, m)
	require.Equal(t, want, poster.OutcomeOf(err), "%v", err)
	if err != nil {
		require.NotContains(t, err.Error(), postertest.Secret)
	}
	if s.received != nil {
		require.EqualValues(t, 1, s.received.Load(), "one attempt is one request")
	}
}

// through is a transport with a proxy.
func through(proxy string) *http.Transport {
	return &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// closed is an address on which nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l := listen(t)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// crowded is an address whose queue of connections is full, so that a further one
// is left waiting.
func crowded(t *testing.T) string {
	t.Helper()
	l := listen(t)
	tcp, ok := l.(*net.TCPListener)
	require.True(t, ok)
	conn, err := tcp.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), 0) }))
	for range 4 {
		go func() {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
			if err == nil {
				t.Cleanup(func() { _ = c.Close() })
			}
		}()
	}
	// Full once a connection is not made in a time in which every other one is.
	for {
		c, err := net.DialTimeout("tcp", l.Addr().String(), 200*time.Millisecond)
		if err != nil {
			return l.Addr().String()
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// onAccept starts a server that does something with every connection, and returns
// its address.
func onAccept(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l := listen(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go do(c)
		}
	}()
	return "http://" + l.Addr().String()
}

// raw starts a server that reads the head of one request from every connection,
// and does something with the rest. It counts the requests.
func raw(t *testing.T, do func(*http.Request, net.Conn)) (string, *atomic.Int64) {
	t.Helper()
	received := new(atomic.Int64)
	return onAccept(t, func(c net.Conn) {
		defer c.Close()
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			received.Add(1)
			do(r, c)
		}
	}), received
}

// saying is a server that answers with a text and hangs up.
func saying(t *testing.T, text string) scene {
	t.Helper()
	address, received := raw(t, func(r *http.Request, c net.Conn) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(c, text)
	})
	return scene{server: address, received: received}
}

// nameServer starts a server that knows no name, and returns its address.
func nameServer(t *testing.T) string {
	t.Helper()
	c, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil {
				continue
			}
			m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
			if answer, err := m.Pack(); err == nil {
				_, _ = c.WriteTo(answer, from)
			}
		}
	}()
	return c.LocalAddr().String()
}
