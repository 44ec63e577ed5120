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
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/objectdb"
)

func main() {
	// SIGTERM is what mod_fcgid and systemd send, SIGUSR1 what FastCGI
	// process managers send for an orderly end.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	root, listen, group, responder, status string
	mode                                   fs.FileMode
	drain                                  time.Duration
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{mode: 0o660}
	f := flag.NewFlagSet("scripter-fcgi", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.root, "root", "", "path of the root; else SCRIPTER_ROOT, else scripter.conf")
	f.StringVar(&o.listen, "listen", "", "unix:PATH or HOST:PORT; else the socket that the program was started with")
	f.StringVar(&o.group, "group", "", "group of the unix socket, by name or number")
	f.StringVar(&o.status, "status", "", "unix:PATH or loopback HOST:PORT where /-/ping and /-/status are answered; else nowhere")
	f.StringVar(&o.responder, "responder", "own", "own, or std for Go's net/http/fcgi")
	f.DurationVar(&o.drain, "drain", 30*time.Second, "how long requests under way may take after SIGTERM")
	f.Func("mode", "mode of the unix socket, octal (default 660)", func(s string) error {
		n, err := strconv.ParseUint(s, 8, 32)
		if err != nil || n > 0o777 {
			return errors.New("not an octal mode such as 660")
		}
		o.mode = fs.FileMode(n)
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is no option", f.Arg(0))
	}
	if o.responder != "own" && o.responder != "std" {
		return o, fmt.Errorf("--responder is own or std, not %q", o.responder)
	}
	return o, nil
}

func run(ctx context.Context, args, env []string, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "scripter-fcgi:", err)
		return 2
	}
	if err := serve(ctx, o, env, log); err != nil {
		fmt.Fprintln(stderr, "scripter-fcgi:", err)
		if errors.Is(err, fcgi.ErrNotListening) {
			fmt.Fprintln(stderr, "scripter-fcgi: hint: start it from the web server, or say --listen unix:/run/scripter/scripter.sock")
		}
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, env []string, log *slog.Logger) error {
	g, closeDB, err := open(o.root, env, log)
	if err != nil {
		return err
	}
	defer closeDB()
	l, err := listen(o)
	if err != nil {
		return err
	}
	defer g.StartAutoSave()()
	begin := time.Now()
	sums := &tally{take: g.TakeCounts}
	st := &status{started: begin, counts: sums.counts, pool: alone{g.Load, sums.counts, begin}}
	if o.status != "" {
		sl, err := listenStatus(o.status, o)
		if err != nil {
			return err
		}
		defer st.serve(sl, log)()
		log.Info("showing the status", "addr", sl.Addr().String())
	}
	log.Info("listening", "addr", l.Addr().String(), "responder", o.responder)
	if o.responder == "std" {
		return serveStd(ctx, l, g)
	}
	s := &fcgi.Server{Handler: g.ServeFCGI, Log: func(err error) { log.Warn("fastcgi", "err", err) }}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	st.stopping.Store(true)
	log.Info("stopping: requests under way are finished")
	end, cancel := context.WithTimeout(context.Background(), o.drain)
	defer cancel()
	if err := s.Shutdown(end); err != nil {
		return fmt.Errorf("requests were still running after %v: %w", o.drain, err)
	}
	return nil
}

// open opens the root that the command line names, else the one that the
// process's environment or a configuration file does; a request never does.
func open(root string, env []string, log *slog.Logger) (*gateway.Gateway, func() error, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if root == "" {
		conf, err := gateway.FindConf(variables(env), "", executable)
		if err != nil {
			return nil, nil, err
		}
		root = conf.Root
	}
	db, err := objectdb.Open(root, objectdb.Options{Program: gateway.Program()})
	if err != nil {
		return nil, nil, err
	}
	return gateway.New(gateway.Options{DB: db, Log: log, HandlerNames: []string{filepath.Base(executable)}}), db.Close, nil
}

func listen(o options) (net.Listener, error) {
	if o.listen == "" {
		return fcgi.Inherited()
	}
	return fcgi.Listen(o.listen, fcgi.ListenOptions{Mode: o.mode, Group: o.group})
}

// serveStd serves with net/http/fcgi, which cannot stop in good order: the
// listener is closed and the process ends.
func serveStd(ctx context.Context, l net.Listener, g *gateway.Gateway) error {
	go func() {
		<-ctx.Done()
		l.Close()
	}()
	err := stdfcgi.Serve(l, g.StdHandler())
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
