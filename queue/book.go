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
	// NotBefore is when the platform may be asked again. Zero: at once.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Pace is that of real sends, and Shadow that of rules in shadow mode, so that
	// neither holds up the other.
	Pace
	Shadow Pace `json:"shadow,omitzero"`
	// Slots tells by which slots what waits was planned. Empty: by none.
	Slots string `json:"slots,omitempty"`
}

// Pace is how much was sent of late.
type Pace struct {
	// LastSentAt is when the last attempt was made. Zero: never.
	LastSentAt time.Time `json:"last_sent_at,omitzero"`
	// LastSlotAt is when an entry was last sent that had to have a slot.
	LastSlotAt time.Time `json:"last_slot_at,omitzero"`
	// Day is a day of the fleet's zone, as 2006-01-02, and Today how many posts it
	// had so far.
	Day   string `json:"day,omitempty"`
	Today int    `json:"today,omitempty"`
}

// RuleBook names the small record of one rule.
func RuleBook(name string) string { return "rule/" + name }

// Edited is what is remembered of a rule, to tell that it means something else
// now.
type Edited struct {
	// Meaning is the fingerprint of what it meant in the last run.
	Meaning string `json:"meaning"`
	// Since is when a run first had that meaning.
	Since time.Time `json:"since"`
	// Before is when a run first had the rule, whatever it meant then.
	Before time.Time `json:"before"`
}

// Edited reports whether the rule has meant something else before.
func (e Edited) Edited() bool { return e.Since.After(e.Before) }

// RulesEdited reports whether a rule means something else than in the last run
// whose rules were noted.
func (q *Queue) RulesEdited(ctx context.Context) (bool, error) {
	for _, r := range q.Rules {
		known, err := ReadBook[Edited](ctx, q.Store, RuleBook(r.Name))
		if err != nil || known.Meaning != r.Meaning {
			return true, err
		}
	}
	return false, nil
}

// NoteRules remembers what the rules mean in this run, once everything was looked
// at by them.
func (q *Queue) NoteRules(ctx context.Context) error {
	now := q.now()
	for _, r := range q.Rules {
		known, err := ReadBook[Edited](ctx, q.Store, RuleBook(r.Name))
		if err != nil {
			return err
		}
		if known.Meaning == r.Meaning {
			continue
		}
		err = ChangeBook(ctx, q.Store, RuleBook(r.Name), func(e *Edited) error {
			if e.Meaning != r.Meaning {
				e.Meaning, e.Since = r.Meaning, now
			}
			if e.Before.IsZero() {
				e.Before = now
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
