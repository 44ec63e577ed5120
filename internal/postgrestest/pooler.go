package postgrestest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"scripter/internal/servertest"
)

// A Pooler is a running pgbouncer in front of a Server. Each transaction gets another connection of the server.
type Pooler struct {
	folder  string
	process *os.Process
	ended   chan error
}

const poolerPort = "6432"

// NewPooler starts pgbouncer with some connections to the server. It skips the test if pgbouncer is not installed; in
// make test, the test fails then.
func NewPooler(t testing.TB, s *Server, connections int) *Pooler {
	t.Helper()
	servertest.Need(t, "pgbouncer")
	program, err := servertest.Find("pgbouncer")
	if err != nil {
		t.Fatal(err)
	}
	p := &Pooler{}
	if err := p.start(program, s, connections); err != nil {
		p.Remove()
		t.Fatal(err)
	}
	return p
}

func (p *Pooler) start(program string, s *Server, connections int) (err error) {
	if p.folder, err = os.MkdirTemp("", "scripter-pgbouncer-"); err != nil {
		return err
	}
	if s.owner != nil { // pgbouncer refuses to run as root
		if err := os.Chown(p.folder, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return err
		}
	}
	config := filepath.Join(p.folder, "pgbouncer.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, `[databases]
postgres = host=%s user=scripter
[pgbouncer]
unix_socket_dir = %s
listen_port = %s
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = %d
max_client_conn = 500
logfile = %s
`, s.folder, p.folder, poolerPort, connections, filepath.Join(p.folder, "log")), 0o644); err != nil {
		return err
	}
	c := exec.Command(program, "--quiet", config)
	c.Dir = p.folder
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	setDeathSignal(c.SysProcAttr)
	started := make(chan error)
	p.ended = make(chan error, 1)
	go func() {
		runtime.LockOSThread() // see Server.Start
		err := c.Start()
		started <- err
		if err == nil {
			p.ended <- c.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	p.process = c.Process
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("unix", filepath.Join(p.folder, ".s.PGSQL."+poolerPort))
		if err == nil {
			return conn.Close()
		}
		log, _ := os.ReadFile(filepath.Join(p.folder, "log"))
		select {
		case err := <-p.ended:
			p.process = nil
			return fmt.Errorf("pgbouncer has ended: %w\n%s", err, log)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("pgbouncer is not ready\n%s", log)
		}
	}
}

// URL is that of the server's database behind pgbouncer.
func (p *Pooler) URL(query string) string {
	return "postgres://scripter@/postgres?host=" + url.QueryEscape(p.folder) + "&port=" + poolerPort + "&" + query
}

// Remove ends pgbouncer.
func (p *Pooler) Remove() {
	if p.process != nil {
		_ = p.process.Signal(syscall.SIGTERM)
		<-p.ended
		p.process = nil
	}
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
}
