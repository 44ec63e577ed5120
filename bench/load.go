package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// figure is the result of one measurement.
type figure struct {
	rate float64 // requests a second
	p99  float64 // ms
	cpu  float64 // µs of processor time that the peer took for a request
	n    int     // requests answered

	writes float64 // by keepWriting, a second
}

// measure runs one work on all its peers, interleaved, and prints a row for
// each number of clients.
func (s *stage) measure(ctx context.Context, w work) error {
	if w.name == "W2" || w.name == "W3" {
		if _, err := fetch(fmt.Sprintf("http://127.0.0.1:%d/setup.php", s.port), ""); err != nil {
			return fmt.Errorf("set up PHP's database: %w", err)
		}
	}
	if err := s.check(w); err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", w.name, w.title)
	if w.name == "W3" {
		text, err := fetch(s.url(ours, w), "")
		if err != nil {
			return err
		}
		fmt.Sscanf(text, "count %d", &s.counted)
	}
	clients := s.o.clients
	if w.sequential {
		clients = []int{4}
	}
	for _, n := range clients {
		peers := append([]string{ours}, w.peers...)
		all := map[string][]figure{}
		for range s.o.rounds {
			for _, peer := range peers {
				f, err := s.load(ctx, peer, w, n)
				if err != nil {
					return err
				}
				all[peer] = append(all[peer], f)
			}
		}
		s.print(n, ours, peers, all)
		if w.name == "W3" {
			answered := 0
			for _, f := range all[ours] {
				answered += f.n
			}
			if err := s.checkCount(answered, s.o.rounds, n); err != nil {
				return err
			}
		}
	}
	if w.name == "W5" {
		if err := s.measureFirstByte(ctx, w); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// print prints a line for each peer, with the ratio of subject to it.
func (s *stage) print(clients int, subject string, peers []string, all map[string][]figure) {
	rate := func(p string) float64 { return median(all[p], func(f figure) float64 { return f.rate }) }
	for _, p := range peers {
		fmt.Printf("  %3d clients  %-16s %9.0f/s  p99 %7.2f ms  cpu %8.1f us", clients, p, rate(p),
			median(all[p], func(f figure) float64 { return f.p99 }),
			median(all[p], func(f figure) float64 { return f.cpu }))
		if p != subject {
			// The pairs are of the same round, so other work on the machine slows both.
			var ratios []float64
			for i := range all[p] {
				ratios = append(ratios, all[subject][i].rate/all[p][i].rate)
			}
			slices.Sort(ratios)
			fmt.Printf("   %s / it %.2f (%.2f to %.2f)",
				short(subject), ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
		}
		fmt.Println()
	}
}

func median(fs []figure, of func(figure) float64) float64 {
	var v []float64
	for _, f := range fs {
		v = append(v, of(f))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

var (
	rateLine = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	p99Line  = regexp.MustCompile(`99%\s+([\d.]+)(us|ms|s)`)
	countOf  = regexp.MustCompile(`(\d+) requests in`)
	badLine  = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)|Socket errors: .*`)
)

// load runs wrk against one peer.
func (s *stage) load(ctx context.Context, peer string, w work, clients int) (figure, error) {
	args := []string{"-t1", fmt.Sprintf("-c%d", clients), fmt.Sprintf("-d%dms", s.o.duration.Milliseconds()),
		"--latency", "--timeout", "30s"}
	seconds := max(int(s.o.duration.Seconds()), 1)
	if w.sequential {
		seconds = max(seconds, 3) // one request takes long
	}
	args[2] = fmt.Sprintf("-d%ds", seconds)
	if w.form != "" {
		lua := fmt.Sprintf("wrk.method = \"POST\"\n"+
			"wrk.headers[\"Content-Type\"] = \"application/x-www-form-urlencoded\"\n"+
			"wrk.body = %q\n", w.form)
		if err := s.write("post.lua", lua); err != nil {
			return figure{}, err
		}
		args = append(args, "-s", s.path("post.lua"))
	}
	before := s.processorTime(peer)
	out, err := exec.CommandContext(ctx, "wrk", append(args, s.url(peer, w))...).CombinedOutput()
	if err != nil {
		return figure{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	if bad := badLine.FindString(string(out)); bad != "" {
		return figure{}, fmt.Errorf("%s: %s", peer, bad)
	}
	var f figure
	if m := rateLine.FindSubmatch(out); m != nil {
		f.rate, _ = strconv.ParseFloat(string(m[1]), 64)
	}
	if m := p99Line.FindSubmatch(out); m != nil {
		f.p99, _ = strconv.ParseFloat(string(m[1]), 64)
		f.p99 *= map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3}[string(m[2])]
	}
	if m := countOf.FindSubmatch(out); m != nil {
		n, _ := strconv.ParseFloat(string(m[1]), 64)
		f.n = int(n)
		f.cpu = (s.processorTime(peer) - before) / n * 1e6
	}
	if f.rate == 0 {
		return f, fmt.Errorf("%s: wrk counted no request: %s", peer, out)
	}
	return f, nil
}

// members returns the directories in /proc of the processes of a peer's process group.
func (s *stage) members(peer string) []string {
	if peer == nginxLua {
		peer = "nginx"
	}
	cmd := s.groups[peer]
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var dirs []string
	for _, p := range stats {
		if f := statFields(p); len(f) > 2 && f[2] == strconv.Itoa(cmd.Process.Pid) {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	return dirs
}

// statFields returns the fields of /proc/PID/stat after the name; the first is
// the state.
func statFields(p string) []string {
	b, err := os.ReadFile(p)
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)
}

// processorTime returns the processor time that a peer's processes have used, in seconds.
func (s *stage) processorTime(peer string) float64 {
	ticks := 0.0
	for _, dir := range s.members(peer) {
		f := statFields(filepath.Join(dir, "stat"))
		if len(f) < 13 {
			continue
		}
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		ticks += user + system
	}
	return ticks / 100 // USER_HZ is 100 on all systems that we support
}

var pssLine = regexp.MustCompile(`(?m)^Pss:\s+(\d+) kB`)

// restTime is how long the peers are idle before their memory is measured again.
const restTime = 15 * time.Second

// printMemory prints the memory of each peer after the works so far, at once and again
// after restTime: the proportional set size (PSS) of all its processes.
func (s *stage) printMemory(ctx context.Context, last string) {
	fmt.Printf("memory (PSS) after %s:\n", last)
	for i, when := range []string{"at once", "rested"} {
		if i > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(restTime):
			}
		}
		for _, peer := range []string{ours, phpFPM, cFloor} {
			kb, processes := s.pss(peer)
			fmt.Printf("  %-8s %-14s %6.1f MB in %d processes\n", when, peer, float64(kb)/1024, processes)
		}
	}
	fmt.Println()
}

// pss returns the proportional set size of a peer's processes in kB, and their number.
func (s *stage) pss(peer string) (kb, processes int) {
	members := s.members(peer)
	for _, dir := range members {
		if b, err := os.ReadFile(filepath.Join(dir, "smaps_rollup")); err == nil {
			if m := pssLine.FindSubmatch(b); m != nil {
				n, _ := strconv.Atoi(string(m[1]))
				kb += n
			}
		}
	}
	return kb, len(members)
}

// short returns the name of a peer in a ratio: "ours" for Scripter.
func short(peer string) string {
	if peer == ours {
		return "ours"
	}
	return peer
}

func processors() int { return runtime.NumCPU() }

func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown kernel"
	}
	return "Linux " + strings.TrimSpace(string(b))
}
