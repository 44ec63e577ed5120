package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"scripter/internal/postgrestest"
)

// The comparison of a root in PostgreSQL, used by one host and by three, with a root in a file. A host is a daemon in a
// cgroup with a part of a processor of its own; PostgreSQL and the clients are outside of these.

const (
	hostShare = 0.3 // of a processor, for each host
	hostCount = 3
)

// host is one host: a daemon with its folders.
type host struct {
	s      *stage
	name   string
	root   string
	group  *cgroup
	socket atomic.Pointer[string]
	count  int // of starts
}

// postgresStage is what make bench-postgres compares.
type postgresStage struct {
	*stage
	server *postgrestest.Server
	file   *host   // whose root is a file
	hosts  []*host // that share a root in PostgreSQL
}

// benchPostgres measures everything and prints it.
func benchPostgres(ctx context.Context, dir string, o options) (err error) {
	s := &postgresStage{stage: &stage{o: o, dir: dir, groups: map[string]*exec.Cmd{}}}
	defer func() { err = errors.Join(err, s.end()) }()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	fmt.Printf("%s; each host has %.1f of a processor\n\n", machine(), hostShare)
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{{"W1", s.compareReads("W1", "")}, {"W2", s.compareReads("W2", "")}, {"W3", s.compareWrites}, {"edits", s.measureEdits},
		{"kill", s.killAtRandom}} {
		if !o.wants(step.name) {
			continue
		}
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println()
	}
	return nil
}

// moreScripts are the scripts of this comparison, beside those of the works.
var moreScripts = map[string]string{
	"edit": "local p = ...\nuser.bench.edited = tonumber (p.searchTable.v)\nreturn \"done\\n\"",
	"seen": "return user.bench.edited .. \"\\n\"",
}

func (s *postgresStage) prepare(ctx context.Context) (err error) {
	for name, text := range moreScripts {
		if err := s.write("objects/suites/webserverScripts/"+name+".lua", text); err != nil {
			return err
		}
	}
	if err := s.write("objects/user/bench/edited.json", "0\n"); err != nil {
		return err
	}
	if err := s.makeRoot(ctx); err != nil {
		return err
	}
	if err := s.makeSite(ctx); err != nil {
		return err
	}
	if s.server, err = postgrestest.Make(); err != nil {
		return err
	}
	if s.file, err = s.newHost("file", s.path("bench.root")); err != nil {
		return err
	}
	for i := range hostCount {
		name := fmt.Sprintf("host%d", i+1)
		h, err := s.newHost(name, s.server.URL("host_folder="+url.QueryEscape(s.path(name))))
		if err != nil {
			return err
		}
		s.hosts = append(s.hosts, h)
	}
	for _, args := range [][]string{{"init"}, {"import", s.path("objects")}} {
		cmd := exec.CommandContext(ctx, filepath.Join(s.o.bin, "scripter"), append([]string{"--root", s.hosts[0].root}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("scripter %s: %w: %s", args[0], err, out)
		}
	}
	for _, h := range append([]*host{s.file}, s.hosts...) {
		if err := h.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *postgresStage) end() error {
	s.stop()
	var err error
	for _, h := range append([]*host{s.file}, s.hosts...) {
		if h != nil {
			err = errors.Join(err, h.group.remove())
		}
	}
	if s.server != nil {
		s.server.Remove()
	}
	return err
}

func (s *postgresStage) newHost(name, root string) (*host, error) {
	group, err := newCgroup("scripter-bench-"+name, hostShare)
	if err != nil {
		return nil, err
	}
	return &host{s: s.stage, name: name, root: root, group: group}, nil
}

// start starts the daemon of a host.
func (h *host) start(ctx context.Context) error {
	h.count++
	socket := h.s.path(fmt.Sprintf("%s-%d.sock", h.name, h.count))
	// The shell joins the cgroup before the daemon begins.
	line := `echo $$ > "$0" && exec "$@"`
	err := h.s.start(h.name, "sh", "-c", line, h.group.processes(), filepath.Join(h.s.o.bin, "scripter-fcgi"),
		"--root", h.root, "--listen", "unix:"+socket, "--mode", "666")
	if err != nil {
		return err
	}
	if err := waitFor(ctx, socket); err != nil {
		return err
	}
	h.socket.Store(&socket)
	return nil
}

// kill ends all processes of a host at once.
func (h *host) kill() {
	cmd := h.s.groups[h.name]
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	delete(h.s.groups, h.name)
}

// cgroup limits processes to a part of a processor.
type cgroup struct{ folder string }

// newCgroup makes a group in version 2 of cgroups, or in the hierarchy cpu of version 1.
func newCgroup(name string, share float64) (*cgroup, error) {
	const base, period = "/sys/fs/cgroup", 10_000 // µs; short, so that a host is never held up for long
	quota := int(share * period)
	controllers, err := os.ReadFile(base + "/cgroup.controllers")
	two := err == nil
	g := &cgroup{filepath.Join(base, "cpu", name)}
	files := map[string]string{"cpu.cfs_period_us": fmt.Sprint(period), "cpu.cfs_quota_us": fmt.Sprint(quota)}
	if two {
		if !slices.Contains(strings.Fields(string(controllers)), "cpu") {
			return nil, errors.New("the cgroups of this machine do not limit processors")
		}
		_ = os.WriteFile(base+"/cgroup.subtree_control", []byte("+cpu"), 0o644) // it may be there already
		g.folder = filepath.Join(base, name)
		files = map[string]string{"cpu.max": fmt.Sprintf("%d %d", quota, period)}
	}
	if err := os.Mkdir(g.folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("a host needs a cgroup, which only root can make: %w", err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(g.folder, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// processes is the file that takes the ids of processes.
func (g *cgroup) processes() string { return filepath.Join(g.folder, "cgroup.procs") }

// remove removes the group when its processes have ended.
func (g *cgroup) remove() (err error) {
	for range 50 {
		if err = os.Remove(g.folder); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
