package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stage is everything that runs: nginx in front, the peers behind it, all on
// loopback, in process groups of their own.
type stage struct {
	o      options
	dir    string
	port   int // of nginx
	groups map[string]*exec.Cmd

	ports   map[string]int // of the hosts of W8, by peer
	counted int            // what W3's counter has been raised to
}

// phpProgram finds Debian's php-fpm.
func phpProgram() (string, error) {
	found, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(found) == 0 {
		return "", errors.New("there is no php-fpm; make bench installs it")
	}
	return found[len(found)-1], nil
}

func newStage(ctx context.Context, dir string, o options) (*stage, error) {
	s := &stage{o: o, dir: dir, groups: map[string]*exec.Cmd{}, ports: map[string]int{}}
	for _, step := range []func(context.Context) error{
		s.makeRoot, s.makeSite, s.startOurs, s.startPHP, s.startFloor, s.startNginx,
	} {
		if err := step(ctx); err != nil {
			s.stop()
			return nil, err
		}
	}
	return s, nil
}

func (s *stage) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

func (s *stage) write(name, text string) error {
	p := s.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, []byte(text), 0o644)
}

// makeRoot makes our root: the supplied objects, the scripts of the works,
// and the values.
func (s *stage) makeRoot(ctx context.Context) error {
	for _, w := range works {
		if w.script != "" {
			if err := s.write("objects/suites/webserverScripts/"+w.name+".lua", w.script); err != nil {
				return err
			}
		}
	}
	for _, n := range values() {
		if err := s.write("objects/user/bench/"+n+".str", value(n)); err != nil {
			return err
		}
	}
	for _, e := range entries() {
		for field, text := range map[string]string{"name": e.name, "text": e.text, "reply": e.reply} {
			if text == "" {
				continue
			}
			if err := s.write("objects/user/bench/guestbook/"+e.key+"/"+field+".str", text); err != nil {
				return err
			}
		}
	}
	if err := s.write("objects/suites/webserverScripts/W7.lua",
		"user.other.n = (user.other.n or 0) + 1\nreturn \"written\\n\"\n"); err != nil {
		return err
	}
	if err := s.write("objects/user/other/n.json", "0\n"); err != nil {
		return err
	}
	if err := s.write("objects/user/bench/n.json", "0\n"); err != nil {
		return err
	}
	for _, args := range [][]string{{"init"}, {"import", s.path("objects")}} {
		cmd := exec.CommandContext(ctx, filepath.Join(s.o.bin, "scripter"),
			append([]string{"--root", s.path("bench.root")}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("scripter %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

func value(name string) string { return "the value of " + name }

// makeSite writes the pages, ours and the peers'.
func (s *stage) makeSite(context.Context) error {
	for _, w := range works {
		if w.page != "" {
			if err := s.write("site/"+w.name+".mcro", w.page); err != nil {
				return err
			}
		}
		for name, text := range w.parts {
			if err := s.write("site/parts/"+name, text); err != nil {
				return err
			}
		}
	}
	for name, text := range phpPages(s.path("php.db")) {
		if err := s.write("site/"+name, text); err != nil {
			return err
		}
	}
	return nil
}

// start starts a program in a process group of its own.
func (s *stage) start(name string, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log bytes.Buffer
	cmd.Stderr, cmd.Stdout = &log, &log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	s.groups[name] = cmd
	return nil
}

// stop ends every process group that was started.
func (s *stage) stop() {
	for _, cmd := range s.groups {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	for _, cmd := range s.groups {
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(3 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func (s *stage) startOurs(ctx context.Context) error {
	err := s.start(ours, filepath.Join(s.o.bin, "scripter-fcgi"), "--root", s.path("bench.root"),
		"--listen", "unix:"+s.path("ours.sock"), "--mode", "666")
	if err != nil {
		return err
	}
	return waitFor(ctx, s.path("ours.sock"))
}

// startPHP starts php-fpm as its manual advises for a loaded site: a fixed
// number of children, opcache on, and files that are checked once a second at most.
func (s *stage) startPHP(ctx context.Context) error {
	program, err := phpProgram()
	if err != nil {
		return err
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user = www-data\ngroup = www-data\n"
		if out, err := exec.Command("chown", "-R", "www-data", s.path("site")).CombinedOutput(); err != nil {
			return fmt.Errorf("chown: %w: %s", err, out)
		}
		if err := os.Mkdir(s.path("phpdata"), 0o777); err != nil {
			return err
		}
		os.Chmod(s.path("phpdata"), 0o777)
	}
	conf := "[global]\nerror_log = " + s.path("php.log") + "\ndaemonize = no\n[www]\n" + user +
		"listen = " + s.path("php.sock") + "\nlisten.mode = 0666\npm = static\npm.max_children = 8\n" +
		"php_admin_value[opcache.enable] = 1\nphp_admin_value[opcache.revalidate_freq] = 1\n" +
		"php_admin_value[output_buffering] = 0\n"
	if err := s.write("php-fpm.conf", conf); err != nil {
		return err
	}
	if err := s.start(phpFPM, program, "--nodaemonize", "--fpm-config", s.path("php-fpm.conf")); err != nil {
		return err
	}
	return waitFor(ctx, s.path("php.sock"))
}

// startFloor compiles and starts the least that FastCGI can cost.
func (s *stage) startFloor(ctx context.Context) error {
	if err := s.write("floor.c", floorSource); err != nil {
		return err
	}
	if err := s.write("hello.html", hello); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "gcc", "-O2", "-pthread",
		"-o", s.path("floor"), s.path("floor.c")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile the floor: %w: %s", err, out)
	}
	if err := s.start(cFloor, s.path("floor"), s.path("floor.sock"), s.path("hello.html")); err != nil {
		return err
	}
	return waitFor(ctx, s.path("floor.sock"))
}

func (s *stage) startNginx(ctx context.Context) error {
	var ls []net.Listener
	for _, peer := range append([]string{""}, sizePeers()...) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ls = append(ls, l) // open till the end, so that all are different
		s.ports[peer] = l.Addr().(*net.TCPAddr).Port
		if peer == "" {
			s.port = s.ports[peer]
		}
	}
	for _, l := range ls {
		l.Close()
	}
	if err := s.write("nginx.conf", s.nginxConf()); err != nil {
		return err
	}
	if err := s.start("nginx", "nginx", "-c", s.path("nginx.conf"), "-e", s.path("nginx.log")); err != nil {
		return err
	}
	for range 100 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port)); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	log, _ := os.ReadFile(s.path("nginx.log"))
	return fmt.Errorf("nginx does not answer: %s", log)
}

// waitFor waits for a socket.
func waitFor(ctx context.Context, sock string) error {
	for range 200 {
		if c, err := net.Dial("unix", sock); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return fmt.Errorf("no program listens on %s", sock)
}

// url returns the URL at which a peer answers a work.
func (s *stage) url(peer string, w work) string {
	if port := s.ports[peer]; port != 0 {
		return fmt.Sprintf("http://127.0.0.1:%d/%s.mcro", port, w.name)
	}
	path := map[string]string{
		ours: w.name + ".fcgi", phpFPM: w.name + ".php", cFloor: "floor", nginxLua: "lua-" + w.name,
	}[peer]
	if peer == ours && w.page != "" {
		path = w.name + ".mcro"
	}
	return fmt.Sprintf("http://127.0.0.1:%d/%s", s.port, path)
}

// check asks every peer once and compares the bodies.
func (s *stage) check(w work) error {
	want := ""
	for i, peer := range append([]string{ours}, w.peers...) {
		got, err := fetch(s.url(peer, w), w.form)
		if err != nil {
			return fmt.Errorf("%s: %w", peer, err)
		}
		if w.varies {
			got = strings.TrimRight(strings.TrimSpace(got), "0123456789")
		}
		if i == 0 {
			want = got
		} else if got != want {
			return fmt.Errorf("%s answers other bytes than we do: %.300q, %.300q", peer, got, want)
		}
	}
	return nil
}

func fetch(url, form string) (string, error) {
	resp, err := http.Get(url)
	if form != "" {
		resp, err = http.Post(url, "application/x-www-form-urlencoded", strings.NewReader(form))
	}
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("%s: %.200q", resp.Status, b)
	}
	return string(b), err
}
