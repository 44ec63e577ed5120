package torture

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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/fcgitest"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

func TestMain(m *testing.M) {
	code := m.Run()
	corpus.RemovePrograms()
	os.Exit(code)
}

// place is a root with scripts, and the programs that work on it.
type place struct {
	dir, root, programs string
}

// newPlace makes a root with what is supplied and the scripts given, by their
// names in URLs.
func newPlace(t testing.TB, scripts map[string]string) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{dir, filepath.Join(dir, "torture.root"), corpus.ProgramFolder(t)}
	db, err := sqlitestore.Create(p.root, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		if _, err := objectfiles.Import(tx, root.FS, nil, nil); err != nil {
			return err
		}
		for name, source := range scripts {
			a := append(objectdb.Address{"suites", "webserverScripts"}, strings.Split(name, ".")...)
			if err := tx.Put(a, objectdb.Script(source)); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
	return p
}

// set puts a value into the root.
func (p *place) set(t testing.TB, address string, v objectdb.Value) {
	t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(t, err)
	db, err := sqlitestore.Open(p.root, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(a, v) }))
	require.NoError(t, db.Close())
}

func (p *place) program(name string) string { return filepath.Join(p.programs, name) }

// check runs "scripter check" on the root: it must be whole.
func (p *place) check(t *testing.T) {
	t.Helper()
	out, err := exec.Command(p.program("scripter"), "--root", p.root, "check").CombinedOutput()
	require.NoError(t, err, "scripter check: %s", out)
}

// responder is a started scripter-fcgi.
type responder struct {
	*corpus.Process
	network, addr string
}

// start starts scripter-fcgi on a Unix socket, or on a port of loopback.
func (p *place) start(t testing.TB, network string) *responder {
	t.Helper()
	return p.startWith(t, network, p.program("scripter-fcgi"))
}

// startWith starts it by another command line, which the options are added to.
func (p *place) startWith(t testing.TB, network string, command ...string) *responder {
	t.Helper()
	r := &responder{network: network, addr: filepath.Join(p.dir, "s")}
	listen := "unix:" + r.addr
	if network == "tcp" {
		r.addr = "127.0.0.1:" + corpus.FreePort(t)
		listen = r.addr
		command = append(command, "--allow", "127.0.0.1")
	}
	args := append(command[1:], "--root", p.root, "--listen", listen)
	r.Process = corpus.StartProcess(t, false, nil, command[0], args...)
	r.WaitFor(t, network, r.addr)
	return r
}

func (r *responder) spec() string {
	if r.network == "unix" {
		return "unix:" + r.addr
	}
	return r.addr
}

// patience bounds what takes milliseconds on a machine that does nothing else.
const patience = time.Minute

// dial opens a connection, which ends with the test at the latest.
func (r *responder) dial(t *testing.T) net.Conn {
	t.Helper()
	nc, err := net.DialTimeout(r.network, r.addr, patience)
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(2*patience)))
	return nc
}

// ask makes one request for a script, on a connection of its own, and returns
// status and body.
func (r *responder) ask(ctx context.Context, name, query, body string) (status int, text string, err error) {
	c, err := fcgitest.Dial(ctx, r.spec())
	if err != nil {
		return 0, "", err
	}
	defer c.Close()
	var out bytes.Buffer
	if _, err := c.Do(ctx, variables(name, query, len(body)), strings.NewReader(body), &out, io.Discard); err != nil {
		return 0, out.String(), err
	}
	return parseAnswer(out.String())
}

// serves checks that an ordinary request is answered as it should be.
func (r *responder) serves(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, body, err := r.ask(ctx, "hello", "x", "")
	require.NoError(t, err)
	require.Equal(t, "200 hello x", fmt.Sprint(status, " ", body))
}

// variables are what a web server tells of a request for a script.
func variables(name, query string, length int) map[string]string {
	vars := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1",
		"SERVER_SOFTWARE": "torture", "SERVER_NAME": "localhost",
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/" + name + ".fcgi",
		"REQUEST_URI": "/" + name + ".fcgi?" + query, "QUERY_STRING": query,
		"REMOTE_ADDR": "127.0.0.1", "REDIRECT_STATUS": "200",
	}
	if length > 0 {
		vars["REQUEST_METHOD"], vars["CONTENT_LENGTH"], vars["CONTENT_TYPE"] = "POST", strconv.Itoa(length), "text/plain"
	}
	return vars
}

// parseAnswer reads the output of a handler. It fails when that is not whole.
func parseAnswer(out string) (status int, body string, err error) {
	head, body, ok := strings.Cut(out, "\r\n\r\n")
	if _, err := fmt.Sscanf(head, "Status: %d", &status); err != nil || !ok {
		return 0, out, fmt.Errorf("half an answer: %.100q", out)
	}
	for line := range strings.SplitSeq(head, "\r\n") {
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok && n != strconv.Itoa(len(body)) {
			return status, body, fmt.Errorf("half an answer: %s bytes of %d", n, len(body))
		}
	}
	return status, body, nil
}

// What a CGI program makes of a daemon that serves the same root.
const (
	alone      = "off"  // it answers by itself
	byResident = "auto" // it hands its request over
)

// cgi answers one request with a scripter-cgi of its own. kill, when it is sent
// something, ends that process at once.
func (p *place) cgi(
	ctx context.Context, name, query, body, resident string, kill <-chan time.Time,
) (status int, text string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if kill != nil {
		go func() {
			select {
			case <-kill:
				cancel() // SIGKILL
			case <-ctx.Done():
			}
		}()
	}
	cmd := exec.CommandContext(ctx, p.program("scripter-cgi"))
	cmd.Env = []string{"SCRIPTER_ROOT=" + p.root, "SCRIPTER_RESIDENT=" + resident}
	for name, value := range variables(name, query, len(body)) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(body), &out, &log
	err = cmd.Run()
	if err == nil && crashes.MatchString(log.String()) {
		err = errors.New("it ended well, and said")
	}
	if err != nil {
		return 0, out.String(), fmt.Errorf("scripter-cgi: %w: %s", err, log.String())
	}
	return parseAnswer(out.String())
}

// processes returns the folders below /proc of the processes of a group.
func processes(t *testing.T, group int) (folders []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		// Behind the name in parentheses: state, parent, group.
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(group) {
			folders = append(folders, filepath.Dir(file))
		}
	}
	return folders
}

// memory returns the bytes that the processes of a group hold for themselves, and
// the number of processes.
func memory(t *testing.T, group int) (bytes int64, number int) {
	t.Helper()
	folders := processes(t, group)
	for _, folder := range folders {
		status, _ := os.ReadFile(folder + "/status")
		for line := range strings.Lines(string(status)) {
			if n, ok := strings.CutPrefix(line, "RssAnon:"); ok {
				kb, _ := strconv.ParseInt(strings.Fields(n)[0], 10, 64)
				bytes += kb << 10
			}
		}
	}
	return bytes, len(folders)
}

// connections returns the number of connections that r's processes hold, or have not
// yet accepted.
func connections(t *testing.T, r *responder) (n int) {
	t.Helper()
	table := "/proc/net/unix"
	if r.network == "tcp" {
		table = "/proc/net/tcp"
	}
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	match := r.isTCPConnection
	if r.network != "tcp" {
		match = r.unixConnections(t, string(text))
	}
	for line := range strings.Lines(string(text)) {
		if match(strings.Fields(line)) {
			n++
		}
	}
	return n
}

// unixConnections returns a function that reports whether a line of /proc/net/unix is
// one of r's connections: number, references, protocol, flags, type, state, inode, path.
// A connection has the path that its listener was bound to, before it was renamed. The
// flag is that of a listener.
func (r *responder) unixConnections(t *testing.T, table string) func(f []string) bool {
	t.Helper()
	const listening = "00010000"
	held := map[string]bool{}
	for _, folder := range processes(t, r.Pid()) {
		files, _ := filepath.Glob(folder + "/fd/*")
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil {
				held[target] = true
			}
		}
	}
	paths := map[string]bool{}
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) == 8 && f[3] == listening && held["socket:["+f[6]+"]"] {
			paths[f[7]] = true
		}
	}
	require.NotEmpty(t, paths, "no listener is found")
	return func(f []string) bool { return len(f) == 8 && f[3] != listening && paths[f[7]] }
}

// isTCPConnection: number, local address, remote address, state. Counted are
// established connections, and those whose peer has closed.
func (r *responder) isTCPConnection(f []string) bool {
	_, port, _ := net.SplitHostPort(r.addr)
	number, _ := strconv.Atoi(port)
	return len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) && (f[3] == "01" || f[3] == "08")
}
