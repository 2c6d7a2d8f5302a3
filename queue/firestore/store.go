package firestore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bot/queue"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc"
)

const (
	fleetCollection   = "bot_fleets"
	entriesCollection = "bot_entries"
	booksCollection   = "bot_books"
	originsCollection = "bot_origins"

	// DefaultDatabase and DefaultFleet are what an empty option stands for.
	DefaultDatabase = firestore.DefaultDatabaseID
	DefaultFleet    = "default"

	// maxSkew is how far this machine's clock may be from the server's before a
	// person is told.
	maxSkew = 30 * time.Second
)

// Options say which ledger is opened, and how.
type Options struct {
	// Project, Database and Fleet name the ledger. Database and Fleet may be empty.
	Project, Database, Fleet string
	// Emulator is the address of an emulator, as FIRESTORE_EMULATOR_HOST has it.
	// Empty: the real service. With an emulator, Project has to begin with demo-.
	Emulator string
	// Now is the program's clock. It is compared with the server's, and nothing
	// rests on it.
	Now func() time.Time
	// Token makes write tokens: fresh and unguessable.
	Token func() string
	// Cache is the path of a file that remembers which entries are at rest in the
	// ledger, so that they need not be read again. Empty: none.
	Cache string
	// Dial are further options of the connection.
	Dial []grpc.DialOption
	// Patience bounds calls and writes. Zero fields have their defaults.
	Patience Patience
}

// Patience is how long is waited for what.
type Patience struct {
	// Call bounds one call. Zero: 5 s.
	Call time.Duration
	// Claim bounds how long a claim is tried for, all in all. Zero: 8 s, which with
	// the send after it is far less than the claim's lease.
	Claim time.Duration
	// Write bounds any other write. Zero: 30 s.
	Write time.Duration
	// Page bounds one call that reads some hundred documents, while many others may
	// do the same. Zero: 30 s.
	Page time.Duration
}

func (p Patience) orDefault() Patience {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&p.Call, 5*time.Second)
	set(&p.Claim, 8*time.Second)
	set(&p.Write, 30*time.Second)
	set(&p.Page, 30*time.Second)
	return p
}

// Store is a ledger in Firestore. It implements queue.Store.
type Store struct {
	o      Options
	client *firestore.Client
	cause  *lastError
	fleet  *firestore.DocumentRef
	cache  *cache
	closed atomic.Bool

	mu    sync.Mutex
	state Fleet
	skew  time.Duration
}

var _ queue.Store = (*Store)(nil)

// Open opens the ledger of a fleet. It returns an error that wraps
// queue.ErrNoLedger if that was never opened, and an *Error that says what to do if
// Firestore cannot be reached or does not let us.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if !s.Fleet().Opened() {
		s.Close()
		return nil, fmt.Errorf("%w: fleet %s in %s was not opened: run `bot migrate firestore` once, on the machine that owns the local state", queue.ErrNoLedger, s.o.Fleet, s.Place())
	}
	return s, nil
}

// Connect opens the ledger of a fleet whether or not it was opened for use. It
// reads the fleet's document.
func Connect(ctx context.Context, o Options) (*Store, error) {
	if o.Database == "" {
		o.Database = DefaultDatabase
	}
	if o.Fleet == "" {
		o.Fleet = DefaultFleet
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Patience = o.Patience.orDefault()
	s := &Store{o: o, cause: &lastError{}}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	s.fleet = s.client.Collection(fleetCollection).Doc(docName(o.Fleet))
	if err := s.readFleet(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.cache = openCache(o.Cache, s.Place(), s.Fleet())
	return s, nil
}

// Check refuses options that would lead to the wrong place.
func (o Options) Check() error {
	switch {
	case o.Project == "":
		return &Error{Mend: "set state.project, or GOOGLE_CLOUD_PROJECT, to the Google Cloud project that holds the ledger", Err: errors.New("no project is named")}
	case o.Fleet != "" && !fleetName().MatchString(o.Fleet):
		return &Error{Mend: "use letters, digits, dots, dashes and underscores, at most 100", Err: fmt.Errorf("state.fleet %q is no name of a fleet", o.Fleet)}
	case strings.Contains(o.Project+o.Database, "/"):
		return &Error{Mend: "set state.project and state.database to names, not to paths", Err: fmt.Errorf("there is no database %q in a project %q", o.Database, o.Project)}
	case o.Emulator != "" && !strings.HasPrefix(o.Project, "demo-"):
		return &Error{
			Mend: "unset FIRESTORE_EMULATOR_HOST to use the real Firestore, or name a project that begins with demo- to try things out",
			Err:  fmt.Errorf("FIRESTORE_EMULATOR_HOST is set and would turn project %s aside to an emulator, which forgets everything", o.Project),
		}
	}
	return nil
}

// fleetName is what a fleet may be called: a document's name that needs no escapes.
var fleetName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

// Place names the ledger: project/database/fleet.
func (s *Store) Place() string {
	return s.o.Project + "/" + s.o.Database + "/" + s.o.Fleet
}

// Warnings are what a person should know, if anything: one sentence each.
func (s *Store) Warnings() []string {
	if skew := s.Skew(); skew.Abs() > maxSkew {
		return []string{fmt.Sprintf("this machine's clock is %s the server's by %s: it sends early or late until that is mended",
			aheadOrBehind(skew), skew.Abs().Round(time.Second))}
	}
	return nil
}

func aheadOrBehind(skew time.Duration) string {
	if skew > 0 {
		return "ahead of"
	}
	return "behind"
}

// Skew is how far this machine's clock was ahead of the server's at the last read,
// give or take the length of a call.
func (s *Store) Skew() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skew
}

// compareClocks notes how far apart the clocks are. began is this machine's time
// before the call: the server read its clock between then and now.
func (s *Store) compareClocks(began, server time.Time) {
	if server.IsZero() {
		return
	}
	now := s.o.Now()
	skew := time.Duration(0)
	switch {
	case server.Before(began):
		skew = began.Sub(server)
	case server.After(now):
		skew = now.Sub(server)
	}
	s.mu.Lock()
	s.skew = skew
	s.mu.Unlock()
}

// Close lets go. What was written is durable already. A second Close does nothing.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return errors.Join(s.cache.save(), s.client.Close())
}

var errClosed = errors.New("the ledger is closed")

// usable returns why nothing can be done, if so.
func (s *Store) usable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return errClosed
	}
	return nil
}

func (s *Store) entry(id string) *firestore.DocumentRef {
	return s.fleet.Collection(entriesCollection).Doc(docName(id))
}

func (s *Store) book(name string) *firestore.DocumentRef {
	return s.fleet.Collection(booksCollection).Doc(docName(name))
}
