package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/jsonstore"
)

// local checks a ledger in local files, the guard, and the clock.
func (r *checkReport) local(ctx context.Context, a *app, f *fleet, offline bool) {
	store, err := jsonstore.OpenReadOnly(ctx, f.cfg.State.Dir)
	if err != nil {
		r.add("state", "", "failed", "%v", err)
	} else {
		r.ledger(ctx, f, store, f.cfg.State.Dir)
	}
	if !offline {
		if moved := a.elsewhere(ctx, f.cfg.State); moved != "" {
			r.add("state", "", "failed", "%s", moved)
		}
	}
	r.outcome("guard", "", "this machine may write the local state", a.guard().Check())
	r.add("clock", "", "ok", "%s; state is local, so this machine's clock alone counts", a.env.Now().In(f.cfg.Timezone).Format(time.RFC3339))
}

// shared checks a ledger in Firestore, that it was opened, that this machine may do
// there what it has to, and the clock against the server's.
func (r *checkReport) shared(ctx context.Context, a *app, f *fleet, offline bool) {
	if w := leftBehind(f.cfg.State); w != "" {
		r.add("state", "", "warning", "%s", w)
	}
	if offline {
		r.add("state", "", "skipped", "Firestore was not asked (--offline)")
		return
	}
	o, err := a.firestoreOptions(f.cfg.State)
	if err != nil {
		r.add("state", "", "failed", "%v", err)
		return
	}
	store, err := firestore.Connect(ctx, o)
	if err != nil {
		r.add("state", "", "failed", "%v", err)
		return
	}
	if err := store.Probe(ctx); err != nil {
		r.add("state", "", "failed", "%v", errors.Join(err, store.Close()))
		return
	}
	r.add("state", "", "ok", "read, create-if-absent and conditional update work in %s", store.Place())
	opened := store.Fleet().Opened()
	if opened {
		r.add("guard", "", "ok", "the ledger was opened for every machine on %s", store.Fleet().OpenedAt.Format(time.DateOnly))
	} else {
		r.add("guard", "", "failed", "the ledger was not opened: run `bot migrate firestore` once, on the machine that owns the local state")
	}
	if skew := store.Skew(); len(store.Warnings()) == 0 {
		r.add("clock", "", "ok", "within %s of the server's", max(skew.Abs().Round(time.Second), time.Second))
	}
	if opened {
		r.ledger(ctx, f, store, store.Place())
	} else if err := store.Close(); err != nil {
		r.add("state", "", "failed", "%v", err)
	}
	for _, w := range store.Warnings() {
		r.add("clock", "", "warning", "%s", w)
	}
}

// ledger reads a ledger, so that what would stop a run is found here, and closes it.
// One in Firestore is read only as far as it waits: every entry costs a read.
func (r *checkReport) ledger(ctx context.Context, f *fleet, store ledger, place string) {
	f.queue.Store = store
	list, what := store.All(ctx), [2]string{"entry", "entries"}
	if _, shared := store.(*firestore.Store); shared {
		list, what = store.Waiting(ctx), [2]string{"waiting entry", "waiting entries"}
	}
	var err error
	entries, stray := 0, 0
	for e, readErr := range list {
		if readErr != nil {
			err = readErr
			break
		}
		entries++
		if goesOn(e) && f.queue.DestinationOf(e.Key.Webhook) == nil {
			stray++
		}
	}
	r.rules(ctx, f)
	pacing, bookErr := queue.ReadBook[queue.Pacing](ctx, store, queue.FleetBook)
	ok := fmt.Sprintf("%d %s in %s", entries, plural(entries, what[0], what[1]), place)
	r.outcome("state", "", ok, errors.Join(err, bookErr, store.Close()))
	if _, shared := store.(*firestore.Store); !shared {
		for _, w := range store.Warnings() {
			r.add("state", "", "warning", "%s", w)
		}
	}
	if stray > 0 {
		r.add("state", "", "warning", "%d queued %s to no configured destination; see `bot status`", stray, plural(stray, "entry belongs", "entries belong"))
	}
	if pacing.Paused != nil {
		r.add("state", "", "warning", "everything is paused: %s", pacing.Paused.Reason)
	}
}

// rules tells which rules mean something else than they did. A record that cannot be
// read is reported with the state.
func (r *checkReport) rules(ctx context.Context, f *fleet) {
	for _, rule := range f.queue.Rules {
		e, err := queue.ReadBook[queue.Edited](ctx, f.queue.Store, queue.RuleBook(rule.Name))
		if note := editedNote(rule, e, f.cfg.Timezone); err != nil || note != "" {
			r.add("rule", rule.Name, "warning", "%s, %s", mode(rule), cmp.Or(note, fmt.Sprint(err)))
		}
	}
}
