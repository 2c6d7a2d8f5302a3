package firestore

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
)

// TestTheIndexFileNamesEveryField: a field that is not exempted is indexed, and paid
// for, with every write.
func TestTheIndexFileNamesEveryField(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "firestore", "firestore.indexes.json"))
	require.NoError(t, err)
	var file struct {
		Indexes        []any
		FieldOverrides []struct {
			CollectionGroup, FieldPath string
			Indexes                    []any
		}
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.Empty(t, file.Indexes, "no composite index is needed")
	indexed := map[string]int{}
	for _, o := range file.FieldOverrides {
		indexed[o.CollectionGroup+"."+o.FieldPath] = len(o.Indexes)
	}
	e := storetest.Entry("a", 1)
	e.DueAt = time.Now()
	doc, err := encode(e, "token")
	require.NoError(t, err)
	for field := range doc.made("token") {
		want := 0
		if field == fieldDue || field == fieldWaiting {
			want = 1
		}
		got, ok := indexed[entriesCollection+"."+field]
		require.True(t, ok, field)
		require.Equal(t, want, got, field)
	}
}
