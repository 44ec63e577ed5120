package main

import (
	"context"
	"fmt"
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

// servePool answers by worker processes until ctx ends.
func servePool(ctx context.Context, o options, ls []net.Listener, log *slog.Logger) error {
	executable, err := os.Executable()
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
		files, removes = append(files, f), append(removes, remove)
	}
	p, err := workers.Start(workers.Options{
		Command:   []string{executable, "--root", o.root},
		Listeners: files,
		Drain:     o.listen != "",
		Max:       o.workers,
		Lost:      func(l workers.Loss) []byte { return lost(log, l) },
		Log:       func(err error) { log.Warn("workers", "err", err) },
	})
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-hangup:
			log.Info("starting new workers")
			if err := p.Reload(); err != nil {
				log.Error("new workers", "err", err)
			}
			continue
		case <-ctx.Done():
		}
		break
	}
	log.Info("stopping: requests under way are finished")
	for _, remove := range removes {
		remove() // whoever comes now goes elsewhere
	}
	end, cancel := context.WithTimeout(context.Background(), o.drain)
	defer cancel()
	if err := p.Shutdown(end); err != nil {
		return fmt.Errorf("requests were still running after %v: %w", o.drain, err)
	}
	return nil
}

// lost logs a request that has no answer and makes one.
func lost(log *slog.Logger, l workers.Loss) []byte {
	status, what := 500, "worker died"
	switch l.Reason {
	case workers.TooLong, workers.TooLarge:
		what = "script killed: it overran its " + string(l.Reason) + " limit where the language could not stop it"
	case workers.Refused:
		status, what = 503, "too many requests are waiting"
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
	switch l.Reason {
	case workers.TooLong, workers.TooLarge:
		args = append(args, "limit", string(l.Reason))
	}
	log.Error(what, args...)
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
	g, closeDB, err := open(o.root, log, w)
	if err != nil {
		return err
	}
	defer closeDB()
	defer g.StartAutoSave()()
	return w.Serve(&fcgi.Server{Handler: g.ServeFCGI, Log: func(err error) { log.Warn("fastcgi", "err", err) }})
}
