package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/admin"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/site"
)

// reachFlags adds the flags that list folders and hosts that the root may use, beside
// those that scripter.conf and the variables list, to a command that runs scripts.
func (t *tool) reachFlags(c *cobra.Command) *cobra.Command {
	for _, key := range site.ReachKeys {
		c.Flags().Func(key.Name, key.Doc, func(value string) error {
			if strings.Contains(key.Doc, "FOLDER") && value != "" {
				full, err := filepath.Abs(value)
				if err != nil {
					return err
				}
				value = full
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
	g := gateway.New(gateway.Options{DB: db, Log: log, Reach: reach})
	g.SetAdmin(admin.New(admin.Config{DB: db, Gateway: g, Log: log}))
	return g, nil
}
