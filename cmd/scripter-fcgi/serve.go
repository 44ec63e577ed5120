package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"scripter/gateway"
)

// server answers the requests of all sockets: in this process (single) or by worker
// processes (master).
type server interface {
	pool
	// reload answers from s from now on. If moved is true, l replaces the resident
	// socket; it is nil if another server has that of the new root.
	reload(ctx context.Context, s rootConf, l net.Listener, moved bool) error
	// failed returns the error of a socket that is not served any more.
	failed() <-chan error
	// shutdown accepts no more connections and finishes the requests under way.
	shutdown(ctx context.Context) error
}

// serve opens the root and the sockets, and answers requests until ctx ends.
func serve(ctx context.Context, o options, env []string, log *slog.Logger) error {
	named := rootConf{o.root, o.reach}
	o.find = func() (rootConf, error) { return findRoot(named, env, log) }
	d := newService(o, log)
	defer d.stop()
	err := openLog(o.log)
	if err != nil {
		return err
	}
	found, err := o.find()
	if err != nil {
		return err
	}
	o.root, o.reach = found.root, found.reach
	d.root.Store(&found.root)
	db, err := openDB(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	bounds, err := checkRoot(ctx, db, o.reach, log)
	if err != nil {
		return err
	}
	if o.fixed = o.workers >= 0; !o.fixed {
		o.workers = workersFor(o, bounds)
	}
	ls, err := listenAll(o, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.idleExit > 0 {
		go ls.lastUse.exitWhenIdle(ctx, o.idleExit, cancel, log)
	}
	if o.status != "" {
		sl, err := listenStatus(o.status, o)
		if err != nil {
			return err
		}
		defer d.status.serve(sl, log)()
		log.Info("showing the status", "addr", sl.Addr().String())
	}
	for _, l := range ls.all() {
		log.Info("listening", "addr", l.Addr().String(), "responder", o.responder, "workers", o.workers)
	}
	d.supervisor, d.where = supervisorOf(env, log), ls.all()[0].Addr().String()
	if o.workers > 0 {
		// This process runs no script, so no script can harm what it holds.
		if err := db.Close(); err != nil {
			return err
		}
		var handOver func(fd int) error
		if o.handOver {
			handOver = d.supervisor.store
		}
		m, err := startMaster(o, bounds, ls, handOver, log)
		if err != nil {
			return err
		}
		defer m.close()
		return d.run(ctx, m, ls)
	}
	for _, f := range ls.passed { // of a process with workers: the web server connects again
		f.Close()
	}
	s, err := newSingle(found, db, log)
	if err != nil {
		return err
	}
	defer s.close()
	if o.responder == "std" {
		d.begin(s)
		return serveStd(ctx, ls.web, s.root.gateway)
	}
	s.listen(ls)
	return d.run(ctx, s, ls)
}

// run answers requests with s until ctx ends or a socket fails.
func (d *service) run(ctx context.Context, s server, ls *sockets) error {
	d.begin(s)
	for ctx.Err() == nil {
		select {
		case err := <-s.failed():
			return err
		case <-d.hup:
			d.reload(func(to rootConf) error {
				return ls.move(to.root, d.log, func(l net.Listener, moved bool) error { return s.reload(ctx, to, l, moved) })
			})
		case <-ctx.Done():
		}
	}
	d.stopping()
	return drain(d.o.drain, s.shutdown)
}

// drain gives the requests under way limit to finish.
func drain(limit time.Duration, shutdown func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		return fmt.Errorf("requests were still running after %v: %w", limit, err)
	}
	return nil
}

// workersFor returns how many scripts may run at a time, each in a process of its
// own. Programs that pass their socket as descriptor 0, such as mod_fcgid, start
// several of us: each is one process.
func workersFor(o options, b gateway.Bounds) int {
	if o.responder == "std" || o.listen == "" && os.Getenv("LISTEN_FDS") == "" {
		return 0
	}
	return atMost(b, defaultWorkers)
}

// atMost returns how many scripts the root's settings allow at a time, or otherwise if
// they set no limit.
func atMost(b gateway.Bounds, otherwise int) int {
	if b.Running == 0 {
		return otherwise
	}
	return min(b.Running, maxWorkers)
}
