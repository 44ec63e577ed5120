package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/fcgi"
	"scripter/metrics"
	"scripter/scheduler"
)

// The status is for the operator. It has its own socket (--status), and no path that a
// visitor can request.

// pool describes the program's workers, and counts what they have done.
type pool interface {
	facts() poolFacts
	counts() metrics.Counts
}

// poolFacts describe the workers at one moment, and count earlier ones.
type poolFacts struct {
	Workers  []workerFacts     `json:"workers"`
	Running  int               `json:"running"`  // requests under way
	Waiting  int               `json:"waiting"`  // requests that wait
	Restarts uint64            `json:"restarts"` // workers that replaced others
	Kills    map[string]uint64 `json:"kills"`    // workers that died or were killed, by reason
	Agent    scheduler.Counts  `json:"agent"`    // the outbox and the schedule
}

// workerFacts describe one worker.
type workerFacts struct {
	PID      int       `json:"pid"`
	State    string    `json:"state"` // "idle", "running", "starting" …
	Requests uint64    `json:"requests"`
	Started  time.Time `json:"started"`
	// Since is when the request under way began; zero when there is none.
	Since time.Time `json:"since,omitzero"`
}

// tally adds up the counts of gateways, in this process or in others that report them.
type tally struct {
	take func() metrics.Counts // of this process; nil if others report all

	mu  sync.Mutex
	sum metrics.Counts
}

func (t *tally) add(c metrics.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Add(c)
}

func (t *tally) counts() metrics.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.take != nil {
		t.sum.Add(t.take())
	}
	return t.sum.Copy()
}

// status answers /-/ping and /-/status.
type status struct {
	started  time.Time
	stopping atomic.Bool // the ping says so, for load balancers

	mu   sync.Mutex
	pool pool // nil: the program is starting
}

// show makes p the pool that is shown.
func (s *status) show(p pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pool = p
}

// facts returns what there is to show: nothing while the program starts.
func (s *status) facts() (c metrics.Counts, f poolFacts) {
	s.mu.Lock()
	pool := s.pool
	s.mu.Unlock()
	if pool != nil {
		c, f = pool.counts(), pool.facts()
	}
	return c, f
}

func (s *status) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !namesThisMachine(r.Host):
		// DNS rebinding: a page of another site must not read the status.
		http.Error(w, "this is the status of a program, for its own machine", http.StatusMisdirectedRequest)
	case r.URL.Path != "/-/ping" && r.URL.Path != "/-/status":
		http.Error(w, "there are /-/ping and /-/status", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the status answers GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/-/ping":
		s.ping(w)
	default:
		s.serveStatus(w, r)
	}
}

func (s *status) ping(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.stopping.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "stopping")
		return
	}
	fmt.Fprintln(w, "pong")
}

// serveStatus answers in the format that the query names, else in one that the client
// accepts: a browser and curl get text, Prometheus gets its own format.
func (s *status) serveStatus(w http.ResponseWriter, r *http.Request) {
	form := r.URL.Query().Get("format")
	if form == "" {
		form = formOf(r.Header.Get("Accept"))
	}
	switch form {
	case "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		s.report().writeText(w)
	case "json":
		w.Header().Set("Content-Type", "application/json")
		s.report().writeJSON(w)
	case "openmetrics":
		s.report().serveMetrics(w, r)
	default:
		http.Error(w, "format is text, json or openmetrics", http.StatusBadRequest)
	}
}

// formOf returns the first format of an Accept field that the status has, or "text".
func formOf(accept string) string {
	for part := range strings.SplitSeq(accept, ",") {
		media, parameters, _ := strings.Cut(part, ";")
		switch strings.TrimSpace(media) {
		case "application/json":
			return "json"
		case "application/openmetrics-text":
			return "openmetrics"
		case "text/plain":
			if strings.Contains(parameters, "version=0.0.4") {
				return "openmetrics"
			}
			return "text"
		}
	}
	return "text"
}

// namesThisMachine reports whether a Host field is empty, an address or localhost.
func namesThisMachine(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if host == "" || strings.EqualFold(host, "localhost") {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// listenStatus opens the socket of the status: a unix socket with the mode of the one for web
// servers, or a loopback address. The addresses of allowed web servers do not matter.
func listenStatus(spec string, o options) (net.Listener, error) {
	if !strings.HasPrefix(spec, "unix:") {
		addr, err := net.ResolveTCPAddr("tcp", spec)
		if err != nil {
			return nil, fmt.Errorf("--status %s: %w: want unix:PATH or HOST:PORT", spec, err)
		}
		if !addr.IP.IsLoopback() {
			return nil, fmt.Errorf("--status %s: the status is shown to its own machine only: "+
				"use a unix socket or a loopback address", spec)
		}
	}
	l, err := fcgi.Listen(spec, fcgi.ListenOptions{Mode: o.mode, Group: o.group})
	if err != nil {
		return nil, fmt.Errorf("--status: %w", err)
	}
	return l, nil
}

// serve answers on l until stop is called.
func (s *status) serve(l net.Listener, log *slog.Logger) (stop func()) {
	server := &http.Server{
		Handler: s, MaxHeaderBytes: 16 << 10,
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the status is not answered any more", "err", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
		<-done
	}
}
