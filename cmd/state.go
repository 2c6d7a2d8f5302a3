package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bot/config"
	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/jsonstore"
)

// The kinds of ledger that state.backend may name.
const (
	localBackend  = "local"
	sharedBackend = "firestore"
)

// ledger is a store that has something to say of where it is.
type ledger interface {
	queue.Store
	Warnings() []string
}

// openStore opens the ledger and gives it to the fleet's queue. To write, the
// machine has to pass the guard first; see dedupe/guard.go. In Firestore the guard
// is that the ledger was opened, once, by `bot migrate firestore`.
func (a *app) openStore(ctx context.Context, f *fleet, write bool) (queue.Store, error) {
	store, err := a.openLedger(ctx, f.cfg.State, write)
	if err != nil {
		return nil, err
	}
	for _, w := range store.Warnings() {
		a.log.Warn(w)
	}
	f.queue.Store = store
	return store, nil
}

// openLedger is the one list of the kinds of store.
func (a *app) openLedger(ctx context.Context, s config.State, write bool) (ledger, error) {
	switch s.Backend {
	case sharedBackend:
		o, err := a.firestoreOptions(s)
		if err != nil {
			return nil, err
		}
		if o.Emulator != "" {
			a.log.Info("the ledger is in an emulator, not in Firestore", "emulator", o.Emulator, "project", o.Project)
		}
		return orNil(firestore.Open(ctx, o))
	default:
		if !write {
			return orNil(jsonstore.OpenReadOnly(ctx, s.Dir))
		}
		if err := a.guard().Check(); err != nil {
			return nil, err
		}
		return orNil(jsonstore.Open(ctx, jsonstore.Options{Dir: s.Dir, Now: a.env.Now}))
	}
}

// orNil keeps a store that is nil from looking like one that is not.
func orNil[S ledger](s S, err error) (ledger, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// firestoreOptions say which ledger in Firestore the config and the environment
// name.
func (a *app) firestoreOptions(s config.State) (firestore.Options, error) {
	o := firestore.Options{
		Project:  cmp.Or(s.Project, a.env.Getenv("GOOGLE_CLOUD_PROJECT")),
		Database: cmp.Or(s.Database, firestore.DefaultDatabase),
		Fleet:    cmp.Or(s.Fleet, firestore.DefaultFleet),
		Emulator: a.env.Getenv("FIRESTORE_EMULATOR_HOST"),
		Now:      a.env.Now,
		// Not the tokens of claims: these have to be fresh whoever drives the program.
		Token: rand.Text,
	}
	if err := o.Check(); err != nil {
		return o, usageError{err}
	}
	o.Cache = a.cachePath(fmt.Sprintf("%s/%s/%s", o.Project, o.Database, o.Fleet))
	return o, nil
}

// cachePath is where what is known of a ledger is remembered, or empty where there
// is no place for it.
func (a *app) cachePath(ledger string) string {
	dir := a.env.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home := a.env.Getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".cache")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	sum := sha256.Sum256([]byte(ledger))
	return filepath.Join(dir, "bot", fmt.Sprintf("known-%x.jsonl", sum[:8]))
}

// place names where the ledger is.
func (a *app) place(s config.State) string {
	if s.Backend != sharedBackend {
		return s.Dir
	}
	return fmt.Sprintf("%s/%s/%s", cmp.Or(s.Project, a.env.Getenv("GOOGLE_CLOUD_PROJECT")),
		cmp.Or(s.Database, firestore.DefaultDatabase), cmp.Or(s.Fleet, firestore.DefaultFleet))
}

// guardOf returns why this machine may not write the ledger, or nil. That a ledger
// in Firestore was opened is known by whoever has it open.
func (a *app) guardOf(s config.State) error {
	if s.Backend == sharedBackend {
		return nil
	}
	return a.guard().Check()
}

// elsewhere looks, for a fleet that is configured to be local, whether its ledger
// in Firestore is in use already. It can be known where the config names the
// project. Empty: nothing is known against it.
func (a *app) elsewhere(ctx context.Context, s config.State) string {
	const patience = 10 * time.Second
	if s.Backend == sharedBackend || s.Project == "" {
		return ""
	}
	o, err := a.firestoreOptions(s)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	store, err := firestore.Connect(ctx, o)
	if err != nil {
		return ""
	}
	defer store.Close()
	if !store.Fleet().Opened() {
		return ""
	}
	return fmt.Sprintf("this fleet has moved to Firestore (%s) on %s, and this machine is still on local files: set state.backend: firestore",
		store.Place(), store.Fleet().OpenedAt.Format(time.DateOnly))
}

// leftBehind tells of a local ledger that is there beside the one in Firestore.
func leftBehind(s config.State) string {
	if _, err := os.Stat(filepath.Join(s.Dir, "posted.json")); err != nil {
		return ""
	}
	if moved, _, err := jsonstore.Place(s.Dir); err == nil && moved != "" {
		return ""
	}
	return fmt.Sprintf("there is a local ledger in %s that was not moved: what it holds is not known in Firestore", s.Dir)
}
