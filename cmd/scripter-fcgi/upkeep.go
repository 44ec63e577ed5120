package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"scripter/gateway"
)

// upkeep is what the program does beside answering: it tells its supervisor and
// the status how it is, and begins anew with its log and its root when it is told
// to, by SIGHUP.
type upkeep struct {
	o          options
	supervisor *supervisor
	where      string // it answers
	status     *status
	log        *slog.Logger

	hup    chan os.Signal
	ctx    context.Context // until stop
	cancel context.CancelFunc
}

// newUpkeep listens to SIGHUP from now on: one that comes before the program is
// ready for it is obeyed then.
func newUpkeep(o options, log *slog.Logger) *upkeep {
	u := &upkeep{o: o, status: &status{started: time.Now()}, log: log, hup: make(chan os.Signal, 1)}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	signal.Notify(u.hup, syscall.SIGHUP)
	return u
}

// begin tells that requests are answered from now on.
func (u *upkeep) begin(counts func() gateway.Counts, p pool) {
	u.status.tell(counts, p)
	u.supervisor.ready("answering on " + u.where)
	go u.supervisor.watchdog(u.ctx, func() { p.Facts() })
}

// again opens the log file again, finds the root that is named now and what it may use,
// and calls take with it. On an error everything stays as it is.
func (u *upkeep) again(take func(s served) error) {
	u.supervisor.reloading()
	err := openLog(u.o.log)
	if err == nil {
		var s served
		if s, err = u.o.find(); err == nil {
			err = take(s)
		}
	}
	if err != nil {
		u.log.Error("SIGHUP: what was read before still counts", "err", err)
	} else {
		u.log.Info("SIGHUP: log file, scripter.conf and settings were read again")
	}
	u.supervisor.ready("answering on " + u.where)
}

// stopping tells that the program ends when the requests under way are answered.
func (u *upkeep) stopping() {
	u.status.stopping.Store(true)
	u.supervisor.stopping()
	u.log.Info("stopping: requests under way are finished")
}

func (u *upkeep) stop() {
	signal.Stop(u.hup)
	u.cancel()
}
