package firestore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/storetest"

	"cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

// cost is what Firestore bills: documents asked for by name, documents that queries
// return (an empty query costs one read), documents written and deleted.
type cost struct{ reads, queries, found, writes int }

func (c cost) String() string {
	return fmt.Sprintf("reads=%d queries=%d found=%d writes=%d", c.reads, c.queries, c.found, c.writes)
}

// meter counts what goes over the connection.
type meter struct {
	mu sync.Mutex
	cost
}

func (m *meter) dial() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if commit, ok := req.(*firestorepb.CommitRequest); ok {
				m.mu.Lock()
				m.writes += len(commit.GetWrites())
				m.mu.Unlock()
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			s, err := stream(ctx, desc, cc, method, opts...)
			if strings.HasSuffix(method, "/RunQuery") {
				m.mu.Lock()
				m.queries++
				m.mu.Unlock()
			}
			return &meteredStream{s, m}, err
		}),
	}
}

type meteredStream struct {
	grpc.ClientStream
	m *meter
}

func (s *meteredStream) SendMsg(msg any) error {
	if r, ok := msg.(*firestorepb.BatchGetDocumentsRequest); ok {
		s.m.mu.Lock()
		s.m.reads += len(r.GetDocuments())
		s.m.mu.Unlock()
	}
	return s.ClientStream.SendMsg(msg)
}

func (s *meteredStream) RecvMsg(msg any) error {
	err := s.ClientStream.RecvMsg(msg)
	if r, ok := msg.(*firestorepb.RunQueryResponse); ok && err == nil && r.GetDocument() != nil {
		s.m.mu.Lock()
		s.m.found++
		s.m.mu.Unlock()
	}
	return err
}

// take returns what was counted since the last take.
func (m *meter) take() cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cost
	m.cost = cost{}
	return c
}

// costOfGUIDs counts what is added for an article with a guid.
func costOfGUIDs(t *testing.T, s *firestore.Store, m *meter) {
	t.Helper()
	candidate := func(n int) []queue.Candidate {
		e := storetest.Entry("guids", n)
		e.Article.GUID, e.Status, e.DueAt = "g", queue.Skipped, time.Time{}
		return []queue.Candidate{{Entry: &e, Aliases: []dedupe.Key{e.Key.URLOnly()}, Origins: []dedupe.Origin{e.Origin()}}}
	}
	_, err := s.Lookup(t.Context(), candidate(1))
	require.NoError(t, err)
	_, err = s.Insert(t.Context(), candidate(1))
	require.NoError(t, err)
	require.Equal(t, cost{reads: 6, writes: 2}, m.take(), "a new article with a guid is looked up and inserted")
	known, err := s.Lookup(t.Context(), candidate(2))
	require.NoError(t, err)
	require.NotEmpty(t, known[0].RenamedFrom)
	require.Equal(t, cost{reads: 4}, m.take(), "an article under a new address")
}

// TestCost counts what docs/firestore.md says each step costs.
func TestCost(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o)
	m := &meter{}
	o.Dial, o.Cache = m.dial(), filepath.Join(t.TempDir(), "cache")
	ctx := t.Context()
	s := open(t, o)
	require.Equal(t, cost{reads: 1}, m.take(), "to open")

	for range s.Due(ctx, storetest.Now()) {
		t.Fatal("nothing is due")
	}
	require.Equal(t, cost{queries: 1}, m.take(), "an idle process")

	e := storetest.Entry("a", 1)
	announce := []queue.Candidate{{Entry: &e, Aliases: []dedupe.Key{e.Key.URLOnly()}}}
	_, err := s.Lookup(ctx, announce)
	require.NoError(t, err)
	_, err = s.Insert(ctx, announce)
	require.NoError(t, err)
	require.Equal(t, cost{reads: 4, writes: 1}, m.take(), "a new article is looked up and inserted")
	costOfGUIDs(t, s, m)
	for range s.Due(ctx, storetest.Now().Add(time.Hour)) {
	}
	_, err = claim(ctx, s, e.ID, "worker")
	require.NoError(t, err)
	_, err = settle(ctx, s, e.ID, "worker")
	require.NoError(t, err)
	require.Equal(t, cost{queries: 1, found: 1, reads: 2, writes: 2}, m.take(), "it is found, claimed and settled")

	look := func(s *firestore.Store) {
		t.Helper()
		known, err := s.Lookup(ctx, announce)
		require.NoError(t, err)
		require.Equal(t, queue.Posted, known[0].Status)
	}
	look(s)
	require.Equal(t, cost{reads: 1}, m.take(), "a known article, the first time on this machine")
	look(s)
	require.Equal(t, cost{}, m.take(), "a known article")
	require.NoError(t, s.Close())
	s = open(t, o)
	m.take()
	look(s)
	require.Equal(t, cost{}, m.take(), "a known article, in the next run")

	other := o
	other.Cache = ""
	require.NoError(t, open(t, other).Delete(ctx, e.ID))
	m.take()
	s = open(t, o)
	known, err := s.Lookup(ctx, announce)
	require.NoError(t, err)
	require.True(t, known[0].New(), "what another machine forgot is not remembered here")
}
