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
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/rootname"
)

func main() {
	if code, is := runWorker(os.Args[1:]); is {
		os.Exit(code)
	}
	if code, is := runJob(os.Args[1:]); is {
		os.Exit(code)
	}
	if err := rootname.HidePasswords(); err != nil {
		fmt.Fprintln(os.Stderr, "scripter-fcgi:", err)
		os.Exit(2)
	}
	// SIGTERM is what mod_fcgid and systemd send, SIGUSR1 what FastCGI
	// process managers send for an orderly end.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) // serve listens to SIGHUP again
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	env := os.Environ()
	forgetSupervisor()
	code := run(ctx, os.Args[1:], env, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
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
			fmt.Fprintln(stderr, "scripter-fcgi: hint: --allow 127.0.0.1 allows every user of this machine; "+
				"with --listen unix:/run/scripter/scripter.sock a mode and a group say who may connect")
		}
		if errors.Is(err, fcgi.ErrNotListening) {
			fmt.Fprintln(stderr, "scripter-fcgi: hint: start it from the web server, "+
				"or say --listen unix:/run/scripter/scripter.sock")
		}
		return 1
	}
	return 0
}
