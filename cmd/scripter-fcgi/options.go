package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"scripter/rootname"
	"scripter/site"
)

// options are what the command line says.
type options struct {
	root, listen, group, responder, status string
	mode                                   fs.FileMode
	allow                                  []string // addresses that may connect by TCP
	drain                                  time.Duration
	idleExit                               time.Duration
	resident                               string
	workers                                int  // -1: depends on the socket and the settings
	fixed                                  bool // the command line gives the number of workers
	log                                    string
	handOver                               bool                     // connections go to the next process
	reach                                  site.Reach               // folders and hosts that the root may use
	find                                   func() (rootConf, error) // finds the root again
}

// errVersion is returned by parse for --version.
var errVersion = errors.New("version requested")

// parse reads the command line. It prints the text for --help to help.
func parse(args []string, help io.Writer) (options, error) {
	o := options{mode: 0o660}
	f := flag.NewFlagSet("scripter-fcgi", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints an error once
	f.Usage = func() {}
	var version bool
	f.StringVar(&o.root, "root", "", "path or URL of the root; else SCRIPTER_ROOT, else scripter.conf")
	f.StringVar(&o.listen, "listen", "",
		"unix:PATH or HOST:PORT; door for the resident socket only; else the socket that the program was started with")
	f.StringVar(&o.resident, "door", "on",
		"on, or off to have no resident socket beside the root, where scripter-cgi hands over requests")
	f.DurationVar(&o.idleExit, "idle-exit", 0, "with --listen door: end after this time without a request; 0 = never")
	allow := "`ADDRESSES` of the web servers that may connect by TCP, with commas between them; may be repeated"
	f.Func("allow", allow, func(s string) error {
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
	f.StringVar(&o.status, "status", "",
		"unix:PATH or loopback HOST:PORT where /-/ping and /-/status are answered; else nowhere")
	f.StringVar(&o.log, "log", "", "file to log to; else the standard error. SIGHUP opens it again")
	f.BoolVar(&o.handOver, "hand-over", false, "with a socket of systemd: leave open connections to the next process "+
		"when this one ends; the unit needs FileDescriptorStoreMax")
	f.StringVar(&o.responder, "responder", "own", "own, or std for Go's net/http/fcgi")
	f.IntVar(&o.workers, "workers", -1,
		"scripts at a time at most, each in a process of its own; 0: all in this process; -1: as many as fit")
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
			fmt.Fprintln(help, "scripter-fcgi answers requests behind a FastCGI socket. "+
				"Each option may be written with - or --.")
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
	if err := rootname.CheckPublic(o.root); err != nil {
		return o, fmt.Errorf("--root: %w", err)
	}
	if o.responder != "own" && o.responder != "std" {
		return o, fmt.Errorf("--responder is own or std, not %q", o.responder)
	}
	switch {
	case o.workers < -1:
		return o, fmt.Errorf("--workers is 0 at least, not %d", o.workers)
	case o.workers > maxWorkers:
		return o, fmt.Errorf("--workers is %d at most, not %d", maxWorkers, o.workers)
	case o.handOver && (o.listen != "" || o.workers == 0 || o.responder == "std"):
		return o, errors.New("--hand-over needs the socket of systemd, and workers: not --listen, --workers 0 or --responder std")
	case o.responder == "std" && o.workers > 0:
		return o, errors.New("--responder std has no workers")
	case o.resident != "on" && o.resident != "off":
		return o, fmt.Errorf("--door is on or off, not %q", o.resident)
	case o.listen == residentOnly && (o.resident == "off" || o.responder == "std"):
		return o, errors.New("--listen door needs the resident socket, which --door off and --responder std do not have")
	case o.idleExit != 0 && (o.listen != residentOnly || o.idleExit < 0):
		return o, errors.New("--idle-exit needs --listen door and a time such as 10m")
	}
	return o, nil
}
