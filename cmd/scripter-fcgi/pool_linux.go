package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/workers"
)

// defaultWorkers is how many scripts run at a time at most, each in a process
// of its own. Only as many processes are kept as are needed.
const defaultWorkers = 16

// maxWorkers is how many there can be.
const maxWorkers = 64

// servePool answers by worker processes until ctx ends.
func servePool(ctx context.Context, o options, bounds gateway.Bounds, ls []net.Listener, u *upkeep, log *slog.Logger) error {
	executable, err := ownProgram()
	if err != nil {
		return err
	}
	var files []*os.File
	var removes []func()
	for _, l := range ls {
		f, remove, err := fcgi.Detach(l)
		if err != nil {
			return err
		}
		defer f.Close()
		defer remove()
		files, removes = append(files, f), append(removes, remove)
	}
	sums := &tally{}
	p, err := workers.Start(workers.Options{
		Command:   workerCommand(executable, o.root),
		Listeners: files,
		Drain:     o.listen != "",
		Max:       o.workers,
		Waiting:   bounds.Waiting,
		Body:      readAhead(bounds),
		Lost:      func(l workers.Loss) []byte { return lost(log, sums, l) },
		Told:      sums.told,
		Log:       func(err error) { log.Warn("workers", "err", err) },
	})
	if err != nil {
		return err
	}
	many := &many{Pool: p, sums: sums}
	u.begin(many.counts, many)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-u.hup:
			u.again(func(root string) error {
				o.root = root
				return again(ctx, p, executable, o)
			})
		case <-time.After(askEvery):
			many.ask()
		}
	}
	u.stopping()
	for _, remove := range removes {
		remove() // whoever comes now goes elsewhere
	}
	return drain(o.drain, p.Shutdown)
}

// readAhead returns how much of a request is read before a worker gets it: a
// body that is not too large, with its variables and the heads of its records.
func readAhead(b gateway.Bounds) int64 { return b.Body + b.Body/16 + 512<<10 }

// ownProgram returns what to start workers from: the program that this process
// runs, whatever lies under its name by now. A newer one would not understand
// this one's memory.
func ownProgram() (string, error) {
	const own = "/proc/self/exe"
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return os.Executable()
}

// workerCommand starts a worker on a root.
func workerCommand(executable, root string) []string { return []string{executable, "--root", root} }

// again reads the settings of a root that may be another one now, and starts
// new workers on it. A root that cannot be opened leaves the workers as they are.
func again(ctx context.Context, p *workers.Pool, executable string, o options) error {
	db, err := openRoot(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	b, err := readBounds(ctx, db)
	if err != nil {
		return err
	}
	most := o.workers
	if !o.fixed {
		most = atMost(b, most)
	}
	p.Command(workerCommand(executable, o.root))
	p.Resize(most, b.Waiting, readAhead(b))
	return p.Reload()
}

// many is the status of a pool.
type many struct {
	*workers.Pool
	sums *tally
}

// askEvery is how often workers are asked for their counts, which one that is
// killed takes with it.
const askEvery = 5 * time.Second

func (m *many) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.Ask(ctx)
}

func (m *many) counts() gateway.Counts {
	m.ask()
	return m.sums.counts()
}

// told adds what a worker has counted since it told before.
func (t *tally) told(text []byte) {
	var c gateway.Counts
	if json.Unmarshal(text, &c) == nil {
		t.add(c)
	}
}

func (m *many) Facts() poolFacts {
	ws, facts, _, waiting := m.Status()
	f := poolFacts{Waiting: waiting, Restarts: uint64(facts.Replaced), Kills: map[string]uint64{}}
	for reason, n := range facts.Lost {
		f.Kills[string(reason)] = uint64(n)
	}
	for _, w := range ws {
		one := workerFacts{PID: w.Pid, State: w.State, Requests: uint64(w.Served), Started: w.Since}
		if w.Running > 0 {
			f.Running++
			one.Since = time.Now().Add(-w.Running)
		}
		f.Workers = append(f.Workers, one)
	}
	return f
}

// lost logs and counts a request that has no answer, and makes one.
func lost(log *slog.Logger, sums *tally, l workers.Loss) []byte {
	status, what, limit := 500, "worker died", ""
	switch l.Reason {
	case workers.TooLong:
		what, limit = "script killed: it overran its time limit where the language could not stop it", "maxTime"
	case workers.TooLarge:
		what, limit = "script killed: it overran its memory limit where the language could not stop it", "maxMemory"
	case workers.Hung:
		what = "worker killed: it did nothing any more"
	case workers.Refused:
		status, what, limit = 503, "too many requests are waiting", "maxWaiting"
	case workers.TooSlow:
		status, what = 408, "a request did not arrive in time"
	}
	answer, incident := gateway.LostAnswer(status)
	args := []any{"status", status, "ran", l.Ran.Round(time.Millisecond)}
	if incident != "" {
		args = append(args, "id", incident)
	}
	if l.Pid != 0 {
		args = append(args, "pid", l.Pid, "err", l.Err)
	}
	if limit != "" {
		args = append(args, "limit", limit)
	}
	log.Error(what, args...)
	counts := gateway.LostCounts(status, l.Ran, limit)
	if incident != "" {
		counts.Incidents = 1
	}
	sums.add(counts)
	return answer
}

// runWorker serves as a worker, when this process was started as one.
func runWorker(args []string) (code int, is bool) {
	w, err := workers.Inherited()
	if w == nil && err == nil {
		return 0, false
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("worker", os.Getpid())
	if err == nil {
		// Signals are the master's business: it says when to end.
		signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
		err = work(w, args, log)
	}
	if err != nil {
		log.Error("worker ended", "err", err)
		return 1, true
	}
	return 0, true
}

func work(w *workers.Worker, args []string, log *slog.Logger) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	collectLess()
	db, err := openRoot(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	g, err := newGateway(db, log, w)
	if err != nil {
		return err
	}
	defer g.StartAutoSave()()
	w.Report = func() []byte {
		text, err := json.Marshal(g.TakeCounts())
		if err != nil {
			log.Error("counts", "err", err)
		}
		return text
	}
	handler, err := handlerFor(g, o.root)
	if err != nil {
		return err
	}
	return w.Serve(&fcgi.Server{Handler: handler, Log: func(err error) { log.Warn("fastcgi", "err", err) }})
}
