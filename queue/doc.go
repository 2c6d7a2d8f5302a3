// Package queue holds the rules of announcing: what becomes an entry, when an
// entry may change its state, and the one bounded pass that sends what is due.
// Where entries are kept is behind Store.
//
// An entry lives from queued to posted in the same ledger, so that "is it known
// already?" and "put it in the queue" are one atomic insert with no window
// between.
//
//	          Insert                Claim                 Settle Delivered
//	(unknown) ──────▶ queued ─────────────▶ sending ─────────────────────▶ posted
//	    │                ▲                    │ │
//	    │ baseline, old  │ Settle Later       │ └─ rejected, or attempts used up ─▶ failed
//	    ▼                └────────────────────┤
//	 skipped   held ─ Release ─▶ queued       │ lease over, destination idempotent: claimed again
//	                                          └─ Settle Unknown, or lease over ─▶ uncertain
//
// A person moves the rest: Resolve takes uncertain and failed to posted, queued
// or skipped; Retry takes failed and skipped to queued; Cancel and Reschedule
// steer what waits.
package queue
