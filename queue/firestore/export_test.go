package firestore

import (
	"testing"

	"cloud.google.com/go/firestore"
	"github.com/stretchr/testify/require"
)

// Tamper changes an entry's document past the store.
func (s *Store) Tamper(t *testing.T, id string, updates []firestore.Update) {
	t.Helper()
	_, err := s.entry(id).Update(t.Context(), updates)
	require.NoError(t, err)
}

// Scratch counts what is left of probes.
func (s *Store) Scratch(t *testing.T) int {
	t.Helper()
	all, err := s.fleet.Collection(scratchCollection).Documents(t.Context()).GetAll()
	require.NoError(t, err)
	return len(all)
}
