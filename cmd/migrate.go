package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bot/queue"
	"bot/queue/firestore"
	"bot/queue/jsonstore"

	"github.com/spf13/cobra"
)

func newMigrateCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "migrate", Short: "Move the ledger to where many machines share it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newMigrateFirestoreCmd(a))
	return c
}

func newMigrateFirestoreCmd(a *app) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "firestore",
		Short: "Copy the local ledger into Firestore, verify it, and lift the guard",
		Long: "Copy the local ledger in state.dir into Firestore, compare every record, open the ledger there for every\n" +
			"machine, and mark the local one as moved. It runs on the machine that owns the local ledger, whichever\n" +
			"state.backend the config names, and may be stopped and run again. A new fleet is opened the same way,\n" +
			"after `bot init`.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runMigrate(c.Context(), dryRun) },
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "count what is there, and copy nothing")
	return c
}

// migrateReport is the result of migrate firestore in JSON.
type migrateReport struct {
	Command string      `json:"command"`
	DryRun  bool        `json:"dry_run"`
	From    string      `json:"from"`
	To      string      `json:"to"`
	Records generations `json:"records"`
	// Created, Replaced and Same count the entries by what became of them.
	Created     int      `json:"created"`
	Replaced    int      `json:"replaced"`
	Same        int      `json:"same"`
	Books       int      `json:"books"`
	Differences []string `json:"differences"`
	// Opened tells that the ledger is open to every machine now, and Already that it
	// was before.
	Opened  bool `json:"opened"`
	Already bool `json:"already"`
}

// errOtherLedger: the ledger in Firestore was opened from another local one.
var errOtherLedger = errors.New("was opened already, and not from this directory")

func (a *app) runMigrate(ctx context.Context, dryRun bool) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	if err := a.guard().Check(); err != nil {
		return err
	}
	o, err := a.firestoreOptions(f.cfg.State)
	if err != nil {
		return err
	}
	o.Cache = ""
	// So much at a time is slow, and nobody waits for a claim.
	o.Patience = firestore.Patience{Call: 30 * time.Second, Write: 2 * time.Minute}
	shared, err := firestore.Connect(ctx, o)
	if err != nil {
		return err
	}
	m := &migration{a: a, shared: shared, dir: f.cfg.State.Dir, to: "Firestore " + shared.Place()}
	m.report = &migrateReport{Command: "migrate firestore", DryRun: dryRun, From: m.dir, To: shared.Place(), Differences: []string{}}
	for _, w := range shared.Warnings() {
		a.log.Warn(w)
	}
	err = m.run(ctx, dryRun)
	if closeErr := shared.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	a.printMigrated(m.report)
	if err := a.printJSON(m.report); err != nil {
		return err
	}
	if len(m.report.Differences) > 0 {
		return outcome(exitFailed)
	}
	return nil
}

// migration is one run of migrate.
type migration struct {
	a      *app
	shared *firestore.Store
	local  *jsonstore.Store
	dir    string
	to     string
	report *migrateReport
}

// run brings the migration as far as it goes. The order is what makes it safe: the
// local ledger is frozen before it is compared, so that nothing is announced from it
// that its copy does not know; and it stays frozen until it is marked as moved, so
// that at no moment both are in use.
func (m *migration) run(ctx context.Context, dryRun bool) error {
	moved, moving, err := jsonstore.Place(m.dir)
	opened := m.shared.Fleet().Opened()
	switch {
	case moved == m.to && opened:
		m.report.Already = true
		return nil
	case opened && moving != m.to && present(m.dir):
		return fmt.Errorf("%s %w (%s): what that holds is not known there; see docs/migration.md", m.to, errOtherLedger, m.dir)
	case opened && moving != m.to:
		m.report.Already = true
		return nil
	case moved != "":
		return fmt.Errorf("%w to %s, which has no ledger that was opened: bring the files back from a backup, or see docs/migration.md on `bot import`", jsonstore.ErrMoved, moved)
	case err != nil && moving != "":
		return err
	}
	if m.local, err = m.openLocal(ctx, dryRun, moving); err != nil {
		return err
	}
	if opened {
		// Everything was done but the last step.
		m.report.Already = true
		return m.local.Leave(ctx, m.to)
	}
	err = m.copyAndOpen(ctx, dryRun)
	return errors.Join(err, m.local.Close())
}

func (m *migration) openLocal(ctx context.Context, dryRun bool, moving string) (*jsonstore.Store, error) {
	if dryRun && moving == "" {
		return jsonstore.OpenReadOnly(ctx, m.dir)
	}
	return jsonstore.Open(ctx, jsonstore.Options{Dir: m.dir, Now: m.a.env.Now, MovingTo: m.to})
}

func (m *migration) copyAndOpen(ctx context.Context, dryRun bool) error {
	var err error
	if m.report.Records, err = countGenerations(ctx, m.dir, m.local); err != nil || dryRun {
		return err
	}
	copied, err := m.copy(ctx, nil)
	if err != nil {
		return err
	}
	if err := m.local.Freeze(ctx, m.to); err != nil {
		return err
	}
	if err := m.verify(ctx, copied); err != nil || len(m.report.Differences) > 0 {
		return errors.Join(err, m.local.Thaw(context.WithoutCancel(ctx)))
	}
	// From here on it is brought to its end.
	ctx = context.WithoutCancel(ctx)
	if err := m.shared.OpenFleet(ctx); err != nil {
		// It may have been opened, so the local ledger stays frozen.
		return fmt.Errorf("open the ledger: %w; run `bot migrate firestore` again", err)
	}
	m.report.Opened = true
	return m.local.Leave(ctx, m.to)
}

// verify copies what has changed since the copy was made, now that nothing changes
// any more, and compares every record.
func (m *migration) verify(ctx context.Context, copied map[string]digest) error {
	now, err := m.copy(ctx, copied)
	if err != nil {
		return err
	}
	for id := range copied {
		if _, ok := now[id]; ok {
			continue
		}
		// Somebody had it forgotten meanwhile.
		if err := m.shared.Delete(ctx, id); err != nil && !errors.Is(err, queue.ErrNotFound) {
			return err
		}
	}
	if err := m.copyBooks(ctx); err != nil {
		return err
	}
	if err := m.compare(ctx, len(now)); err != nil {
		return err
	}
	n, err := m.shared.Count(ctx)
	if err != nil {
		return err
	}
	if n != int64(len(now)) {
		m.report.Differences = append(m.report.Differences, fmt.Sprintf(
			"Firestore holds %d entries and this ledger %d: the fleet's name is in use already; name another in state.fleet, or delete what is there", n, len(now)))
	}
	return nil
}

func (m *migration) copyBooks(ctx context.Context) error {
	books, err := m.local.Books(ctx)
	if err != nil {
		return err
	}
	for name, record := range books {
		if err := m.shared.CopyBook(ctx, name, record); err != nil {
			return err
		}
	}
	m.report.Books = len(books)
	return nil
}

// shownDifferences is how many differences are printed one by one.
const shownDifferences = 50

func (a *app) printMigrated(r *migrateReport) {
	a.printf("from    %s\nto      Firestore %s\n", r.From, r.To)
	if r.Already {
		a.printf("already done: the ledger is open to every machine, and the local one marked as moved\n")
		return
	}
	g := r.Records
	a.printf("records total=%d keyed=%d raw_webhook=%d url_only=%d queued=%d odd=%d\n", g.Total, g.Keyed, g.RawWebhook, g.URLOnly, g.Queued, g.Odd)
	if r.DryRun {
		a.printf("nothing was copied (--dry-run)\n")
		return
	}
	a.printf("copied  created=%d replaced=%d same=%d books=%d\n", r.Created, r.Replaced, r.Same, r.Books)
	for i, d := range r.Differences {
		if i == shownDifferences {
			a.printf("differs … and %d more\n", len(r.Differences)-i)
			break
		}
		a.printf("differs %s\n", d)
	}
	if len(r.Differences) > 0 {
		a.printf("the two ledgers differ, so nothing was opened: the local one stays in use, and the guard with it\n")
		return
	}
	a.printf("verified every record is in Firestore as it is here\nopened  the ledger is open to every machine; the local one is marked as moved\n")
	a.printf("\nNext: set state.backend: firestore on every machine, `bot check`, and start them.\n")
}
