package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// systemd plays systemd's side of the socket of sd_notify(3).
type systemd struct {
	t    *testing.T
	path string
	conn *net.UnixConn
}

func newSystemd(t *testing.T) *systemd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &systemd{t, path, conn}
}

// until reads states until one begins with want, and returns it.
func (s *systemd) until(want string) string {
	s.t.Helper()
	buf := make([]byte, 4096)
	var heard []string
	require.NoError(s.t, s.conn.SetReadDeadline(time.Now().Add(patience)))
	for {
		n, err := s.conn.Read(buf)
		require.NoError(s.t, err, "waiting for %s; heard %q", want, heard)
		state := string(buf[:n])
		if strings.HasPrefix(state, want) {
			return state
		}
		heard = append(heard, state)
	}
}

// untilFile reads states until one begins with want and has a descriptor, and returns it.
func (s *systemd) untilFile(want string) *os.File {
	s.t.Helper()
	buf, oob := make([]byte, 4096), make([]byte, syscall.CmsgSpace(4))
	require.NoError(s.t, s.conn.SetReadDeadline(time.Now().Add(patience)))
	for {
		n, m, _, _, err := s.conn.ReadMsgUnix(buf, oob)
		require.NoError(s.t, err, "waiting for %s", want)
		if !strings.HasPrefix(string(buf[:n]), want) {
			continue
		}
		messages, err := syscall.ParseSocketControlMessage(oob[:m])
		require.NoError(s.t, err)
		require.Len(s.t, messages, 1)
		fds, err := syscall.ParseUnixRights(&messages[0])
		require.NoError(s.t, err)
		require.Len(s.t, fds, 1)
		return os.NewFile(uintptr(fds[0]), "stored")
	}
}

// serviceFile reads the lines NAME=VALUE of the unit that owners copy.
func serviceFile(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../conf-examples/scripter.service")
	require.NoError(t, err)
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			if name != "SystemCallFilter" { // whose lines are added together
				require.NotContains(t, lines, name)
			}
			lines[name] = value
		}
	}
	return lines
}

// process is the program as a process of its own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *testlog.Buffer
	done chan error
}

func startProcess(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, args...)
	cmd.Env = env
	return launch(t, cmd)
}

// launch starts cmd, which is the program, with cmd.Env beside what this process
// has.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, log: &testlog.Buffer{}, done: make(chan error, 1)}
	p.cmd.Env = append(append(os.Environ(), programEnvironment+"=1"), cmd.Env...)
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.cmd.Start())
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	})
	return p
}

func (p *process) signal(s os.Signal) { require.NoError(p.t, p.cmd.Process.Signal(s)) }

// end waits for the process and returns its exit status.
func (p *process) end() int {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		require.Fail(p.t, "the program does not end", p.log)
		return -1
	}
}

// TestService starts the program as the unit file does, and plays systemd: it is
// told when requests are answered, that the program lives, that it reads its
// settings again, and that it ends.
func TestService(t *testing.T) {
	unit := serviceFile(t)
	assert.Equal(t, "notify", unit["Type"])
	assert.Equal(t, "/bin/kill -HUP $MAINPID", unit["ExecReload"])
	drain, err := strconv.Atoi(unit["TimeoutStopSec"])
	require.NoError(t, err)
	assert.Greater(t, drain, 30, "requests under way have 30 s")
	run := t.TempDir()
	command := strings.Fields(strings.NewReplacer("/srv/scripter/data/scripter.root", makeRoot(t), "/run/scripter",
		run).Replace(unit["ExecStart"]))
	assert.Equal(t, "/usr/local/bin/scripter-fcgi", command[0])

	sd := newSystemd(t)
	p := startProcess(t, []string{"NOTIFY_SOCKET=" + sd.path, "WATCHDOG_USEC=100000"}, command[1:]...)
	assert.Contains(t, sd.until("READY=1"), "STATUS=answering on "+run+"/scripter.sock")
	assert.Contains(t, askAt(t, run+"/scripter.sock", "/samples.tellTime.fcgi"), "Status: 200")
	code, text, _ := look(t, run+"/status.sock", "/-/ping", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, "pong\n", text)
	sd.until("WATCHDOG=1")
	sd.until("WATCHDOG=1")

	p.signal(syscall.SIGHUP)
	assert.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=\d+$`, sd.until("RELOADING=1"))
	sd.until("READY=1")
	assert.Contains(t, askAt(t, run+"/scripter.sock", "/samples.tellTime.fcgi"), "Status: 200")

	p.signal(syscall.SIGTERM)
	sd.until("STOPPING=1")
	assert.Zero(t, p.end(), p.log)
	for _, name := range []string{"scripter.sock", "status.sock"} {
		assert.NoFileExists(t, filepath.Join(run, name))
	}
}

// askAt answers a request through a socket.
func askAt(t *testing.T, sock, path string) string {
	t.Helper()
	return askWith(t, sock, map[string]string{"SCRIPT_NAME": path, "REQUEST_URI": path})
}

// askWith sends a request with these variables, and those that each request needs.
func askWith(t *testing.T, sock string, vars map[string]string) string {
	t.Helper()
	c, err := fcgitest.Dial(context.Background(), "unix:"+sock)
	require.NoError(t, err)
	defer c.Close()
	var out bytes.Buffer
	vars["REQUEST_METHOD"] = "GET"
	_, err = c.Do(context.Background(), vars, strings.NewReader(""), &out, io.Discard)
	require.NoError(t, err)
	return out.String()
}

// TestWatchdogOfStuckProgram checks that the watchdog does not report to systemd while the program is stuck,
// and that it never reports if systemd has not asked for it.
func TestWatchdogOfStuckProgram(t *testing.T) {
	sd := newSystemd(t)
	s := &supervisor{addr: sd.path, every: time.Millisecond}
	ctx, stop := context.WithCancel(context.Background())
	looks, done := make(chan bool), make(chan bool)
	go func() {
		s.watchdog(ctx, func() { <-looks })
		close(done)
	}()
	for range 3 {
		looks <- true
		sd.until("WATCHDOG=1")
		require.NoError(t, sd.conn.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
		_, err := sd.conn.Read(make([]byte, 100))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded, "it is stuck")
	}
	stop()
	close(looks)
	<-done
	(&supervisor{addr: sd.path}).watchdog(context.Background(), func() { t.Error("nobody asked") })
	(*supervisor)(nil).watchdog(context.Background(), func() { t.Error("nobody asked") })
}

func TestSupervisorOf(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		env   string
		addr  string
		every time.Duration
	}{
		{"", "", 0},
		{"NOTIFY_SOCKET=/x", "/x", 0},
		{"NOTIFY_SOCKET=@x WATCHDOG_USEC=30000000", "@x", 15 * time.Second},
		{"NOTIFY_SOCKET=/x WATCHDOG_USEC=30000000 WATCHDOG_PID=" + own, "/x", 15 * time.Second},
		{"NOTIFY_SOCKET=/x WATCHDOG_USEC=30000000 WATCHDOG_PID=1", "/x", 0},
		{"NOTIFY_SOCKET=/x WATCHDOG_USEC=soon", "/x", 0},
		{"WATCHDOG_USEC=30000000", "", 0},
	} {
		s := supervisorOf(strings.Fields(c.env), nil)
		assert.Equal(t, c.addr, s.addr, c.env)
		assert.Equal(t, c.every, s.every, c.env)
	}
	sd := newSystemd(t)
	(&supervisor{addr: sd.path}).ready("fine")
	assert.Equal(t, "READY=1\nSTATUS=fine", sd.until("READY"))
}

// TestHangup checks that SIGHUP opens the log file again and changes to the root that scripter.conf
// names now, with workers and without. An invalid configuration changes nothing.
func TestHangup(t *testing.T) {
	for _, workers := range []string{"0", "2"} {
		t.Run("workers "+workers, func(t *testing.T) { testHangup(t, workers) })
	}
}

func testHangup(t *testing.T, workers string) {
	dir := t.TempDir()
	roots := []string{makeRoot(t), makeRoot(t)}
	for i, file := range roots {
		db, err := sqlitestore.Open(file, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
		require.NoError(t, err)
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			if err := tx.Put(objectdb.Address{"user", "webserver", "flVerboseMessages"}, objectdb.Boolean(true)); err != nil {
				return err
			}
			return tx.Put(objectdb.Address{"suites", "webserverScripts", "which"},
				objectdb.Script(`return "root `+strconv.Itoa(i)+`"`))
		}))
		require.NoError(t, db.Close())
	}
	broken := filepath.Join(dir, "broken.root")
	require.NoError(t, os.WriteFile(broken, []byte("this is no root"), 0o600))
	// The configuration lies beside the program.
	exe, err := os.Executable()
	require.NoError(t, err)
	conf, log := filepath.Join(filepath.Dir(exe), "scripter.conf"), filepath.Join(dir, "log")
	configure := func(text string) { require.NoError(t, os.WriteFile(conf, []byte(text), 0o600)) }
	configure("root: " + roots[0])
	defer os.Remove(conf)
	read := func(file string) string {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(b)
	}
	sd, sock := newSystemd(t), filepath.Join(dir, "s.sock")
	p := startProcess(t, []string{"NOTIFY_SOCKET=" + sd.path}, "--listen", "unix:"+sock, "--log", log, "--workers",
		workers)
	hangUp := func() {
		p.signal(syscall.SIGHUP)
		sd.until("RELOADING=1")
		sd.until("READY=1")
	}
	answers := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(askAt(t, sock, "/which.fcgi"), want) }, patience,
			10*time.Millisecond)
	}
	sd.until("READY=1")
	answers("root 0")
	require.Eventually(t, func() bool { // what the web page shows of the last hour lies beside the root
		files, err := filepath.Glob(roots[0] + "-status-*")
		require.NoError(t, err)
		return len(files) > 0
	}, patience, 20*time.Millisecond)
	require.Eventually(t, func() bool { return strings.Contains(read(log), "path=/which.fcgi") }, patience,
		10*time.Millisecond)

	require.NoError(t, os.Rename(log, log+".1"))
	configure("root: " + roots[1])
	hangUp()
	answers("root 1")
	require.Eventually(t, func() bool { return strings.Contains(read(log), "path=/which.fcgi") }, patience,
		10*time.Millisecond)
	assert.Contains(t, read(log), "SIGHUP: log file, scripter.conf and settings were read again")
	assert.NotContains(t, read(log+".1"), "SIGHUP")

	assert.Contains(t, askAt(t, residentSocket(t, roots[1]), "/which.fcgi"), "root 1",
		"the resident socket is that of the new root")
	assert.NoFileExists(t, residentSocket(t, roots[0]))

	for _, bad := range []string{"root: /nowhere/x.root", "nonsense", "root: " + broken} {
		configure(bad)
		hangUp()
		answers("root 1")
		assert.Contains(t, askAt(t, residentSocket(t, roots[1]), "/which.fcgi"), "root 1")
	}
	assert.NoFileExists(t, residentSocket(t, broken))
	assert.Equal(t, 3, strings.Count(read(log), "what was read before still counts"))
	assert.Empty(t, p.log.String(), "all goes to the file")
	p.signal(syscall.SIGTERM)
	assert.Zero(t, p.end(), read(log))
}

func residentSocket(t *testing.T, root string) string {
	t.Helper()
	path, err := gateway.ResidentSocket(root)
	require.NoError(t, err)
	return path
}

// TestHangupAtStart checks that a SIGHUP that comes while the program starts is handled once it is
// ready: the settings may have changed after the program read them.
func TestHangupAtStart(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	conf, text := filepath.Join(filepath.Dir(exe), "scripter.conf"), []byte("root: "+makeRoot(t))
	require.NoError(t, syscall.Mkfifo(conf, 0o600))
	defer os.Remove(conf)
	p := startProcess(t, nil, "--listen", "unix:"+filepath.Join(t.TempDir(), "s.sock"), "--door", "off")
	began, err := os.OpenFile(conf, os.O_WRONLY, 0) // when the program reads it
	require.NoError(t, err)
	p.signal(syscall.SIGHUP)
	next := conf + ".next"
	require.NoError(t, os.WriteFile(next, text, 0o600))
	require.NoError(t, os.Rename(next, conf))
	_, err = began.Write(text)
	require.NoError(t, err)
	require.NoError(t, began.Close())
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "SIGHUP: ") }, patience,
		10*time.Millisecond, p.log)
	p.signal(syscall.SIGTERM)
	assert.Zero(t, p.end(), p.log)
}

// TestHangupResidentOnly checks that a server with the resident socket alone changes to
// another root, unless another server has the resident socket of that root.
func TestHangupResidentOnly(t *testing.T) {
	for _, workers := range []string{"0", "2"} {
		t.Run("workers "+workers, func(t *testing.T) {
			roots := []string{makeRoot(t), makeRoot(t), makeRoot(t)}
			taken, _, err := listenResident(roots[2])
			require.NoError(t, err)
			defer taken.Close()
			exe, err := os.Executable()
			require.NoError(t, err)
			conf := filepath.Join(filepath.Dir(exe), "scripter.conf")
			defer os.Remove(conf)
			configure := func(root string) { require.NoError(t, os.WriteFile(conf, []byte("root: "+root), 0o600)) }
			configure(roots[0])
			sd := newSystemd(t)
			p := startProcess(t, []string{"NOTIFY_SOCKET=" + sd.path}, "--listen", "door", "--idle-exit", "1h", "--workers",
				workers)
			sd.until("READY=1")
			assert.Contains(t, askAt(t, residentSocket(t, roots[0]), "/which.fcgi"), "404")
			for _, next := range roots[1:] {
				configure(next)
				p.signal(syscall.SIGHUP)
				sd.until("RELOADING=1")
				sd.until("READY=1")
				assert.NoFileExists(t, residentSocket(t, roots[0]))
				assert.Contains(t, askAt(t, residentSocket(t, roots[1]), "/which.fcgi"), "404")
			}
			require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "another process answers") }, patience,
				10*time.Millisecond, p.log)
			p.signal(syscall.SIGTERM)
			assert.Zero(t, p.end(), p.log)
			assert.NoFileExists(t, residentSocket(t, roots[1]))
		})
	}
}
