package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
)

// The status tells whoever looks after the program what it does. It has a
// socket of its own (--status) and is on no path that a visitor could ask for.

// pool tells what the program's workers do.
type pool interface {
	Facts() poolFacts
}

// poolFacts are the workers at one moment, and what became of earlier ones.
type poolFacts struct {
	Workers  []workerFacts     `json:"workers"`
	Running  int               `json:"running"`  // requests under way
	Waiting  int               `json:"waiting"`  // requests that wait for their turn
	Restarts uint64            `json:"restarts"` // workers that were started in the place of others
	Kills    map[string]uint64 `json:"kills"`    // workers that were ended, by reason
}

// workerFacts are one worker.
type workerFacts struct {
	PID      int       `json:"pid"`
	State    string    `json:"state"` // "idle", "running", "starting" …
	Requests uint64    `json:"requests"`
	Started  time.Time `json:"started"`
	// Since is when the request under way began; zero when there is none.
	Since time.Time `json:"since,omitzero"`
}

// tally adds up what gateways have done, in this process or in others that send
// their counts.
type tally struct {
	take func() gateway.Counts // of this process; nil when others send all

	mu  sync.Mutex
	sum gateway.Counts
}

func (t *tally) add(c gateway.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Add(c)
}

func (t *tally) counts() gateway.Counts {
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
	stopping atomic.Bool // the ping says so, and whoever balances load goes elsewhere

	mu     sync.Mutex
	counts func() gateway.Counts
	pool   pool
}

// tell says where the status is to be had from.
func (s *status) tell(counts func() gateway.Counts, p pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts, s.pool = counts, p
}

// facts returns what there is to show; nothing while the program starts.
func (s *status) facts() (c gateway.Counts, f poolFacts) {
	s.mu.Lock()
	counts, pool := s.counts, s.pool
	s.mu.Unlock()
	if pool != nil {
		c, f = counts(), pool.Facts()
	}
	return c, f
}

func (s *status) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !namesThisMachine(r.Host):
		// A page of another site, whose name was bound to 127.0.0.1, must not read it.
		http.Error(w, "this is the status of a program, for its own machine", http.StatusMisdirectedRequest)
	case r.URL.Path != "/-/ping" && r.URL.Path != "/-/status":
		http.Error(w, "there are /-/ping and /-/status", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the status answers GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/-/ping":
		s.ping(w)
	default:
		s.show(w, r)
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

// show answers in the form that the query names, else in that which the
// client takes: a browser and curl get text, Prometheus its own.
func (s *status) show(w http.ResponseWriter, r *http.Request) {
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

// formOf reads an Accept field: the first of its types that there is.
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

// namesThisMachine tells whether a Host field is what one asks a socket of
// this machine by: nothing, an address, or localhost.
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

// listenStatus opens the socket of the status: a unix socket with the modes of
// the other one, or a loopback address, whatever web servers are trusted.
func listenStatus(spec string, o options) (net.Listener, error) {
	if !strings.HasPrefix(spec, "unix:") {
		addr, err := net.ResolveTCPAddr("tcp", spec)
		if err != nil {
			return nil, fmt.Errorf("--status %s: %w: want unix:PATH or HOST:PORT", spec, err)
		}
		if !addr.IP.IsLoopback() {
			return nil, fmt.Errorf("--status %s: the status is shown to its own machine only: use a unix socket or a loopback address", spec)
		}
	}
	l, err := fcgi.Listen(spec, fcgi.ListenOptions{Mode: o.mode, Group: o.group})
	if err != nil {
		return nil, fmt.Errorf("--status: %w", err)
	}
	return l, nil
}

// serve answers on l until the function it gives is called.
func (s *status) serve(l net.Listener, log *slog.Logger) (stop func()) {
	server := &http.Server{
		Handler: s, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
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

// alone is the pool of a program that has no workers: itself.
type alone struct {
	load    func() gateway.Load
	counts  func() gateway.Counts
	started time.Time
}

func (a alone) Facts() poolFacts {
	load := a.load()
	c := a.counts()
	self := workerFacts{PID: os.Getpid(), State: "idle", Requests: c.Requests(), Started: a.started}
	if load.Running > 0 {
		self.State = "running"
	}
	return poolFacts{Workers: []workerFacts{self}, Running: load.Running, Waiting: load.Waiting}
}
