package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"scripter/metrics"
	"scripter/rootname"
)

// service does what the program does beside answering requests: it informs its
// supervisor and the status page, and reloads on SIGHUP.
type service struct {
	o          options
	supervisor *supervisor
	where      string // the address that it listens on
	status     *status
	log        *slog.Logger

	root   atomic.Pointer[string] // path of the root that is answered from
	hour   sync.WaitGroup         // the recorder of the last hour
	hup    chan os.Signal
	ctx    context.Context // until stop
	cancel context.CancelFunc
}

// newService receives SIGHUP from now on. A SIGHUP that comes before the program is ready
// is handled then.
func newService(o options, log *slog.Logger) *service {
	d := &service{o: o, status: &status{started: time.Now()}, log: log, hup: make(chan os.Signal, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	signal.Notify(d.hup, syscall.SIGHUP)
	return d
}

// begin reports that requests are answered from now on.
func (d *service) begin(p pool) {
	d.status.show(p)
	h := metrics.HourRecorder{Root: d.localPath, Read: d.reading}
	d.hour.Go(func() { h.Run(d.ctx, func(err error) { d.log.Warn("the web page shows no minutes", "err", err) }) })
	d.supervisor.ready("answering on " + d.where)
	go d.supervisor.watchdog(d.ctx, func() { p.facts() })
}

// localPath returns the path of the root's files on this host.
func (d *service) localPath() string {
	path, err := rootname.LocalPath(*d.root.Load())
	if err != nil {
		d.log.Warn("there are no files on this host", "err", err)
	}
	return path
}

// reading returns what the last hour is made of.
func (d *service) reading() metrics.Reading {
	counts, facts := d.status.facts()
	r := metrics.Reading{Counts: counts, Running: facts.Running, Waiting: facts.Waiting}
	for _, w := range facts.Workers {
		r.Workers = append(r.Workers, w.PID)
	}
	return r
}

// reload opens the log file again, finds the root that is named now and what it may use,
// and calls change with it. On an error everything stays as it is.
func (d *service) reload(change func(s rootConf) error) {
	d.supervisor.reloading()
	err := openLog(d.o.log)
	if err == nil {
		var s rootConf
		if s, err = d.o.find(); err == nil {
			if err = change(s); err == nil {
				d.root.Store(&s.root)
			}
		}
	}
	if err != nil {
		d.log.Error("SIGHUP: what was read before still counts", "err", err)
	} else {
		d.log.Info("SIGHUP: log file, scripter.conf and settings were read again")
	}
	d.supervisor.ready("answering on " + d.where)
}

// stopping reports that the program ends when the requests under way are finished.
func (d *service) stopping() {
	d.status.stopping.Store(true)
	d.supervisor.stopping()
	d.log.Info("stopping: requests under way are finished")
}

func (d *service) stop() {
	signal.Stop(d.hup)
	d.cancel()
	d.hour.Wait()
}
