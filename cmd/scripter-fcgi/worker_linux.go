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

// runWorker serves as a worker if this process was started as one.
func runWorker(args []string) (code int, is bool) {
	w, err := workers.Inherited()
	if w == nil && err == nil {
		return 0, false
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("worker", os.Getpid())
	if err == nil {
		// The master handles signals, and tells its workers when to end.
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
	db, err := openDB(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	root, err := newOpenRoot(rootConf{o.root, o.reach}, db, log, w)
	if err != nil {
		return err
	}
	defer root.stopSave()
	w.Report = func() []byte {
		text, err := json.Marshal(root.gateway.TakeCounts())
		if err != nil {
			log.Error("counts", "err", err)
		}
		return text
	}
	return w.Serve(&fcgi.Server{Handler: root.handler, Log: func(err error) { log.Warn("fastcgi", "err", err) }})
}
