package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/admin"
	"scripter/database"
	"scripter/database/pgdb"
	"scripter/database/sqlitedb"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/site"
)

// reachFlags adds the flags that list folders and hosts that the root may use, beside
// those that scripter.conf and the variables list, to a command that runs scripts.
func (t *tool) reachFlags(c *cobra.Command) *cobra.Command {
	for _, key := range site.ReachKeys {
		c.Flags().Func(key.Name, key.Doc, func(value string) error {
			here, err := os.Getwd()
			switch {
			case err != nil:
				return err
			case key.Name == site.KeyDatabase:
				value = site.AbsoluteDatabase(value, here)
			case strings.Contains(key.Doc, "FOLDER") && value != "" && !filepath.IsAbs(value):
				value = filepath.Join(here, value)
			}
			return t.reach.Add(key.Name, value)
		})
		if strings.Contains(key.Doc, "FOLDER") {
			t.flag(c, key.Name, folders)
		} else {
			t.flag(c, key.Name, nothing)
		}
	}
	return c
}

// drivers open the databases that scripts may use.
var drivers = database.Drivers{SQLite: sqlitedb.Driver, Postgres: pgdb.Driver}

// mayReach returns the folders and hosts that the root may use.
func (t *tool) mayReach() (site.Reach, error) {
	executable, err := os.Executable()
	if err != nil {
		return t.reach, err
	}
	env := map[string]string{}
	for _, key := range site.ReachKeys {
		env[key.Variable] = os.Getenv(key.Variable)
	}
	conf, err := site.ConfOf(t.rootName(), env, executable)
	if err != nil {
		return t.reach, err
	}
	if conf.Passed != nil {
		t.warn("configuration file skipped: %v", conf.Passed)
	}
	conf.Reach.AddAll(t.reach)
	return conf.Reach, nil
}

// gateway returns the gateway that a command uses. log may be nil.
func (t *tool) gateway(db *objectdb.DB, log *slog.Logger) (*gateway.Gateway, error) {
	reach, err := t.mayReach()
	if err != nil {
		return nil, err
	}
	g := gateway.New(gateway.Options{DB: db, Log: log, Reach: reach, Drivers: drivers})
	g.SetAdmin(admin.New(admin.Config{DB: db, Gateway: g, Log: log}))
	return g, nil
}
