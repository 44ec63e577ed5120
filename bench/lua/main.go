// Lua compares the processor time of classic programs in Scripter's Lua with
// that in PUC Lua 5.1.
//
//	make bench-lua
//
// Each program returns a text, which both must give alike. Scripter runs it as
// it runs scripts: compiled first, in a thread with all limits on, of which
// time and instructions are raised. The two take turns; of each the least time
// counts, and the ratios of one run are what means something.
package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"scripter/lua"
	"scripter/script"
)

//go:embed puc.lua programs
var files embed.FS

// The goal: the median of the ratios, and the largest one.
const (
	goalMedian  = 4
	goalLargest = 8
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each program runs in each of the two")
	only := flag.String("programs", "", "only these, such as nbody,json")
	profile := flag.String("profile", "", "write a processor profile of Scripter's runs to this file")
	flag.Parse()
	if err := run(*rounds, *only, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench-lua:", err)
		os.Exit(1)
	}
}

func run(rounds int, only, profile string) error {
	puc, err := exec.LookPath("lua5.1")
	if err != nil {
		return fmt.Errorf("%w: run conf-examples/install-servers", err)
	}
	dir, err := os.MkdirTemp("", "scripter-bench-lua-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(dir, "programs", "*.lua"))
	if err != nil {
		return err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	debug.SetGCPercent(400) // as scripter-fcgi does
	var ratios []float64
	fmt.Printf("%-14s %10s %10s %8s\n", "program", "PUC Lua", "Scripter", "ratio")
	for _, path := range programs {
		name := strings.TrimSuffix(filepath.Base(path), ".lua")
		if only != "" && !slices.Contains(strings.Split(only, ","), name) {
			continue
		}
		theirs, ours, err := compare(puc, filepath.Join(dir, "puc.lua"), path, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		ratio := ours.Seconds() / theirs.Seconds()
		ratios = append(ratios, ratio)
		fmt.Printf("%-14s %7.1f ms %7.1f ms %8.2f\n", name, milliseconds(theirs), milliseconds(ours), ratio)
	}
	if len(ratios) == 0 {
		return errors.New("no program of that name")
	}
	slices.Sort(ratios)
	n := len(ratios)
	median, largest := (ratios[(n-1)/2]+ratios[n/2])/2, ratios[n-1]
	fmt.Printf("median %.2f (goal %d), largest %.2f (goal %d)\n", median, goalMedian, largest, goalLargest)
	return nil
}

// compare runs a program in PUC Lua and in Scripter in turns, and returns the
// least processor time of each.
func compare(puc, starter, path string, rounds int) (theirs, ours time.Duration, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	theirs, ours = math.MaxInt64, math.MaxInt64
	for range rounds {
		cmd := exec.Command(puc, starter, path)
		cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
		want, err := cmd.Output()
		if err != nil {
			return 0, 0, fmt.Errorf("run it in PUC Lua: %w", err)
		}
		theirs = min(theirs, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		got, took, err := runOurs(string(source))
		if err != nil {
			return 0, 0, fmt.Errorf("run it in Scripter: %w", err)
		}
		if got != string(want) {
			return 0, 0, fmt.Errorf("its result is %q, in PUC Lua %q", got, want)
		}
		ours = min(ours, took)
	}
	return theirs, ours, nil
}

// runOurs runs a program in a thread of its own, and returns its result and the
// processor time that it took, collecting garbage included.
func runOurs(source string) (string, time.Duration, error) {
	engine := script.NewEngine(nil)
	limits := lua.DefaultLimits()
	limits.Time, limits.Instructions = time.Hour, math.MaxInt64
	runtime.GC()
	before := processorTime()
	t := engine.NewThread(context.Background(), script.ThreadOptions{Limits: limits})
	defer t.Close()
	v, err := t.RunSource("program", source)
	took := processorTime() - before
	if err != nil {
		return "", 0, err
	}
	text, err := t.Text(v)
	return text, took, err
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(cmp.Or(u.Utime.Nano()+u.Stime.Nano(), 1))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
