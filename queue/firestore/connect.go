package firestore

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

// connect makes the client. It does not block: whether anybody is there shows with
// the first call.
func (s *Store) connect(ctx context.Context) error {
	dial := append([]grpc.DialOption{
		grpc.WithChainUnaryInterceptor(s.cause.unary),
		grpc.WithChainStreamInterceptor(s.cause.stream),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
		// A service that was away is not waited for longer than this once it is back.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}, s.o.Dial...)
	var options []option.ClientOption
	if s.o.Emulator != "" {
		host := strings.TrimPrefix(strings.TrimPrefix(s.o.Emulator, "http://"), "https://")
		conn, err := grpc.NewClient("passthrough:///"+host, append(dial,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithPerRPCCredentials(emulatorOwner{}))...)
		if err != nil {
			return s.explain(err)
		}
		// The client closes it with itself.
		options = append(options, option.WithGRPCConn(conn))
	} else {
		for _, d := range dial {
			options = append(options, option.WithGRPCDialOption(d))
		}
	}
	client, err := firestore.NewClientWithDatabase(ctx, s.o.Project, s.o.Database, options...)
	if err != nil {
		return s.explain(err)
	}
	s.client = client
	return nil
}

// emulatorOwner is how the emulator is told to let everything through its rules.
type emulatorOwner struct{}

func (emulatorOwner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

func (emulatorOwner) RequireTransportSecurity() bool { return false }

// lastError remembers how the last call ended. The client repeats calls by itself,
// and when the time is up says only that: what was wrong is here.
type lastError struct {
	mu  sync.Mutex
	err error
}

func (l *lastError) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lastError) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	l.note(err)
	return err
}

func (l *lastError) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := stream(ctx, desc, cc, method, opts...)
	l.note(err)
	if err != nil {
		return nil, err
	}
	return &notedStream{s, l}, nil
}

// note keeps an error unless it is only that the time was up.
func (l *lastError) note(err error) {
	if err == nil || !timedOut(err) {
		l.set(err)
	}
}

type notedStream struct {
	grpc.ClientStream
	l *lastError
}

func (s *notedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil && !endOfStream(err) {
		s.l.note(err)
	}
	return err
}
