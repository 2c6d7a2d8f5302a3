// Package firestore keeps the ledger in Google Cloud Firestore, where every
// machine of a fleet reads and writes it.
//
//	bot_fleets/FLEET                   what this ledger is, and that it was opened
//	bot_fleets/FLEET/bot_entries/ID    one entry
//	bot_fleets/FLEET/bot_books/NAME    one small record
//	bot_fleets/FLEET/bot_origins/ID    the entries of one article, by its source's guid
//
// A document is only ever created if it is absent, or replaced if it is still as it
// was read (a precondition on its update time). Each write carries a fresh token.
// An error says nothing of whether a write was made: an answer can be lost, and the
// client then repeats the write and is told that its own document is in the way. So
// after every error the document is read back. Our token there: it was made.
// Another update time: somebody else was faster. Unchanged: not decided, since the
// write may still be on its way; the same write is made again, which fails if the
// first one has landed meanwhile. When the time for that is up the answer is
// ErrUndecided, and nothing is sent.
//
// No transaction reads, since two that read the same document wait for each other
// until a time-out. All queries filter and order by one field, so that the indexes
// are there which Firestore makes by itself: see query.go.
package firestore
