package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"scripter/fcgi"
	"scripter/workers"
)

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
	g, err := newGateway(db, o.reach, log, w)
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
