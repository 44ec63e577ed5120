package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/objectdb"
)

// scripts of these tests.
var relayScripts = map[string]string{
	"count": "scratchpad.n = (scratchpad.n or 0) + 1\nreturn \"count \" .. scratchpad.n",
	"echo": "local p = ...\nreturn p.method .. \" \" .. #p.postArgs .. " +
		"\" \" .. p.postArgs:sub (1, 20) .. \" \" .. p.cgi.SCRIPT_NAME",
	"forged": "local p = ...\nreturn \"it is \" .. tostring (p.cgi [\"scripter.nph\"])",
	"slow":   "scratchpad.n = 1\nlocal t = os.time ()\nwhile os.time () < t + 8 do end\nreturn \"late\"",
	"parts": "webserver.sendPartial (webserver.httpHeader (\"200 OK\", \"text/plain\"))\n" +
		"for i = 1, 64 do webserver.sendPartial ((\"x\"):rep (64 * 1024)) end\n" +
		"webserver.sendPartial (\"end\", false)\nreturn \"\"",
}

func makeRelayRoot(t *testing.T) (string, *objectdb.DB) {
	t.Helper()
	// t.TempDir has the name of the test in it: too long for a socket where TMPDIR is long.
	dir, err := os.MkdirTemp("", "relay")
	require.NoError(t, err)
	file := filepath.Join(dir, "x.root")
	db := makeRoot(t, file) // and removes the folder afterwards
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for name, text := range relayScripts {
			if err := tx.Put(objectdb.Address{"suites", "webserverScripts", name}, objectdb.Script(text)); err != nil {
				return err
			}
		}
		return nil
	}))
	return file, db
}

// resident runs a resident server in this process. around may wrap its handler.
func resident(t *testing.T, file string, db *objectdb.DB, around func(fcgi.Handler) fcgi.Handler) *atomic.Int64 {
	t.Helper()
	used := new(atomic.Int64)
	sock, err := gateway.NewResident(gateway.New(gateway.Options{DB: db}), file, func() { used.Add(1) })
	require.NoError(t, err)
	handler := fcgi.Handler(sock.ServeFCGI)
	if around != nil {
		handler = around(handler)
	}
	path, err := gateway.ResidentSocket(file)
	require.NoError(t, err)
	l, err := fcgi.Listen("unix:"+path, fcgi.ListenOptions{Mode: 0o600})
	require.NoError(t, err)
	s := &fcgi.Server{Handler: handler, Log: func(err error) { t.Log(err) }}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
	return used
}

// result is what a web server sees of a run.
type result struct {
	out, log string
	code     int
}

func (p program) run(t *testing.T) result {
	t.Helper()
	cmd := p.command()
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return result{out.String(), log.String(), cmd.ProcessState.ExitCode()}
}

// runThrough runs it as often as the resident server had no time to take it up
// before the program lost patience, and gives how often that took it up in the
// last run.
func (p program) runThrough(t *testing.T, used *atomic.Int64) (got result, taken int64) {
	t.Helper()
	for range 10 {
		before, begun := used.Load(), time.Now()
		got = p.run(t)
		if taken = used.Load() - before; taken > 0 || time.Since(begun) < takingTime {
			break
		}
		if r, ok := p.body.(*strings.Reader); ok {
			r.Seek(0, io.SeekStart)
		}
	}
	return got, taken
}

// takingTime is how long the relay waits until a request is taken up, and a little less.
const takingTime = 2500 * time.Millisecond

// program is one run to be.
type program struct {
	path string // of the executable; "" is this one
	args []string
	name string // of the script
	env  []string
	body io.Reader
}

func (p program) command() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	if p.path != "" {
		cmd.Path = p.path
	}
	if p.args != nil {
		cmd.Args = p.args
	}
	cmd.Env = append([]string{programVariable + "=1", "GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET",
		"SCRIPT_NAME=/" + p.name + ".fcgi", "REQUEST_URI=/" + p.name + ".fcgi"}, p.env...)
	cmd.Stdin = p.body
	return cmd
}

// alike returns runs of the program, each of which must have one result however it is answered.
func alike(root string) map[string]func() program {
	root = "SCRIPTER_ROOT=" + root
	long, longer := strings.Repeat("0123456789", 20_000), strings.Repeat("0123456789", 100_000)
	post := func(body string, env ...string) program {
		env = append([]string{root, "REQUEST_METHOD=POST", "CONTENT_TYPE=text/plain"}, env...)
		return program{name: "echo", env: env, body: strings.NewReader(body)}
	}
	length := func(n int) string { return fmt.Sprint("CONTENT_LENGTH=", n) }
	return map[string]func() program{
		"get":                   func() program { return program{name: "echo", env: []string{root}} },
		"missing":               func() program { return program{name: "nobody", env: []string{root}} },
		"bad length":            func() program { return program{name: "echo", env: []string{root, "CONTENT_LENGTH=3x"}} },
		"post":                  func() program { return post("a body", length(6)) },
		"longer post":           func() program { return post(longer, length(len(longer))) },
		"longer, no length":     func() program { return post(longer, "CONTENT_LENGTH=-1") },
		"long post":             func() program { return post(long, length(len(long))) },
		"post, more than it is": func() program { return post("a body", length(60)) },
		"post, less than it is": func() program { return post(long, length(5)) },
		"post without length":   func() program { return post(long, "HTTP_TRANSFER_ENCODING=chunked") },
		"post of length -1":     func() program { return post(long, "CONTENT_LENGTH=-1") },
		"post over the limit":   func() program { return post(longer, length(1<<40)) },
		"head":                  func() program { return program{name: "echo", env: []string{root, "REQUEST_METHOD=HEAD"}} },
		"a long answer":         func() program { return program{name: "parts", env: []string{root}} },
		"nph": func() program {
			return program{name: "echo", args: []string{"nph-x.acgi"}, env: []string{root, "SERVER_SOFTWARE=Apache/2",
				"SCRIPT_FILENAME=/x/nph-x.acgi"}}
		},
		"nph: on": func() program { return program{name: "echo", env: []string{root, "SCRIPTER_NPH=on"}} },
		"a name twice": func() program {
			return program{name: "echo", env: []string{root, "HTTP_HOST=a", "HTTP_HOST=b"}}
		},
		"the handler's name": func() program {
			return program{name: "own", args: []string{"/cgi-bin/own.fcgi"}, env: []string{root}}
		},
		"many variables": func() program {
			p := program{name: "echo", env: []string{root}}
			for i := range 800 {
				p.env = append(p.env, fmt.Sprintf("V%d=%s", i, strings.Repeat("v", 150)))
			}
			return p
		},
	}
}

// The two ways give the same bytes and the same exit code.
func TestRelayAnswersAlike(t *testing.T) {
	file, db := makeRelayRoot(t)
	tests, alone := alike(file), map[string]result{}
	for name, p := range tests {
		alone[name] = p().run(t)
	}
	used := resident(t, file, db, nil)
	for name, p := range tests {
		t.Run(name, func(t *testing.T) {
			got, taken := p().runThrough(t, used)
			want := alone[name]
			assert.Equal(t, withoutIncident(want.out), withoutIncident(got.out))
			assert.Equal(t, want.code, got.code)
			switch name {
			case "bad length", "longer post", "longer, no length", "post over the limit":
				assert.Zero(t, taken, "that is left to Go")
			default:
				assert.EqualValues(t, 1, taken, "the resident server answered it")
			}
		})
	}
}

var incident = regexp.MustCompile(`(Incident (<code>)?)[0-9a-z]{8}`)

// withoutIncident removes the incident number, which differs each time.
func withoutIncident(out string) string { return incident.ReplaceAllString(out, "$1") }

// TestRelayForged checks that a request cannot set the variables with which the program informs the
// resident server.
func TestRelayForged(t *testing.T) {
	file, db := makeRelayRoot(t)
	used := resident(t, file, db, nil)
	got, taken := program{name: "forged", env: []string{"SCRIPTER_ROOT=" + file, "scripter.nph=on",
		"scripter.root=/x"}}.runThrough(t, used)
	assert.True(t, strings.HasPrefix(got.out, "Status: 200 OK\r\n"), got.out)
	assert.Contains(t, got.out, "it is nil")
	assert.EqualValues(t, 1, taken)
}

// A server of another user, or one that others can replace, gets no request.
func TestRelayTrustsNobody(t *testing.T) {
	tests := map[string]struct {
		do  func(t *testing.T, folder, sock string)
		why string
	}{
		"everybody may write to the socket": {func(t *testing.T, _, sock string) {
			require.NoError(t, os.Chmod(sock, 0o666))
		}, "everybody may write to it"},
		"everybody may write to the folder": {func(t *testing.T, folder, _ string) {
			require.NoError(t, os.Chmod(folder, 0o777))
		}, "everybody may write to its folder"},
		"a link": {func(t *testing.T, _, sock string) {
			require.NoError(t, os.Rename(sock, sock+"x"))
			require.NoError(t, os.Symlink(sock+"x", sock))
		}, "it is no socket"},
	}
	if os.Geteuid() == 0 {
		tests["another user's socket"] = struct {
			do  func(t *testing.T, folder, sock string)
			why string
		}{func(t *testing.T, _, sock string) { require.NoError(t, os.Lchown(sock, 12345, -1)) }, "it belongs to another user"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file, db := makeRelayRoot(t)
			used := resident(t, file, db, nil)
			sock, err := gateway.ResidentSocket(file)
			require.NoError(t, err)
			test.do(t, filepath.Dir(file), sock)
			got := program{name: "count", env: []string{"SCRIPTER_ROOT=" + file}}.run(t)
			assert.Contains(t, got.out, "count 1")
			assert.Contains(t, got.log, test.why)
			assert.Zero(t, got.code)
			assert.Zero(t, used.Load())
		})
	}
}

// listenVariable names the socket at which this program listens as somebody
// else's resident server.
const listenVariable = "SCRIPTER_CGI_TEST_LISTEN"

// listen accepts connections and sends nothing.
func listen(path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	for {
		if _, err := l.Accept(); err != nil {
			panic(err)
		}
	}
}

// The superuser's server is trusted, another user's is not, even where the root
// is that user's. Only the superuser can be two users.
func TestRelayAsksForThePeer(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	file, db := makeRelayRoot(t)
	for dir := filepath.Dir(file); dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	for _, name := range []string{filepath.Dir(file), file, file + "-wal", file + "-shm"} {
		require.NoError(t, os.Chown(name, 12345, 12345))
	}
	sock, err := gateway.ResidentSocket(file)
	require.NoError(t, err)
	executable := reachable(t)
	as := func(uid uint32, cmd *exec.Cmd) *exec.Cmd {
		cmd.Path = executable
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		return cmd
	}
	count := program{name: "count", env: []string{"SCRIPTER_ROOT=" + file}}

	other := as(12345, exec.Command(executable))
	other.Env = []string{listenVariable + "=" + sock}
	require.NoError(t, other.Start())
	require.Eventually(t, func() bool { // the file is there before anybody listens
		nc, err := net.Dial("unix", sock)
		if err == nil {
			nc.Close()
		}
		return err == nil
	}, patience, 5*time.Millisecond)
	require.NoError(t, os.Chmod(sock, 0o700))
	got := count.run(t)
	require.NoError(t, other.Process.Kill())
	other.Wait()
	require.NoError(t, os.Remove(sock))
	assert.Contains(t, got.out, "count 1")
	assert.Contains(t, got.log, "the process behind it is another user's")

	used := resident(t, file, db, nil)
	require.NoError(t, os.Chown(sock, 12345, 12345))
	out, err := as(12345, count.command()).Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "count 2")
	assert.EqualValues(t, 1, used.Load())
}

// reachable returns a copy of this program that every user may start.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scripter-relay-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	file := filepath.Join(dir, "scripter-cgi")
	require.NoError(t, os.WriteFile(file, program, 0o755))
	require.NoError(t, os.Chmod(file, 0o755)) // whatever the umask is
	return file
}

// A server that does not take the request up loses it to the program, which
// answers by itself, with the body that nobody has read; one that went away after
// it took it up does not.
func TestRelayServerGoes(t *testing.T) {
	const taken, part, end = "\x01\x07\x00\x01\x00\x01\x00\x00\x06", "\x01\x06\x00\x01\x00\x0f\x00\x00Status: 200 OK\n",
		"\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	tests := []struct {
		name, answers string
		out           string // begins what the visitor gets
		code          int
	}{
		{"goes at once", "", "Status: 200 OK\r\n", 0},
		{"answers without taking it", part + end, "Status: 200 OK\r\n", 0},
		{"does not take it", end, "Status: 200 OK\r\n", 0},
		{"is no FastCGI", "HTTP/1.0 400 Bad Request\r\n\r\n", "Status: 200 OK\r\n", 0},
		{"goes after it took it", taken, "Status: 503 ", 1},
		{"goes in the middle", taken + part, "Status: 200 OK\n", 1},
		{"breaks a record off", taken + part[:12], "Stat", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file, _ := makeRelayRoot(t)
			serveBytes(t, file, test.answers)
			got := program{name: "echo", env: []string{"SCRIPTER_ROOT=" + file, "REQUEST_METHOD=POST", "CONTENT_LENGTH=6"},
				body: strings.NewReader("a body")}.run(t)
			assert.True(t, strings.HasPrefix(got.out, test.out), "%q %q", got.out, got.log)
			assert.Equal(t, test.code, got.code)
			if test.code == 0 {
				assert.Contains(t, got.out, "POST 6 a body /echo.fcgi")
			}
			if strings.HasPrefix(test.out, "Status: 503") {
				assert.Contains(t, got.log, "went away")
			}
		})
	}
}

// serveBytes answers each connection to the resident socket with bytes, and closes it.
func serveBytes(t *testing.T, file, answers string) {
	t.Helper()
	path, err := gateway.ResidentSocket(file)
	require.NoError(t, err)
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	require.NoError(t, os.Chmod(path, 0o600))
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.Read(make([]byte, 64<<10))
			io.WriteString(nc, answers)
			nc.Close()
		}
	}()
}

// A server that wakes up after the program has lost patience does not run the
// request a second time.
func TestRelayRunsOnce(t *testing.T) {
	file, db := makeRelayRoot(t)
	woke := make(chan struct{})
	used := resident(t, file, db, func(h fcgi.Handler) fcgi.Handler {
		return func(ctx context.Context, r *fcgi.Request) {
			select {
			case <-ctx.Done(): // the relay, which waits for 3 s, has left
			case <-time.After(patience):
			}
			h(context.WithoutCancel(ctx), r)
			close(woke)
		}
	})
	got := program{name: "count", env: []string{"SCRIPTER_ROOT=" + file}}.run(t)
	assert.Contains(t, got.out, "count 1")
	assert.Zero(t, got.code)
	<-woke
	assert.Zero(t, used.Load())
	got = program{name: "count", env: []string{"SCRIPTER_ROOT=" + file, "SCRIPTER_RESIDENT=off"}}.run(t)
	assert.Contains(t, got.out, "count 2")
}

// SIGTERM ends a request either way, and leaves nothing of it. A program that answers by
// itself may be so young that the signal kills it.
func TestRelayTerminated(t *testing.T) {
	file, db := makeRelayRoot(t)
	terminate := func(asked func(pid int)) int {
		cmd := program{name: "slow", env: []string{"SCRIPTER_ROOT=" + file}}.command()
		require.NoError(t, cmd.Start())
		asked(cmd.Process.Pid)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
	assert.NotZero(t, terminate(func(pid int) { hasOpen(t, pid, file) }))

	asked, ended := make(chan struct{}), make(chan error, 1)
	resident(t, file, db, func(h fcgi.Handler) fcgi.Handler {
		return func(ctx context.Context, r *fcgi.Request) {
			close(asked)
			h(ctx, r)
			ended <- context.Cause(ctx)
		}
	})
	assert.Equal(t, 1, terminate(func(int) {
		<-asked
		time.Sleep(200 * time.Millisecond)
	}))
	assert.ErrorIs(t, <-ended, fcgi.ErrAborted)
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Get(objectdb.Address{"scratchpad", "n"})
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		return nil
	}))
}

// hasOpen waits until a process has a file open.
func hasOpen(t *testing.T, pid int, file string) {
	t.Helper()
	want, err := os.Stat(file)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		return slices.ContainsFunc(list, func(fd string) bool {
			info, err := os.Stat(fd)
			return err == nil && os.SameFile(want, info)
		})
	}, patience, 5*time.Millisecond)
}

// catches reports whether a process has a handler of its own for SIGTERM.
func catches(t *testing.T, pid int) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, line, _ := strings.Cut(string(status), "SigCgt:")
	var mask uint64
	_, err = fmt.Sscanf(strings.TrimSpace(line), "%x", &mask)
	require.NoError(t, err)
	return mask&(1<<(syscall.SIGTERM-1)) != 0
}

// A request whose body stops is answered 408 after fifteen seconds, with and without a
// resident server, and the resident server does not get the request.
//
// Catalogue: B6
func TestBodyThatStops(t *testing.T) {
	t.Parallel() // it waits
	file, db := makeRelayRoot(t)
	used := resident(t, file, db, nil)
	var waiting sync.WaitGroup
	for _, switched := range []string{"auto", "off"} {
		waiting.Go(func() {
			cmd := program{name: "echo", env: []string{"SCRIPTER_ROOT=" + file, "SCRIPTER_RESIDENT=" + switched,
				"REQUEST_METHOD=POST", "CONTENT_LENGTH=9"}}.command()
			body, err := cmd.StdinPipe()
			assert.NoError(t, err)
			defer body.Close()
			var out bytes.Buffer
			cmd.Stdout = &out
			begun := time.Now()
			assert.NoError(t, cmd.Start())
			_, err = io.WriteString(body, "half")
			assert.NoError(t, err)
			cmd.Wait()
			took := time.Since(begun)
			assert.Contains(t, out.String(), "Status: 408 Request Timeout", switched)
			assert.Greater(t, took, 14*time.Second, switched)
			assert.Less(t, took, 25*time.Second, switched)
		})
	}
	waiting.Wait()
	assert.Zero(t, used.Load())
}

// TestRelayTerminatedEarly checks that the server gets no request if SIGTERM comes while the
// relay waits for the body.
func TestRelayTerminatedEarly(t *testing.T) {
	file, db := makeRelayRoot(t)
	used := resident(t, file, db, nil)
	cmd := program{name: "echo", env: []string{"SCRIPTER_ROOT=" + file, "REQUEST_METHOD=POST",
		"CONTENT_LENGTH=9"}}.command()
	body, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer body.Close()
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(body, "half")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return catches(t, cmd.Process.Pid) }, patience, 5*time.Millisecond)
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for over := false; !over; { // the first may come before it waits
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			over = true
		case <-time.After(200 * time.Millisecond):
		}
	}
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
	assert.Empty(t, out.String())
	assert.Zero(t, used.Load())
}
