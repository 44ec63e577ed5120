// Scripter is the operator's tool: it makes a root, shows and changes its objects, runs
// its scripts, explains requests, and serves it over HTTP.
//
// Each subcommand is a file of this folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/history"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/rootname"
	"scripter/site"
)

// version of the program.
var version = gateway.Version

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// tool is one run of the program: what its subcommands share.
type tool struct {
	in       io.Reader
	out, err io.Writer  // out makes control characters visible: see visibleWriter
	exact    io.Writer  // the standard output for exact bytes: see raw
	screen   *os.File   // the standard output if it is a file, such as a terminal
	root     string     // --root
	json     bool       // --json
	reach    site.Reach // flags of reachFlags
	name     string     // of the command, as in "scripter put"
	servant  string     // the user as whom the superuser's command works: see useSystemRoot
	tab      asked      // for completion
}

// written passes on what a command prints, and remembers the first error. Most commands
// do not look at errors of printing, but one whose output is lost, for example on a full
// disk, has failed.
type written struct {
	io.Writer
	err error
}

func (w *written) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// usageError is a command line that cannot be understood: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// hintError is a failure with a hint on what to do next.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// statusError is a failure with an exit status of its own.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

// run runs the program and returns its exit status: 0, 1 after a failure, 2 after a wrong
// command line, or that of a statusError.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	w := &written{Writer: out}
	shown := &visibleWriter{w: w}
	t := &tool{in: in, out: shown, exact: w, err: errs}
	t.screen, _ = out.(*os.File)
	c := t.command()
	c.SetArgs(args)
	c.SetIn(in)
	c.SetOut(shown)
	c.SetErr(errs)
	err := unknown(c, c.ExecuteContext(ctx))
	shown.flush() // w remembers a failure
	if err == nil && w.err != nil {
		err = fmt.Errorf("print the result: %w", w.err)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(errs, "scripter:", visible(err.Error()))
	h := hint(err)
	if h == "" && t.servant != "" && errors.Is(err, fs.ErrPermission) {
		h = fmt.Sprintf("this command works as the user %s, who owns the root; files can be passed on the standard "+
			"input and output", t.servant)
	}
	if h != "" {
		fmt.Fprintln(errs, "scripter: hint:", visible(h))
	}
	var usage usageError
	if errors.As(err, &usage) || errors.Is(err, history.ErrMoment) || errors.Is(err, history.ErrFuture) {
		return 2
	}
	var own statusError
	if errors.As(err, &own) {
		return own.status
	}
	return 1
}

// unknown turns the library's error about an unknown command into a usage error with a
// hint.
func unknown(c *cobra.Command, err error) error {
	var name string
	if err == nil {
		return nil
	}
	if _, none := fmt.Sscanf(err.Error(), "unknown command %q", &name); none != nil {
		return err
	}
	hint := `"scripter help" lists the commands`
	if like := c.SuggestionsFor(name); len(like) > 0 {
		hint = fmt.Sprintf("did you mean %q?", "scripter "+like[0])
	}
	return usageError{hintError{fmt.Errorf("there is no command %q", name), hint}}
}

func hint(err error) string {
	var h hintError
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.Is(err, objectdb.ErrNotFound):
		return `"scripter ls" lists what is there`
	case errors.Is(err, objectdb.ErrIsTable):
		return `"scripter ls" lists a table, "scripter rm -r" removes one`
	case errors.Is(err, history.ErrMoment):
		return `times are such as "2026-11-22 14:00" (UTC), 14:00, yesterday, 2h or 3d`
	case errors.Is(err, history.ErrNoChange):
		return `"scripter log" lists the changes`
	case errors.Is(err, history.ErrNoObject):
		return `"scripter ls" lists what is there, "scripter log" what was changed`
	case errors.Is(err, objectdb.ErrReach):
		return `"scripter history" tells what is kept; saved copies may be older`
	case errors.Is(err, objectdb.ErrNothingToUndo):
		return `"scripter log" lists the changes, "scripter undo CHANGE" takes back any of them`
	}
	return ""
}

func (t *tool) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "scripter",
		Short: "Lua scripts, data and page macros in one object database, behind any web server",
		Long: `Scripter keeps Lua scripts, data and page macros in one object database, the
root, and answers with them behind any web server. This is the operator's tool.

The root is the file or the URL (postgres://user@host/database?schema=name) that
--root names, else SCRIPTER_ROOT, else ./scripter.root, else the one that
/etc/scripter/scripter.conf names.
An ADDRESS is dotted: user.webserver.prefs.["odd.name"].`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableSuggestions:         true, // unknown has them
		SuggestionsMinimumDistance: 2,
	}
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		t.name = c.CommandPath()
		if err := rootname.CheckPublic(t.root); err != nil {
			return usageError{fmt.Errorf("--root: %w", err)}
		}
		if err := t.useSystemRoot(c); err != nil {
			return err
		}
		return rootname.HidePasswords()
	}
	c.SetVersionTemplate("scripter {{.Version}}\n")
	c.SetHelpCommand(t.helpCommand())
	c.PersistentFlags().StringVar(&t.root, "root", "", "file or URL of the root")
	t.flag(c, "root", files)
	c.PersistentFlags().BoolVar(&t.json, "json", false, "print for programs")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "shorthand") {
			return usageError{hintError{err, `write -- before values that begin with "-"`}}
		}
		return usageError{hintError{err, fmt.Sprintf("%q lists the flags", c.CommandPath()+" --help")}}
	})
	c.CompletionOptions.DisableDefaultCmd = true // completionCommand is ours
	c.AddCommand(
		t.initCommand(), t.reachFlags(t.serveCommand()),
		t.getCommand(), t.putCommand(), t.editCommand(), t.lsCommand(), t.rmCommand(), t.mvCommand(), t.cpCommand(),
		t.reachFlags(t.runCommand()), t.reachFlags(t.evalCommand()), t.reachFlags(t.luaCommand()),
		t.lintCommand(), t.typesCommand(), t.reachFlags(t.testCommand()),
		t.reachFlags(t.callCommand()), t.reachFlags(t.explainCommand()), t.reachFlags(t.expandCommand()),
		t.settingsCommand(), t.limitsCommand(), t.requiresCommand(), t.usersCommand(), t.sessionsCommand(),
		t.actionsCommand(), t.mimetypesCommand(), t.overridesCommand(), t.indexCommand(), t.routesCommand(),
		t.recordsCommand(), t.rocksCommand(),
		t.requestsCommand(), t.reachFlags(t.replayCommand()),
		t.exportCommand(), t.importCommand(), t.syncCommand(), t.saveCommand(), t.savesCommand(), t.revertCommand(),
		t.copyCommand(),
		t.logCommand(), t.showCommand(), t.diffCommand(),
		t.undoCommand(), t.redoCommand(), t.forgetCommand(), t.historyCommand(),
		t.outboxCommand(), t.scheduleCommand(), t.reachFlags(t.agentCommand()), t.reachFlags(t.jobCommand()),
		t.checkCommand(), t.doctorCommand(), t.setupCommand(), t.completionCommand(), t.offersCommand(), t.versionCommand(),
	)
	return c
}

// helpCommand returns "scripter help". The library's own command succeeds for an unknown
// command.
func (t *tool) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "explain a command",
		ValidArgsFunction: t.arguments(commandNames),
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("unknown command %q", rest[0])
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// args returns a check of the number of arguments. Its error is a usage error that shows
// the usage.
func args(low, high int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high && high >= 0 {
			return usageError{hintError{fmt.Errorf("%s takes another number of arguments", c.Name()),
				"usage: " + c.UseLine()}}
		}
		return nil
	}
}

// rootName returns the name of the root: a file or a URL.
func (t *tool) rootName() string {
	if t.root != "" {
		return t.root
	}
	if r := os.Getenv("SCRIPTER_ROOT"); r != "" {
		return r
	}
	return "scripter.root"
}

// Options for opening the root: to answer requests, for changes by the owner, which may
// hold the lock for long, and for commands that only read.
var (
	forRequests = objectdb.Options{Program: gateway.Program()}
	forWork     = objectdb.Options{Program: gateway.Program(), LockTime: -1}
	forReading  = objectdb.Options{Program: gateway.Program(), Reading: true}
)

// open opens the root.
func (t *tool) open(o objectdb.Options) (*objectdb.DB, error) {
	if !o.Reading {
		o.Origin, o.History = t.origin(), site.History()
	}
	db, err := roots.Open(t.rootName(), o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hintError{err, fmt.Sprintf("run %q first, or name another file with --root", "scripter init")}
	}
	if err == nil && !o.ReadOnly && !o.Reading && roots.IsCopy(t.rootName()) {
		t.warn("%s is a saved copy, and this command may change it", t.rootName())
	}
	return db, err
}

// origin returns the origin of the commits: the user and the command.
func (t *tool) origin() objectdb.Origin {
	return objectdb.Origin{Person: true, Who: userName(os.Geteuid()), Why: t.name}
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// with calls fn with the open root.
func (t *tool) with(o objectdb.Options, fn func(db *objectdb.DB) error) error {
	db, err := t.open(o)
	if err != nil {
		return err
	}
	defer db.Close()
	return fn(db)
}

// view runs fn on the root without changing it.
func (t *tool) view(ctx context.Context, fn func(tx *objectdb.Tx) error) error {
	return t.with(forReading, func(db *objectdb.DB) error { return db.View(ctx, fn) })
}

// update runs fn on the root, and commits all that it changes, or nothing.
func (t *tool) update(ctx context.Context, fn func(tx *objectdb.Tx) error) error {
	return t.with(forWork, func(db *objectdb.DB) error {
		if err := db.Update(ctx, fn); err != nil {
			return err
		}
		return t.buildIndexes(ctx, db)
	})
}

// withGateway calls fn with a gateway on the open root.
func (t *tool) withGateway(o objectdb.Options, fn func(g *gateway.Gateway) error) error {
	return t.with(o, func(db *objectdb.DB) error {
		g, err := t.gateway(db, nil)
		if err != nil {
			return err
		}
		return fn(g)
	})
}

// log returns a log on the standard error.
func (t *tool) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: level}))
}

// address parses an address of the command line. A dot may stand at its end: ls and
// completion write tables so.
func address(s string) (objectdb.Address, error) {
	if s != "." {
		s = strings.TrimSuffix(s, ".")
	}
	a, err := objectdb.ParseAddress(s)
	if err != nil {
		return nil, usageError{err}
	}
	return a, nil
}

// addresses parses several.
func addresses(args []string) ([]objectdb.Address, error) {
	var list []objectdb.Address
	for _, s := range args {
		a, err := address(s)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
