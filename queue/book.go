package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// FleetBook names the small record of what concerns every destination.
const FleetBook = "fleet"

// DestinationBook names the small record of one destination.
func DestinationBook(name string) string { return "destination/" + name }

// SourceBook names the small record of one source.
func SourceBook(name string) string { return "source/" + name }

// Pause is a kill switch, for one destination or for all.
type Pause struct {
	// Reason says why, and what to mend.
	Reason string `json:"reason"`
	// Since is when it was thrown.
	Since time.Time `json:"since"`
	// Settings is the fingerprint of the destination's settings when the platform
	// refused it: other settings lift the pause. Empty for a pause by hand, which
	// only a person lifts.
	Settings string `json:"settings,omitempty"`
}

// Pacing is what all workers share of one destination, or of the fleet. Safety
// never rests on it: it only says when not to claim.
type Pacing struct {
	// Paused is nil unless a kill switch is thrown.
	Paused *Pause `json:"paused,omitempty"`
	// LastSentAt is when the last attempt was made. Zero: never.
	LastSentAt time.Time `json:"last_sent_at,omitzero"`
	// NotBefore is when the platform may be asked again. Zero: at once.
	NotBefore time.Time `json:"not_before,omitzero"`
}

// ReadBook reads a small record into a T, the zero T if it was never written.
func ReadBook[T any](ctx context.Context, s Store, name string) (T, error) {
	var v T
	raw, err := s.Book(ctx, name)
	if err != nil || raw == nil {
		return v, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("record %s: %w", name, err)
	}
	return v, nil
}

// ChangeBook changes a small record by change, which is pure but for what it
// tells its caller, as one step. change's error leaves the record as it was.
func ChangeBook[T any](ctx context.Context, s Store, name string, change func(*T) error) error {
	return s.UpdateBook(ctx, name, func(raw json.RawMessage) (json.RawMessage, error) {
		var v T
		if raw != nil {
			if err := json.Unmarshal(raw, &v); err != nil {
				return nil, fmt.Errorf("record %s: %w", name, err)
			}
		}
		if err := change(&v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
}
