package cmd

import (
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"bot/queue"

	vm "github.com/VictoriaMetrics/metrics"
)

// stepSeconds are the buckets of everything that is timed, in seconds.
var stepSeconds = []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// metrics are what the daemon counts, in the text format of Prometheus. A series is
// there from its first event on.
type metrics struct {
	counted *vm.Set

	mu sync.Mutex
	// waiting is what the last look found, which replaces what the look before found.
	waiting *vm.Set
}

func newMetrics() *metrics { return &metrics{counted: vm.NewSet(), waiting: vm.NewSet()} }

// series names one series: its labels are pairs of name and value.
func series(name string, labels ...string) string {
	text, separator := name, "{"
	for i := 0; i < len(labels); i += 2 {
		text += separator + labels[i] + "=" + strconv.Quote(labels[i+1])
		separator = ","
	}
	if len(labels) > 0 {
		text += "}"
	}
	return text
}

func (m *metrics) count(name string, labels ...string) {
	m.counted.GetOrCreateCounter(series(name, labels...)).Inc()
}

func (m *metrics) time(took time.Duration, name string, labels ...string) {
	m.counted.GetOrCreatePrometheusHistogramExt(series(name, labels...), stepSeconds).Update(took.Seconds())
}

// observe is told how long the steps of a send took.
func (m *metrics) observe(step string, took time.Duration) { m.time(took, "bot_"+step+"_seconds") }

func (m *metrics) sent(destination, outcome string) {
	m.count("bot_sends_total", "destination", destination, "outcome", outcome)
}

func (m *metrics) fetched(source, status string) {
	m.count("bot_source_fetches_total", "source", source, "status", status)
}

func (m *metrics) ran(job string, code int, took time.Duration) {
	m.count("bot_runs_total", "job", job, "exit", strconv.Itoa(code))
	m.time(took, "bot_run_seconds", "job", job)
}

// write writes all series as Prometheus reads them.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	waiting := m.waiting
	m.mu.Unlock()
	waiting.WritePrometheus(w)
	m.counted.WritePrometheus(w)
}

// look counts what waits.
func (m *metrics) look(ctx context.Context, f *fleet) error {
	type kind struct {
		state       queue.Status
		destination string
	}
	// Known ones without entries are zero, rather than absent.
	counts := make(map[kind]int)
	for _, name := range f.destinationNames() {
		for _, s := range queue.Statuses {
			if !s.Final() {
				counts[kind{s, name}] = 0
			}
		}
	}
	now := f.queue.Now()
	var lag time.Duration
	// After an interruption too, since the run that was is to be told of.
	for e, err := range f.queue.Store.Waiting(context.WithoutCancel(ctx)) {
		if err != nil {
			return err
		}
		counts[kind{e.Status, f.nameOf(e)}]++
		if e.Status == queue.Queued {
			lag = max(lag, now.Sub(e.DueAt))
		}
	}
	found := vm.NewSet()
	for k, n := range counts {
		found.GetOrCreateGauge(series("bot_queue_entries", "destination", k.destination, "state", string(k.state)), nil).Set(float64(n))
	}
	found.GetOrCreateGauge("bot_queue_lag_seconds", nil).Set(lag.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = found
	return nil
}
