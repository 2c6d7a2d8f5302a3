package memstore_test

import (
	"testing"

	"bot/queue"
	"bot/queue/memstore"
	"bot/queue/storetest"
)

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Opener {
		s := memstore.New()
		return func(*testing.T) queue.Store { return s }
	})
}
