package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/scheduler"
	"scripter/site"
)

func (t *tool) agentCommand() *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "agent",
		Short: "deliver the outbox and run the schedule",
		Long: `Agent sends the mails and posts of the outbox, and runs later and scheduled
scripts, until it is stopped. scripter-fcgi and serve do that by themselves. Where
the site has only scripter-cgi, keep an agent running, or write one line into a
crontab:

  * * * * *  scripter --root /srv/site.root agent --once

Any number of agents may work on a root: they do nothing twice.`,
		Args:              args(0, 0),
		ValidArgsFunction: t.arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.withGateway(forRequests, func(g *gateway.Gateway) error {
				a, err := t.agent(g, t.log(slog.LevelInfo))
				if err != nil {
					return err
				}
				if once {
					return a.Once(c.Context())
				}
				stop := a.Start()
				<-c.Context().Done()
				stop()
				return nil
			})
		},
	}
	c.Flags().BoolVar(&once, "once", false, "do what is due, and end")
	return c
}

// agent returns the agent of the root that g answers from. It runs each script in a process of its own.
func (t *tool) agent(g *gateway.Gateway, log *slog.Logger) (*scheduler.Agent, error) {
	o := t.agentOptions(g, log)
	command := append([]string{os.Args[0], "--root", t.rootName(), jobCommand}, g.Reach().Flags()...)
	own, err := ownProgram()
	if err != nil {
		return nil, err
	}
	o.Run = scheduler.Processes(func() *exec.Cmd { return &exec.Cmd{Path: own, Args: command} })
	return scheduler.New(o), nil
}

// ownProgram returns the program that this process runs.
func ownProgram() (string, error) {
	const own = "/proc/self/exe"
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return os.Executable()
}

func (t *tool) agentOptions(g *gateway.Gateway, log *slog.Logger) scheduler.Options {
	return scheduler.Options{DB: g.DB(), Site: g.Site(), Reach: g.Reach, Log: log,
		Run: scheduler.InProcess(g.Runner(), g.DB(), gateway.Describe)}
}

// jobCommand is the command that runs one script of an agent: see [scheduler.Processes].
const jobCommand = "agent-job"

func (t *tool) jobCommand() *cobra.Command {
	return &cobra.Command{
		Use:    jobCommand,
		Short:  "run one script of an agent",
		Hidden: true,
		Args:   args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.withGateway(forRequests, func(g *gateway.Gateway) error {
				return scheduler.ServeJob(c.Context(), t.in, t.exact, g.Runner(), g.DB(), gateway.Describe)
			})
		},
	}
}

// withAgent calls fn with an agent that runs scripts in this process.
func (t *tool) withAgent(ctx context.Context, fn func(a *scheduler.Agent) error) error {
	return t.withGateway(forRequests, func(g *gateway.Gateway) error {
		return fn(scheduler.New(t.agentOptions(g, nil)))
	})
}

// paused returns a flag of the site.
func paused(tx *objectdb.Tx, flag *site.Setting) (bool, error) {
	s, err := site.Read(tx)
	return err == nil && s.Flag(flag), err
}
