// Bench compares Scripter with its peers on the same work, in one run: all
// peers answer the same bytes, and their runs are interleaved. Bench prints
// medians and their ratios. On a machine that others use, absolute figures say
// little; compare the ratios within one run.
//
//	make bench
//
// installs the peers (Debian's nginx with its Lua, php-fpm with opcache, wrk,
// haserl, lua5.1, php-cgi), builds ours, and runs it. The flags shorten or lengthen a run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// options of one run.
type options struct {
	bin      string // folder of our programs
	rounds   int
	duration time.Duration // of one measurement
	clients  []int
	works    string // a comma-separated choice; "" for all
	cgiRuns  int

	postgres bool          // compare a root in PostgreSQL with one in a file instead
	edits    int           // for PostgreSQL
	kill     time.Duration // hosts and servers are killed for so long
}

func main() {
	var o options
	var clients string
	flag.StringVar(&o.bin, "bin", "bin", "folder of scripter, scripter-cgi and scripter-fcgi")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved rounds")
	flag.DurationVar(&o.duration, "duration", 2*time.Second, "of one measurement")
	flag.StringVar(&clients, "clients", "16,64", "clients at once")
	flag.StringVar(&o.works, "works", "", "only these, such as W1,W3,CGI")
	flag.IntVar(&o.cgiRuns, "cgi-runs", 40, "runs of each CGI program in a round")
	flag.BoolVar(&o.postgres, "postgres", false, "compare a root in PostgreSQL, with one host and three, with one in a file")
	flag.IntVar(&o.edits, "edits", 1000, "edits whose way to other hosts is measured, with -postgres")
	flag.DurationVar(&o.kill, "kill", 5*time.Minute, "how long hosts and servers are killed at random, with -postgres")
	flag.Parse()
	for c := range strings.SplitSeq(clients, ",") {
		n := 0
		if _, err := fmt.Sscan(c, &n); err != nil || n < 1 {
			fmt.Fprintln(os.Stderr, "bench: --clients wants numbers such as 16,64")
			os.Exit(2)
		}
		o.clients = append(o.clients, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run starts everything, measures, and prints the tables.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "scripter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// php-fpm and nginx may run as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	if o.postgres {
		return benchPostgres(ctx, dir, o)
	}
	stage, err := newStage(ctx, dir, o)
	if err != nil {
		return err
	}
	defer stage.stop()
	fmt.Printf("%s\n\n", machine())
	for _, w := range works {
		if !o.wants(w.name) {
			continue
		}
		if err := stage.measure(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if w.name == "W5" || w.name == "W6b" {
			stage.printMemory(ctx, w.name)
		}
	}
	if o.wants("W7") {
		if err := stage.measureWriter(ctx); err != nil {
			return fmt.Errorf("W7: %w", err)
		}
	}
	if o.wants("W8") {
		if err := stage.measureSizes(ctx); err != nil {
			return fmt.Errorf("W8: %w", err)
		}
	}
	if o.wants("CGI") {
		return stage.measureCGI(ctx)
	}
	return nil
}

func (o options) wants(name string) bool {
	if o.works == "" {
		return true
	}
	for w := range strings.SplitSeq(o.works, ",") {
		if strings.EqualFold(w, name) {
			return true
		}
	}
	return false
}

// machine describes the machine and its kernel.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d processors, %s", cpu, processors(), kernel())
}
