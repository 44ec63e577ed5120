package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"scripter/database"
	"scripter/database/pgdb"
	"scripter/database/sqlitedb"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/runner"
	"scripter/site"
)

// rootConf is a root with the folders and hosts that it may use.
type rootConf struct {
	root  string
	reach site.Reach
}

// findRoot returns the root that the command line names, else that of the process's
// environment or of a configuration file, and everything that these three allow it to
// use. A request names none of it.
func findRoot(named rootConf, env []string, log *slog.Logger) (rootConf, error) {
	executable, err := os.Executable()
	if err != nil {
		return rootConf{}, err
	}
	vars, _ := gateway.Variables(env)
	var conf site.Conf
	if named.root != "" {
		conf, err = site.ConfOf(named.root, vars, executable)
	} else {
		conf, err = site.FindConf(vars, "", executable)
	}
	if err != nil {
		return rootConf{}, err
	}
	if conf.Passed != nil {
		log.Warn("configuration file skipped", "err", conf.Passed)
	}
	conf.Reach.AddAll(named.reach)
	return rootConf{conf.Root, conf.Reach}, nil
}

func openDB(root string) (*objectdb.DB, error) {
	return roots.Open(root, objectdb.Options{Program: gateway.Program(), History: site.History()})
}

// newGateway returns a gateway for db. guard may be nil.
func newGateway(db *objectdb.DB, reach site.Reach, log *slog.Logger, guard runner.Guard) (*gateway.Gateway, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		DB: db, Log: log, HandlerNames: []string{filepath.Base(executable)}, Guard: guard, Reach: reach,
		Drivers: database.Drivers{SQLite: sqlitedb.Driver, Postgres: pgdb.Driver},
	}), nil
}

// checkRoot reads the bounds that the root's settings name, and logs the settings that
// have no effect because the root may not use what they name.
func checkRoot(
	ctx context.Context, db *objectdb.DB, reach site.Reach, log *slog.Logger,
) (b gateway.Bounds, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		if b, err = gateway.ReadBounds(tx); err != nil {
			return err
		}
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, u := range reach.Unlisted(s) {
			log.Warn("a setting has no effect", "err", u)
		}
		return nil
	})
	return b, err
}

// collectLess makes Go collect garbage less often: the heaps are small, and each
// request leaves much garbage.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
