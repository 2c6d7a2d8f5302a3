package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// listen serves /healthz and /metrics at the address until stop is called. Empty:
// nowhere.
func (d *daemon) listen(ctx context.Context, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", d.health)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		d.metrics.write(w)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	go server.Serve(listener) //nolint:errcheck // it ends with Close
	d.log.Info("listening", "address", listener.Addr().String())
	return func() { server.Close() }, nil
}

// jobHealth is one job at /healthz.
type jobHealth struct {
	Running     bool     `json:"running"`
	LastRun     jsonTime `json:"last_run"`
	LastSuccess jsonTime `json:"last_success"`
	Error       string   `json:"error,omitempty"`
}

// health answers 200 while the last run of each job did its work, or there was none
// yet, and else 503.
func (d *daemon) health(w http.ResponseWriter, _ *http.Request) {
	status, jobs := http.StatusOK, make(map[string]jobHealth)
	d.mu.Lock()
	for _, j := range d.jobs {
		jobs[j.name] = jobHealth{j.running, jsonTime(j.lastAt), jsonTime(j.goodAt), j.lastErr}
		if j.broken {
			status = http.StatusServiceUnavailable
		}
	}
	d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Whoever asked may be gone already.
	_ = json.NewEncoder(w).Encode(jobs)
}

// pingLimit bounds one ping, which nothing depends on.
const pingLimit = 10 * time.Second

// tell pings the address of the config, as healthchecks.io and its kin want it:
// with /start behind the path, /fail, or nothing for success.
func (d *daemon) tell(ctx context.Context, suffix, body string) {
	if d.ping == "" {
		return
	}
	u, err := url.Parse(d.ping)
	if err != nil {
		return // config has seen that it is one
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + suffix
	// The last one is sent even if the daemon is being stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := d.env.HTTP.Do(req)
	if err != nil {
		// The error would name the address, which may be secret.
		d.log.Warn("ping failed", "ping", cmp.Or(suffix, "success"))
		return
	}
	resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		d.log.Warn("ping refused", "ping", cmp.Or(suffix, "success"), "status", resp.StatusCode)
	}
}
