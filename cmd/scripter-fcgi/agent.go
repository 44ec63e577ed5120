package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/scheduler"
	"scripter/site"
)

// jobArgument makes this program run one script of an agent: see [scheduler.Processes].
const jobArgument = "agent-job"

// An agent delivers the outbox of a root and runs its schedule, one for all workers.
type agent struct {
	*scheduler.Agent
	reach atomic.Pointer[site.Reach]
	stop  func()
}

// counts returns what the agent has done; nothing if there is none.
func (a *agent) counts() scheduler.Counts {
	if a == nil {
		return scheduler.Counts{}
	}
	return a.Counts()
}

// startAgent starts an agent. It runs each script in a process of its own, so that no script can harm this
// one.
func startAgent(s rootConf, db *objectdb.DB, snapshots *site.Cache, log *slog.Logger) (*agent, error) {
	own, err := ownProgram()
	if err != nil {
		return nil, err
	}
	a := &agent{}
	a.reach.Store(&s.reach)
	a.Agent = scheduler.New(scheduler.Options{
		DB: db, Site: snapshots, Log: log,
		Reach: func() site.Reach { return *a.reach.Load() },
		Run: scheduler.Processes(func() *exec.Cmd {
			flags := a.reach.Load().Flags()
			return &exec.Cmd{Path: own, Args: append([]string{os.Args[0], jobArgument, "--root", s.root}, flags...)}
		}),
	})
	a.stop = a.Start()
	return a, nil
}

// startMasterAgent starts an agent with a root of its own, in a process that has none.
func startMasterAgent(s rootConf, log *slog.Logger) (*agent, error) {
	db, err := openDB(s.root)
	if err != nil {
		return nil, err
	}
	a, err := startAgent(s, db, site.NewCache(), log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	stop := a.stop
	a.stop = func() {
		stop()
		if err := db.Close(); err != nil {
			log.Warn("root not closed", "root", s.root, "err", err)
		}
	}
	return a, nil
}

// runJob runs one script if this process was started for that.
func runJob(args []string) (code int, is bool) {
	if len(args) == 0 || args[0] != jobArgument {
		return 0, false
	}
	if err := job(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scripter-fcgi:", err)
		return 1, true
	}
	return 0, true
}

func job(args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	db, err := openDB(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	g, err := newGateway(db, o.reach, log, nil)
	if err != nil {
		return err
	}
	return scheduler.ServeJob(context.Background(), os.Stdin, os.Stdout, g.Runner(), db, gateway.Describe)
}
