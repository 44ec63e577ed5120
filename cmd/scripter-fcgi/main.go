// Scripter-fcgi answers requests behind a FastCGI socket.
//
//	scripter-fcgi --root scripter.root --listen unix:/run/scripter/scripter.sock
//
// Without --listen it takes the socket that it was started with: descriptor 0
// (mod_fcgid, spawn-fcgi, lighttpd) or systemd's. The manual is
// docs/web-servers.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	stdfcgi "net/http/fcgi"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/runner"
	"scripter/site"
)

func main() {
	if code, is := runWorker(os.Args[1:]); is {
		os.Exit(code)
	}
	// SIGTERM is what mod_fcgid and systemd send, SIGUSR1 what FastCGI
	// process managers send for an orderly end.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) // serve listens to SIGHUP again
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	env := os.Environ()
	forgetSupervisor()
	code := run(ctx, os.Args[1:], env, os.Stderr)
	stop()
	os.Exit(code)
}

// stdout is where --help and --version are printed; a test looks there.
var stdout io.Writer = os.Stdout

// options are what the command line says.
type options struct {
	root, listen, group, responder, status string
	mode                                   fs.FileMode
	allow                                  []string // addresses that may connect by TCP
	drain                                  time.Duration
	idleExit                               time.Duration
	door                                   string
	workers                                int  // -1: as it fits the socket and the settings
	fixed                                  bool // the command line says how many
	log                                    string
	reach                                  site.Reach             // folders and hosts that the root may use
	find                                   func() (served, error) // finds the root again
}

// served is a root with the folders and hosts that it may use.
type served struct {
	root  string
	reach site.Reach
}

// errVersion is what parse gives for --version.
var errVersion = errors.New("the version is asked for")

// parse reads the command line. What is to be printed for --help goes to help.
func parse(args []string, help io.Writer) (options, error) {
	o := options{mode: 0o660}
	f := flag.NewFlagSet("scripter-fcgi", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints an error once
	f.Usage = func() {}
	var version bool
	f.StringVar(&o.root, "root", "", "path of the root; else SCRIPTER_ROOT, else scripter.conf")
	f.StringVar(&o.listen, "listen", "", "unix:PATH or HOST:PORT; door for none but the door; else the socket that the program was started with")
	f.StringVar(&o.door, "door", "on", "on, or off to take no requests from scripter-cgi at the socket beside the root")
	f.DurationVar(&o.idleExit, "idle-exit", 0, "with --listen door: end when no request has come for so long; 0 = never")
	f.Func("allow", "`ADDRESSES` of the web servers that may connect by TCP, with commas between them; may be repeated", func(s string) error {
		for text := range strings.SplitSeq(s, ",") {
			a, err := netip.ParseAddr(strings.TrimSpace(text))
			if err != nil {
				return fmt.Errorf("%q is not an IP address", text)
			}
			o.allow = append(o.allow, a.String())
		}
		return nil
	})
	f.StringVar(&o.group, "group", "", "group of the unix socket, by name or number")
	f.StringVar(&o.status, "status", "", "unix:PATH or loopback HOST:PORT where /-/ping and /-/status are answered; else nowhere")
	f.StringVar(&o.log, "log", "", "file to log to; else the standard error. SIGHUP opens it again")
	f.StringVar(&o.responder, "responder", "own", "own, or std for Go's net/http/fcgi")
	f.IntVar(&o.workers, "workers", -1, "scripts at a time at most, each in a process of its own; 0: all in this process; -1: as many as fit")
	f.DurationVar(&o.drain, "drain", 30*time.Second, "how long requests under way may take after SIGTERM")
	f.BoolVar(&version, "version", false, "print the version and end")
	for _, key := range site.ReachKeys {
		f.Func(key.Name, key.Doc, func(value string) error { return o.reach.Add(key.Name, value) })
	}
	f.Func("mode", "mode of the unix socket, octal (default 660)", func(s string) error {
		n, err := strconv.ParseUint(s, 8, 32)
		if err != nil || n > 0o777 {
			return errors.New("not an octal mode such as 660")
		}
		o.mode = fs.FileMode(n)
		return nil
	})
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(help)
			fmt.Fprintln(help, "scripter-fcgi answers requests behind a FastCGI socket. Each option may be written with - or --.")
			f.PrintDefaults()
		}
		return o, err
	}
	if version {
		return o, errVersion
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is no option", f.Arg(0))
	}
	if o.responder != "own" && o.responder != "std" {
		return o, fmt.Errorf("--responder is own or std, not %q", o.responder)
	}
	switch {
	case o.workers < -1:
		return o, fmt.Errorf("--workers is 0 at least, not %d", o.workers)
	case o.workers > maxWorkers:
		return o, fmt.Errorf("--workers is %d at most, not %d", maxWorkers, o.workers)
	case o.responder == "std" && o.workers > 0:
		return o, errors.New("--responder std has no workers")
	case o.door != "on" && o.door != "off":
		return o, fmt.Errorf("--door is on or off, not %q", o.door)
	case o.listen == doorOnly && (o.door == "off" || o.responder == "std"):
		return o, errors.New("--listen door wants the door, which --door off and --responder std do not have")
	case o.idleExit != 0 && (o.listen != doorOnly || o.idleExit < 0):
		return o, errors.New("--idle-exit wants --listen door, and a time such as 10m")
	}
	return o, nil
}

func run(ctx context.Context, args, env []string, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errVersion):
		fmt.Fprintln(stdout, gateway.Program())
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "scripter-fcgi:", err)
		fmt.Fprintln(stderr, "scripter-fcgi: hint: scripter-fcgi --help lists the options")
		return 2
	}
	if err := serve(ctx, o, env, log); err != nil {
		fmt.Fprintln(stderr, "scripter-fcgi:", err)
		if errors.Is(err, errNobodyAllowed) {
			fmt.Fprintln(stderr, "scripter-fcgi: hint: --allow 127.0.0.1 allows every user of this machine; with --listen unix:/run/scripter/scripter.sock a mode and a group say who may connect")
		}
		if errors.Is(err, fcgi.ErrNotListening) {
			fmt.Fprintln(stderr, "scripter-fcgi: hint: start it from the web server, or say --listen unix:/run/scripter/scripter.sock")
		}
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, env []string, log *slog.Logger) error {
	named := served{o.root, o.reach}
	o.find = func() (served, error) { return findSite(named, env, log) }
	u := newUpkeep(o, log)
	defer u.stop()
	err := openLog(o.log)
	if err != nil {
		return err
	}
	found, err := o.find()
	if err != nil {
		return err
	}
	o.root, o.reach = found.root, found.reach
	db, err := openRoot(o.root)
	if err != nil {
		return err
	}
	defer db.Close()
	bounds, err := readBounds(ctx, db)
	if err != nil {
		return err
	}
	if err := warnUnlisted(ctx, db, o.reach, log); err != nil {
		return err
	}
	if o.fixed = o.workers >= 0; !o.fixed {
		o.workers = workersFor(o, bounds)
	}
	ls, err := listenAll(o, log)
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	if o.idleExit > 0 {
		go ls.use.leaveWhenIdle(ctx, o.idleExit, leave, log)
	}
	if o.status != "" {
		sl, err := listenStatus(o.status, o)
		if err != nil {
			return err
		}
		defer u.status.serve(sl, log)()
		log.Info("showing the status", "addr", sl.Addr().String())
	}
	for _, l := range ls.all() {
		log.Info("listening", "addr", l.Addr().String(), "responder", o.responder, "workers", o.workers)
	}
	u.supervisor, u.where = supervisorOf(env, log), ls.all()[0].Addr().String()
	if o.workers > 0 {
		// This process runs no script, and what it holds no script can harm.
		if err := db.Close(); err != nil {
			return err
		}
		return servePool(ctx, o, bounds, ls, u, log)
	}
	c, err := newCurrent(found, db, log)
	if err != nil {
		return err
	}
	return serveAlone(ctx, o, c, ls, u, log)
}

// workersFor says how many scripts may run at a time, each in a process of its
// own. The programs that start us with their socket as descriptor 0 (mod_fcgid
// and its like) run several of us: each is one process.
func workersFor(o options, b gateway.Bounds) int {
	if o.responder == "std" || o.listen == "" && os.Getenv("LISTEN_FDS") == "" {
		return 0
	}
	return atMost(b, defaultWorkers)
}

// atMost is how many scripts the root's settings let run at a time; otherwise,
// when they do not say.
func atMost(b gateway.Bounds, otherwise int) int {
	if b.Running == 0 {
		return otherwise
	}
	return min(b.Running, maxWorkers)
}

func readBounds(ctx context.Context, db *objectdb.DB) (b gateway.Bounds, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		b, err = gateway.ReadBounds(tx)
		return err
	})
	return b, err
}

// warnUnlisted logs settings that name folders and hosts that the root may not use.
func warnUnlisted(ctx context.Context, db *objectdb.DB, reach site.Reach, log *slog.Logger) error {
	return db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, u := range reach.Unlisted(s) {
			log.Warn("a setting has no effect", "err", u)
		}
		return nil
	})
}

// serveAlone answers in this process until ctx ends.
func serveAlone(ctx context.Context, o options, c *current, ls *sockets, u *upkeep, log *slog.Logger) error {
	collectLess()
	defer c.close()
	sums := &tally{take: c.counts}
	u.begin(sums.counts, alone{c.load, sums.counts, u.status.started})
	if o.responder == "std" {
		return serveStd(ctx, ls.web, c.open.gateway)
	}
	s := &fcgi.Server{Handler: c.serve, Log: func(err error) { log.Warn("fastcgi", "err", err) }}
	type end struct {
		of  net.Listener
		err error
	}
	done := make(chan end)
	begin := func(l net.Listener) {
		err := s.Serve(l)
		select {
		case done <- end{l, err}:
		case <-ctx.Done():
		}
	}
	for _, l := range ls.all() {
		go begin(l)
	}
	for ctx.Err() == nil {
		select {
		case e := <-done:
			if e.of == ls.web || e.of == ls.door {
				return e.err
			}
		case <-u.hup:
			u.again(func(s served) error {
				old := ls.door
				return ls.move(s.root, log, func(l net.Listener, moved bool) error {
					if err := c.change(s); err != nil || !moved {
						return err
					}
					if l != nil {
						go begin(l)
					}
					if old != nil {
						if err := old.Close(); err != nil {
							log.Warn("door not closed", "err", err)
						}
					}
					return nil
				})
			})
		case <-ctx.Done():
		}
	}
	u.stopping()
	return drain(o.drain, s.Shutdown)
}

// drain gives the requests under way their time to end.
func drain(most time.Duration, shutdown func(context.Context) error) error {
	end, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if err := shutdown(end); err != nil {
		return fmt.Errorf("requests were still running after %v: %w", most, err)
	}
	return nil
}

// findSite returns the root that the command line names, else that of the process's
// environment or of a configuration file, and everything that these three allow it to
// use. A request names none of it.
func findSite(named served, env []string, log *slog.Logger) (served, error) {
	executable, err := os.Executable()
	if err != nil {
		return served{}, err
	}
	var conf site.Conf
	if named.root != "" {
		conf, err = site.ConfOf(named.root, variables(env), executable)
	} else {
		conf, err = site.FindConf(variables(env), "", executable)
	}
	if err != nil {
		return served{}, err
	}
	if conf.Passed != nil {
		log.Warn("configuration file skipped", "err", conf.Passed)
	}
	conf.Reach.AddAll(named.reach)
	return served{conf.Root, conf.Reach}, nil
}

func openRoot(root string) (*objectdb.DB, error) {
	return sqlitestore.Open(root, objectdb.Options{Program: gateway.Program()})
}

// newGateway answers from db. Guard may be nil.
func newGateway(db *objectdb.DB, reach site.Reach, log *slog.Logger, guard runner.Guard) (*gateway.Gateway, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		DB: db, Log: log, HandlerNames: []string{filepath.Base(executable)}, Guard: guard, Reach: reach,
	}), nil
}

// webServers is the variable that names the web servers (FastCGI, section 3.2).
const webServers = "FCGI_WEB_SERVER_ADDRS"

// errNobodyAllowed refuses a TCP socket without allowed addresses.
var errNobodyAllowed = errors.New("no allowed addresses are named: whoever connects can pretend to be the web server")

// listen opens the socket for web servers.
func listen(o options, log *slog.Logger) (net.Listener, error) {
	if len(o.allow) > 0 {
		// The workers inherit it.
		all := strings.Join(o.allow, ",")
		if named := strings.TrimSpace(os.Getenv(webServers)); named != "" {
			all += "," + named
		}
		if err := os.Setenv(webServers, all); err != nil {
			return nil, err
		}
	}
	allowed := strings.TrimSpace(os.Getenv(webServers))
	if o.listen != "" && o.listen != doorOnly && !strings.HasPrefix(o.listen, "unix:") && allowed == "" {
		return nil, fmt.Errorf("listen %s: %w", o.listen, errNobodyAllowed)
	}
	var l net.Listener
	var err error
	if o.listen == "" {
		l, err = fcgi.Inherited()
	} else {
		l, err = fcgi.Listen(o.listen, fcgi.ListenOptions{Mode: o.mode, Group: o.group})
	}
	if err != nil || l.Addr().Network() != "tcp" {
		return l, err
	}
	if o.responder == "std" {
		return nil, errors.Join(errors.New("--responder std does not check addresses: it needs a unix socket"), l.Close())
	}
	if allowed == "" {
		return nil, errors.Join(fmt.Errorf("listen %s: %w", l.Addr(), errNobodyAllowed), l.Close())
	}
	log.Warn("every user of the allowed machines can pretend to be the web server here, with any REMOTE_USER and DOCUMENT_ROOT; a unix socket has a mode",
		"addr", l.Addr().String(), "allowed", allowed)
	return l, nil
}

// serveStd serves with net/http/fcgi, which cannot stop in good order: the
// listener is closed and the process ends.
func serveStd(ctx context.Context, l net.Listener, g *gateway.Gateway) error {
	go func() {
		<-ctx.Done()
		l.Close()
	}()
	err := stdfcgi.Serve(l, g.StdHandler(stdfcgi.ProcessEnv))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func variables(env []string) map[string]string {
	vars := make(map[string]string, len(env))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}

// collectLess lets more garbage come together before it is collected: the heaps
// are small, and each run leaves much.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
