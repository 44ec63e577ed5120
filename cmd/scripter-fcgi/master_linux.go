package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/metrics"
	"scripter/workers"
)

// defaultWorkers is how many scripts run at a time, each in a process of its own. Only
// as many processes are kept as are needed.
const defaultWorkers = 16

// maxWorkers is the largest number of workers.
const maxWorkers = 64

// reportInterval is how often workers are asked for their counts. If a worker is killed,
// its counts since its last report are lost.
const reportInterval = 5 * time.Second

// master answers requests by worker processes.
type master struct {
	o             options
	executable    string
	web, resident detached
	workers       *workers.Pool
	agent         atomic.Pointer[agent]
	log           *slog.Logger
	sum           tally
	limit         bodyLimit
	stopAsking    context.CancelFunc
	handOver      func(fd int) error // see workers.Options
}

// startMaster starts the workers. The master must be closed. handOver may be nil.
func startMaster(
	o options, bounds gateway.Bounds, ls *sockets, handOver func(fd int) error, log *slog.Logger,
) (*master, error) {
	m := &master{o: o, log: log, limit: bodyLimit{root: o.root}, handOver: handOver}
	ctx, cancel := context.WithCancel(context.Background())
	m.stopAsking = cancel
	if err := m.start(bounds, ls); err != nil {
		m.close()
		return nil, err
	}
	go m.askRegularly(ctx)
	return m, nil
}

func (m *master) start(bounds gateway.Bounds, ls *sockets) (err error) {
	if m.executable, err = ownProgram(); err != nil {
		return err
	}
	if m.web, err = detach(ls.web); err != nil {
		return err
	}
	if m.resident, err = detach(ls.resident); err != nil {
		return err
	}
	s := rootConf{m.o.root, m.o.reach}
	options := m.poolOptions(s, m.resident, m.o.workers, bounds)
	options.Adopted, options.HandOver = ls.passed, m.handOver
	if m.workers, err = workers.Start(options); err != nil {
		return err
	}
	a, err := startMasterAgent(s, m.log)
	m.agent.Store(a)
	return err
}

// poolOptions returns the options of the pool for the root s.
func (m *master) poolOptions(s rootConf, resident detached, limit int, bounds gateway.Bounds) workers.Options {
	return workers.Options{
		// The command starts a worker on the root.
		Command:        append([]string{m.executable, "--root", s.root}, s.reach.Flags()...),
		Listeners:      files(m.web, resident),
		Drain:          m.o.listen != "",
		Max:            limit,
		Waiting:        bounds.Waiting,
		MaxBody:        bounds.Body,
		CurrentMaxBody: m.limit.current,
		Lost:           func(l workers.Loss) []byte { return lost(m.log, &m.sum, l) },
		Report:         m.addReport,
		Log:            func(err error) { m.log.Warn("workers", "err", err) },
	}
}

func (m *master) close() {
	m.stopAsking()
	m.stopAgent()
	m.web.close()
	m.resident.close()
}

func (m *master) shutdown(ctx context.Context) error {
	m.stopAsking()
	m.web.removeFile() // new connections go to the next listener
	m.resident.removeFile()
	var agent sync.WaitGroup
	agent.Go(m.stopAgent)
	defer agent.Wait()
	return m.workers.Shutdown(ctx)
}

// failed returns nil: the workers accept, and the pool replaces those that end.
func (m *master) failed() <-chan error { return nil }

func (m *master) reload(ctx context.Context, s rootConf, l net.Listener, moved bool) error {
	resident := m.resident
	if moved {
		var err error
		if resident, err = detach(l); err != nil {
			return err
		}
	}
	if err := m.restart(ctx, s, resident); err != nil {
		if moved {
			resident.close()
		}
		return err
	}
	if moved {
		m.resident.close()
		m.resident = resident
	}
	return nil
}

// restart reads the settings of a root and starts new workers on it. If the root cannot
// be opened, nothing changes.
func (m *master) restart(ctx context.Context, s rootConf, resident detached) error {
	db, err := openDB(s.root)
	if err != nil {
		return err
	}
	b, err := checkRoot(ctx, db, s.reach, m.log)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	limit := m.o.workers
	if !m.o.fixed {
		limit = atMost(b, defaultWorkers)
	}
	next, err := startMasterAgent(s, m.log)
	if err != nil {
		return err
	}
	if old := m.agent.Swap(next); old != nil {
		go old.stop() // two agents do nothing twice
	}
	m.limit.move(s.root)
	return m.workers.Reload(m.poolOptions(s, resident, limit, b))
}

// stopAgent stops the agent, once.
func (m *master) stopAgent() {
	if a := m.agent.Swap(nil); a != nil {
		a.stop()
	}
}

// askRegularly asks the workers for their counts until ctx ends.
func (m *master) askRegularly(ctx context.Context) {
	ticks := time.NewTicker(reportInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			m.ask(ctx)
		}
	}
}

func (m *master) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	m.workers.Ask(ctx)
}

// addReport adds what a worker has counted since its last report.
func (m *master) addReport(text []byte) {
	var c metrics.Counts
	if json.Unmarshal(text, &c) == nil {
		m.sum.add(c)
	}
}

func (m *master) counts() metrics.Counts {
	m.ask(context.Background())
	return m.sum.counts()
}

func (m *master) facts() poolFacts {
	s := m.workers.Status()
	f := poolFacts{Agent: m.agent.Load().counts(), Waiting: s.Waiting, Restarts: uint64(s.Replaced), Kills: map[string]uint64{}}
	for _, reason := range []workers.Reason{workers.Crashed, workers.TooLong, workers.TooLarge, workers.Hung} {
		if n := s.Lost[reason]; n > 0 {
			f.Kills[string(reason)] = uint64(n)
		}
	}
	for _, w := range s.Workers {
		one := workerFacts{PID: w.Pid, State: w.State, Requests: uint64(w.Served), Started: w.Since}
		if w.Running > 0 {
			f.Running++
			one.Since = time.Now().Add(-w.Running)
		}
		f.Workers = append(f.Workers, one)
	}
	return f
}

// detached is a listening socket from which the workers accept. The zero value is none.
type detached struct {
	file   *os.File
	unlink func()
}

// detach takes the socket of l, which may be nil.
func detach(l net.Listener) (d detached, err error) {
	if l != nil {
		d.file, d.unlink, err = fcgi.Detach(l)
	}
	return d, err
}

// removeFile removes the socket's file.
func (d detached) removeFile() {
	if d.unlink != nil {
		d.unlink()
	}
}

func (d detached) close() {
	d.removeFile()
	if d.file != nil {
		d.file.Close()
	}
}

func files(ds ...detached) (fs []*os.File) {
	for _, d := range ds {
		if d.file != nil {
			fs = append(fs, d.file)
		}
	}
	return fs
}

// ownProgram returns the program that this process runs, even if its file was replaced.
// A newer program would not understand the shared memory of this one.
func ownProgram() (string, error) {
	const own = "/proc/self/exe"
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return os.Executable()
}
