package main

import (
	"log/slog"

	"scripter/admin"
	"scripter/autosave"
	"scripter/fcgi"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/runner"
)

// openRoot is an open root with its gateway.
type openRoot struct {
	conf     rootConf
	gateway  *gateway.Gateway
	handler  fcgi.Handler
	db       *objectdb.DB
	stopSave func()
	agent    *agent // nil in a worker: the master has it
	users    int    // requests that use it, counted by single
	replaced bool   // single has another root
}

// newOpenRoot answers from db, and starts the auto-save agent. guard may be nil.
func newOpenRoot(s rootConf, db *objectdb.DB, log *slog.Logger, guard runner.Guard) (*openRoot, error) {
	g, err := newGateway(db, s.reach, log, guard)
	if err != nil {
		return nil, err
	}
	g.SetAdmin(admin.New(admin.Config{DB: db, Gateway: g, Log: log}))
	handler, err := handlerFor(g, s.root)
	if err != nil {
		return nil, err
	}
	saver := autosave.New(autosave.Options{DB: db, Site: g.Site(), Log: log, Saved: g.CountSave})
	return &openRoot{conf: s, gateway: g, handler: handler, db: db, stopSave: saver.Start()}, nil
}
