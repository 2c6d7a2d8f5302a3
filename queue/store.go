package queue

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"bot/dedupe"
)

// What callers of a Store test for with errors.Is.
var (
	// ErrNotFound: no entry has this ID.
	ErrNotFound = errors.New("no such entry")
	// ErrNoLedger: there is no ledger where the config says it is. A ledger that
	// is not there is not an empty one.
	ErrNoLedger = errors.New("no ledger")
	// ErrLocked: another process has held the lock for too long.
	ErrLocked = errors.New("the ledger is locked by another run")
)

// Store keeps the ledger. It knows nothing of the rules: it inserts what is not
// known, and replaces an entry by what a pure function makes of it, each as one
// atomic and durable step. Every method may be called concurrently, from many
// processes at once, and returns ctx's error if ctx ends first.
type Store interface {
	// Lookup tells for each candidate, index by index, what the ledger knows of it.
	// It changes nothing, and its answer may be out of date at once: only Insert
	// decides. A candidate that equals an earlier one of the same call is known by
	// that one.
	Lookup(ctx context.Context, candidates []Candidate) ([]Known, error)

	// Insert adds the entry of each candidate of which the ledger knows none of
	// its keys and origins, and tells index by index what was known of the others. It is the
	// one place where duplicates are found. Candidates are independent, and the
	// same call may be made again. When it returns, all it added is durable.
	Insert(ctx context.Context, candidates []Candidate) ([]Known, error)

	// Get returns the entry with this ID, or ErrNotFound.
	Get(ctx context.Context, id string) (Entry, error)

	// Due yields the entries whose Due is set and not after until, earliest first.
	Due(ctx context.Context, until time.Time) iter.Seq2[Entry, error]

	// Update replaces the entry with this ID by change(entry), as one step, and
	// returns the new entry. It returns ErrNotFound if there is none, and change's
	// error, with nothing changed, if it returns one. change is pure: it may run
	// several times. When Update returns, an entry that is now sending is durable
	// against loss of power, since the send follows; any other change is durable
	// against the death of the process, and against loss of power with the next
	// claim, insert or Close. Losing a result leaves the entry uncertain, which a
	// person can resolve.
	Update(ctx context.Context, id string, change func(Entry) (Entry, error)) (Entry, error)

	// Delete forgets the entry with this ID, or returns ErrNotFound. Forgetting is
	// announcing again: only a person asks for it.
	Delete(ctx context.Context, id string) error

	// All yields every entry in no particular order, as it stands when it is
	// reached.
	All(ctx context.Context) iter.Seq2[Entry, error]

	// Waiting yields every entry that is not final, in no particular order. It does
	// not read the history.
	Waiting(ctx context.Context) iter.Seq2[Entry, error]

	// Book reads one small record that is not an entry, such as a source's
	// validators or a destination's pause. Nil if it was never written. Names are
	// short ASCII paths like source/manga.
	Book(ctx context.Context, name string) (json.RawMessage, error)

	// UpdateBook replaces a small record by change(record), as one step, with
	// Update's promises. Nil stands for a record never written, both ways.
	UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error

	// Close makes everything durable and lets go. The store is not used after.
	Close() error
}

// Candidate is an entry that is to be inserted if it is new.
type Candidate struct {
	// Entry is what is inserted, in whatever state the rules gave it. A store does not
	// keep it, and does not change it.
	Entry *Entry
	// Aliases are the other keys under which the ledger may know the same
	// announcement: an earlier webhook of the same account, another host of the
	// same site, the URL-only form of older records. They are not stored.
	Aliases []dedupe.Key
	// Origins are those under which the ledger may know the article by another
	// address: an entry with one of them stands in the way if Renamed says so. The
	// entry's own is the first. Empty: addresses alone decide.
	Origins []dedupe.Origin
}

// Known is what the ledger already has of a candidate. The zero value: nothing,
// so the candidate is new and, after Insert, in the ledger.
type Known struct {
	// ID is that of the entry in the way.
	ID string
	// Status is that entry's state.
	Status Status
	// Rule is the rule that made that entry. Empty in older records.
	Rule string
	// URLOnly: the entry in the way knows only the address.
	URLOnly bool
	// RenamedFrom is the address of the entry in the way, if that is known by its
	// origin: the article has another one now. Empty: it is known by a key.
	RenamedFrom string
}

// New reports whether nothing was known.
func (k Known) New() bool { return k.ID == "" }
