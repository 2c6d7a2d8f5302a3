package firestore

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// TestEveryQueryIsOnOneField: a query on two would need an index that somebody has to
// create, and the emulator would not say so.
func TestEveryQueryIsOnOneField(t *testing.T) {
	t.Parallel()
	conn, err := grpc.NewClient("passthrough:///nowhere.invalid", grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	client, err := firestore.NewClient(context.Background(), "demo-x", option.WithGRPCConn(conn))
	require.NoError(t, err)
	defer client.Close()
	entries := client.Collection(entriesCollection)
	for field, q := range map[string]firestore.Query{
		fieldDue:     dueQuery(entries, time.Now()),
		fieldWaiting: waitingQuery(entries),
		"__name__":   allQuery(entries),
	} {
		raw, err := q.Serialize()
		require.NoError(t, err)
		var request firestorepb.RunQueryRequest
		require.NoError(t, proto.Unmarshal(raw, &request))
		query := request.GetStructuredQuery()
		require.Len(t, query.GetOrderBy(), 1)
		require.Equal(t, field, query.GetOrderBy()[0].GetField().GetFieldPath())
		if filter := query.GetWhere(); filter != nil {
			require.Nil(t, filter.GetCompositeFilter())
			require.Equal(t, field, filter.GetFieldFilter().GetField().GetFieldPath())
		}
	}
}
