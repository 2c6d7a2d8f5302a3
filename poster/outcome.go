package poster

import (
	"errors"
	"fmt"
	"time"
)

// Outcome says how an attempt to send ended. The zero value is Unknown, so
// whoever forgets to classify an attempt is on the safe side.
type Outcome int

const (
	// Unknown: the announcement may have been published.
	Unknown Outcome = iota
	// Delivered: the platform has it.
	Delivered
	// Later: certainly not published, and worth another attempt.
	Later
	// RejectedContent: certainly not published, and this message never will be.
	RejectedContent
	// RejectedDestination: certainly not published, and nothing will be taken
	// there until somebody mends it.
	RejectedDestination
)

// String returns the outcome's name as it stands in the program's output.
func (o Outcome) String() string {
	switch o {
	case Delivered:
		return "delivered"
	case Later:
		return "later"
	case RejectedContent, RejectedDestination:
		return "rejected"
	default:
		return "unknown"
	}
}

// Error is how an attempt that did not deliver ended.
type Error struct {
	// Outcome is never Delivered.
	Outcome Outcome
	// NotBefore is the earliest time for another attempt, as the platform asked
	// for it. Zero: the caller's own back-off. Only with Later.
	NotBefore time.Time
	// Status is the HTTP status of the answer. Zero: there was none.
	Status int
	// Duplicate says that the platform has the same post already: after an attempt
	// that may have published it, this is its receipt.
	Duplicate bool
	// Reason says what happened and, where a person has to mend it, what to do.
	// It holds no secret and no control characters.
	Reason string
}

// Error returns the reason, with the status where there was one.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s (HTTP %d)", e.Reason, e.Status)
}

// OutcomeOf tells how the attempt that returned err ended: Delivered for nil,
// what an *Error in its chain says, and Unknown for anything else.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Delivered
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Outcome != Delivered {
		return e.Outcome
	}
	return Unknown
}
