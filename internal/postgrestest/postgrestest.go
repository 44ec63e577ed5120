// Package postgrestest starts PostgreSQL for tests: with a folder of its own, on a socket of its own.
package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scripter/internal/servertest"
)

// A Server is a running PostgreSQL.
type Server struct {
	folder   string
	programs string
	owner    *syscall.Credential // nil: the user who runs the tests
	settings []string
	process  *os.Process
	ended    chan error
}

// Fast has the settings of a server whose data need not survive a crash of the machine.
var Fast = []string{"fsync=off", "full_page_writes=off"}

const patience = time.Minute

// New makes a server and starts it. It skips the test if PostgreSQL is not installed; in make test, the test fails
// then.
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	programs(t)
	s, err := Make(settings...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Make makes a server and starts it.
func Make(settings ...string) (*Server, error) {
	folder, err := folderOfPrograms()
	if err != nil {
		return nil, err
	}
	s := &Server{programs: folder, settings: settings}
	if err = s.make(); err == nil {
		err = s.Start()
	}
	if err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// programs skips or fails a test if PostgreSQL is not installed.
func programs(t testing.TB) {
	t.Helper()
	if _, err := folderOfPrograms(); err != nil {
		servertest.Need(t, "postgres")
		t.Fatal(err)
	}
}

// folderOfPrograms returns the folder of the programs of the newest version that is installed.
func folderOfPrograms() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian does not put it into the PATH
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if len(found) > 0 {
		return filepath.Dir(found[0]), nil
	}
	path, err := servertest.Find("postgres")
	return filepath.Dir(path), err
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// makeFolder makes the server's folder.
func (s *Server) makeFolder() (err error) {
	if s.folder, err = os.MkdirTemp("", "scripter-postgres-"); err != nil {
		return err
	}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if s.owner, err = credential("postgres"); err != nil {
			return err
		}
		if err := os.Chown(s.folder, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return err
		}
		if err := os.Chmod(s.folder, 0o711); err != nil { // web servers of the tests run as other users
			return err
		}
	}
	return nil
}

// make makes the server's folder and its data.
func (s *Server) make() error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	out, err := s.command("initdb", "--pgdata", s.data(), "--auth=trust", "--username=scripter", "--encoding=UTF8",
		"--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) log() string { return filepath.Join(s.folder, "log") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.programs, program), args...)
	c.Dir = s.folder
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return c
}

func credential(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

// Start starts the server, and returns when it accepts connections.
func (s *Server) Start() error {
	log, err := os.OpenFile(s.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-k", s.folder, "-c", "listen_addresses=", "-c", "max_connections=200"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	c := s.command("postgres", args...)
	c.Stdout, c.Stderr = log, log
	setDeathSignal(c.SysProcAttr)
	started := make(chan error)
	s.ended = make(chan error, 1)
	ended := s.ended
	go func() {
		// The server ends with the thread that has started it, should the test be killed.
		runtime.LockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			ended <- c.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process = c.Process
	return s.ready()
}

// ready waits until the server accepts connections.
func (s *Server) ready() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		state, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		lines := bytes.Split(state, []byte("\n"))
		if len(lines) > 7 && string(lines[0]) == strconv.Itoa(s.process.Pid) {
			if is := strings.TrimSpace(string(lines[7])); is == "ready" || is == "standby" {
				return nil
			}
		}
		select {
		case err := <-s.ended:
			return fmt.Errorf("postgres has ended: %w\n%s", err, s.Log())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("postgres is not ready\n%s", s.Log())
		}
	}
}

// Log returns what the server has written.
func (s *Server) Log() string {
	text, _ := os.ReadFile(s.log())
	return string(text)
}

// Flushes returns how many times the server has synced its WAL to the disk.
func (s *Server) Flushes() (int, error) {
	query := "SELECT wal_sync FROM pg_stat_wal"
	out, err := s.command("psql", "-XAt", "-h", s.folder, "-U", "scripter", "-d", "postgres", "-c", query).Output()
	if err != nil {
		return 0, fmt.Errorf("psql: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// Crash ends the server at once, as if it had crashed: what it has not written to its files is lost.
func (s *Server) Crash() { s.stop(syscall.SIGQUIT) }

// Stop ends the server in order.
func (s *Server) Stop() { s.stop(syscall.SIGINT) }

func (s *Server) stop(signal syscall.Signal) {
	if s.process == nil {
		return
	}
	_ = s.process.Signal(signal)
	<-s.ended
	s.process = nil
}

// Remove ends the server and removes its data.
func (s *Server) Remove() {
	s.Crash()
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// NewStandby makes a standby of the server, and starts it.
func (s *Server) NewStandby(t testing.TB) *Server {
	t.Helper()
	b := &Server{programs: s.programs, owner: s.owner, settings: s.settings}
	err := b.makeFolder()
	if err == nil {
		var out []byte
		out, err = b.command("pg_basebackup", "--host", s.folder, "--username", "scripter", "--pgdata", b.data(),
			"--write-recovery-conf", "--checkpoint=fast", "--no-sync").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("pg_basebackup: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = b.Start()
	}
	if err != nil {
		b.Remove()
		t.Fatal(err)
	}
	return b
}

// Promote promotes a standby, and returns when it accepts writes.
func (s *Server) Promote() error {
	out, err := s.command("pg_ctl", "promote", "--wait", "--pgdata", s.data()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_ctl promote: %w\n%s", err, out)
	}
	return nil
}

// URL is that of the server's database. query has further parameters, such as "schema=a".
func (s *Server) URL(query string) string { return URL(query, s) }

// URL is that of the database of several servers, of which a client uses one.
func URL(query string, servers ...*Server) string {
	var folders []string
	for _, s := range servers {
		folders = append(folders, s.folder)
	}
	return "postgres://scripter@/postgres?host=" + url.QueryEscape(strings.Join(folders, ",")) + "&" + query
}

// A Shared server is made when the first test asks for it.
type Shared struct {
	once   sync.Once
	server *Server
}

// Get returns the server.
func (s *Shared) Get(t testing.TB, settings ...string) *Server {
	t.Helper()
	programs(t) // skips each test if there are none
	s.once.Do(func() { s.server = New(t, settings...) })
	if s.server == nil {
		t.Fatal("the server of the tests could not be started")
	}
	return s.server
}

// Remove ends the server and removes its data.
func (s *Shared) Remove() {
	if s.server != nil {
		s.server.Remove()
	}
}
