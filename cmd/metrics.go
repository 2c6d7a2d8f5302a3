package cmd

import (
	"context"
	"strconv"
	"time"

	"bot/queue"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the daemon counts.
type metrics struct {
	registry       *prometheus.Registry
	waiting        *prometheus.GaugeVec
	lag            prometheus.Gauge
	sends, fetches *prometheus.CounterVec
	runs           *prometheus.CounterVec
	runTime        *prometheus.HistogramVec
	claims, posts  prometheus.Histogram
}

func newMetrics() *metrics {
	buckets := []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		waiting:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "bot_queue_entries", Help: "Entries that are not posted, by state and destination."}, []string{"state", "destination"}),
		lag:      prometheus.NewGauge(prometheus.GaugeOpts{Name: "bot_queue_lag_seconds", Help: "How long the oldest due entry has been due."}),
		sends:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bot_sends_total", Help: "Attempts to send, by destination and outcome."}, []string{"destination", "outcome"}),
		fetches:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bot_source_fetches_total", Help: "Readings of sources, by how they ended."}, []string{"source", "status"}),
		runs:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bot_runs_total", Help: "Runs, by job and exit code."}, []string{"job", "exit"}),
		runTime:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bot_run_seconds", Help: "How long runs took.", Buckets: buckets}, []string{"job"}),
		claims:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bot_claim_seconds", Help: "How long claims took.", Buckets: buckets}),
		posts:    prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bot_send_seconds", Help: "How long sends took.", Buckets: buckets}),
	}
	m.registry.MustRegister(m.waiting, m.lag, m.sends, m.fetches, m.runs, m.runTime, m.claims, m.posts)
	return m
}

// observe is told how long the steps of a send took.
func (m *metrics) observe(step string, took time.Duration) {
	if step == "claim" {
		m.claims.Observe(took.Seconds())
	} else {
		m.posts.Observe(took.Seconds())
	}
}

func (m *metrics) ran(job string, code int, took time.Duration) {
	m.runs.WithLabelValues(job, strconv.Itoa(code)).Inc()
	m.runTime.WithLabelValues(job).Observe(took.Seconds())
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
	m.waiting.Reset()
	for k, n := range counts {
		m.waiting.WithLabelValues(string(k.state), k.destination).Set(float64(n))
	}
	m.lag.Set(lag.Seconds())
	return nil
}
