package cmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"bot/queue"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"
)

func newServeCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run enqueue and process on their schedules until stopped",
		Long: "Run enqueue and process on the schedules of the config's serve section, until SIGTERM or an interrupt.\n" +
			"The send in flight is then finished and recorded. The config is read anew for each run.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runServe(c.Context()) },
	}
}

// tick is how often, in real time, it is looked whether a job is due, so that a
// clock that is set, or a machine that slept, is noticed.
const tick = 250 * time.Millisecond

// daemon runs jobs on schedules.
type daemon struct {
	*app
	metrics *metrics
	ping    string

	mu   sync.Mutex
	jobs []*job
}

// job is one command that runs on a schedule, and never twice at a time.
type job struct {
	name     string
	schedule cron.Schedule
	do       func(context.Context, *fleet) (summary string, err error)

	// Under the daemon's mu: how the last run ended, and when; and when one that
	// did not fail ended last.
	lastErr        string
	lastAt, goodAt time.Time
	running        bool
	// failed: it failed, or somebody has to act. broken: it failed.
	failed, broken bool
}

func (a *app) runServe(ctx context.Context) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	// What would refuse every run is said now, with the exit code of any command.
	store, err := a.openStore(ctx, f, true)
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	d := &daemon{app: a, metrics: newMetrics(), ping: f.cfg.Serve.Ping}
	for _, j := range []*job{
		{name: "enqueue", do: d.enqueueOnce},
		{name: "process", do: d.processOnce},
	} {
		text := f.cfg.Serve.Enqueue
		if j.name == "process" {
			text = f.cfg.Serve.Process
		}
		schedule, err := queue.ParseSchedule(text.Value, f.cfg.Timezone)
		if err != nil {
			return text.Errorf("%s: %v", j.name, err)
		}
		j.schedule = schedule
		d.jobs = append(d.jobs, j)
	}
	stop, err := d.listen(ctx, f.cfg.Serve.Listen)
	if err != nil {
		return err
	}
	defer stop()
	from := a.env.Now()
	a.log.Info("serving", "enqueue", f.cfg.Serve.Enqueue.Value, "process", f.cfg.Serve.Process.Value, "timezone", f.cfg.Timezone.String())
	var wg sync.WaitGroup
	for _, j := range d.jobs {
		wg.Go(func() { d.loop(ctx, j, from) })
	}
	wg.Wait()
	// To be stopped is how a daemon ends.
	a.log.Info("stopped")
	return nil
}

// loop runs a job whenever its schedule says so, from then on. Times that pass while it runs are
// not made up for: it looks at everything that is due anyway.
func (d *daemon) loop(ctx context.Context, j *job, from time.Time) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		next := j.schedule.Next(from)
		for {
			now := d.env.Now()
			if now.Before(from) {
				// The clock was set back.
				from = now
				next = j.schedule.Next(from)
			}
			if !now.Before(next) {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		if ctx.Err() != nil {
			return
		}
		d.run(ctx, j)
		from = d.env.Now()
	}
}

// run makes one run of a job, and tells everybody how it went.
func (d *daemon) run(ctx context.Context, j *job) {
	d.mu.Lock()
	j.running = true
	d.mu.Unlock()
	d.tell(ctx, "/start", j.name)
	begin := d.env.Now()
	summary, err := d.once(ctx, j)
	took := d.env.Now().Sub(begin)

	code := exitCode(ctx, err, true)
	failed := code != exitDone && code != exitPartly && code != exitInterrupted
	if err != nil && !errors.As(err, new(outcome)) {
		summary = err.Error()
		d.log.Error("run failed", "job", j.name, "error", err)
	} else {
		d.log.Info("run", "job", j.name, "result", summary, "exit", code)
	}
	d.mu.Lock()
	now := d.env.Now()
	j.running, j.lastAt, j.lastErr = false, now, ""
	j.failed, j.broken = failed, failed && code != exitNeedsPerson
	if j.broken {
		j.lastErr = summary
	} else {
		j.goodAt = now
	}
	// One job that goes well does not hide that the other does not.
	allWell := true
	for _, other := range d.jobs {
		allWell = allWell && !other.failed
	}
	d.mu.Unlock()
	d.metrics.ran(j.name, code, took)
	switch {
	case failed:
		d.tell(ctx, "/fail", j.name+": "+summary)
	case allWell:
		d.tell(ctx, "", j.name+": "+summary)
	}
}

// once makes one run with the config and the ledger as they are now. A panic is an
// error of this run alone.
func (d *daemon) once(ctx context.Context, j *job) (summary string, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("panic", "job", j.name, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in %s, see the log", j.name)
		}
	}()
	err = d.writing(ctx, func(ctx context.Context, f *fleet) error {
		var err error
		summary, err = j.do(ctx, f)
		return errors.Join(err, d.metrics.look(ctx, f))
	})
	return summary, err
}

func (d *daemon) enqueueOnce(ctx context.Context, f *fleet) (string, error) {
	report, err := d.enqueue(ctx, f, enqueueOptions{})
	if err != nil {
		return "", err
	}
	for _, s := range report.Sources {
		d.metrics.fetched(s.Name, s.Status)
	}
	return report.sum(), finish(ctx, report.partly, report.Held > 0)
}

func (d *daemon) processOnce(ctx context.Context, f *fleet) (string, error) {
	report, err := d.processWith(ctx, f, processOptions{}, d.metrics.observe)
	for _, e := range report.Entries {
		d.metrics.sent(e.Destination, e.Outcome)
		d.log.Info("sent", "id", e.ID, "destination", e.Destination, "url", e.URL, "outcome", e.Outcome, "status", e.Status, "error", e.Error)
	}
	if err != nil && ctx.Err() == nil {
		return "", err
	}
	return report.sum(), finish(ctx, report.Later > 0, report.needsPerson)
}
