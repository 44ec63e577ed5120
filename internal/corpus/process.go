package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"scripter/internal/testlog"
)

// Process is a server that runs for the time of a test.
type Process struct {
	cmd  *exec.Cmd
	out  testlog.Buffer
	done chan struct{}
}

// StartProcess starts a program in a process group of its own and ends the
// group with the test. What the program wrote is shown when the test failed.
// As root it runs as the web servers' user when asServer is set.
func StartProcess(t testing.TB, asServer bool, env []string, name string, args ...string) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.Env = append(p.cmd.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := ServerUser(t); ok && asServer {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		p.cmd.Wait() // its status is of no interest: a test looks at answers
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, p.Output())
		}
	})
	return p
}

// Pid is the number of the process, and of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Output is what the program wrote so far.
func (p *Process) Output() string { return p.out.String() }

// stop asks the process and its children to end (fcgiwrap waits for its own),
// then ends what is left of the group.
func (p *Process) stop() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// startTime is how long a server may take to start: a machine may be busy.
const startTime = time.Minute

// WaitFor waits until a connection to addr is accepted; it fails when the
// process ends before.
func (p *Process) WaitFor(t testing.TB, network, addr string) {
	t.Helper()
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial(network, addr); err == nil {
			conn.Close()
			return
		}
		select {
		case <-p.done:
			t.Fatalf("%s ended before it answered at %s:\n%s", p.cmd.Path, addr, p.Output())
		default:
		}
	}
	t.Fatalf("%s does not answer at %s:\n%s", p.cmd.Path, addr, p.Output())
}

// StartResident starts a resident server for the site, to which every scripter-cgi
// hands its requests over, and fails when none came by the end of the test.
// asServer is that of StartProcess.
func StartResident(t testing.TB, s *Site, asServer bool) *Process {
	t.Helper()
	sock := s.Root + "-door"
	p := StartProcess(t, asServer, nil, s.Program("scripter-fcgi"), "--root", s.Root, "--listen", "door")
	p.WaitFor(t, "unix", sock)
	begun := time.Now()
	t.Cleanup(func() {
		info, err := os.Lstat(sock) // its time is that of the last request
		if err != nil || !info.ModTime().After(begun) {
			t.Errorf("the resident server got no request: %v", err)
		}
	})
	return p
}

// FreePort returns a loopback port that nobody listens on and, until the test
// ends, nobody else gets: it lies below those that the system gives away by
// itself, for connections too, and other tests keep off a port whose number is
// taken for UDP.
func FreePort(t testing.TB) string {
	t.Helper()
	lowest := lowestGiven(t)
	var last error
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", lowest/2+rand.IntN(lowest/2))
		var sign net.PacketConn
		if sign, last = net.ListenPacket("udp", addr); last != nil {
			continue
		}
		var l net.Listener
		if l, last = net.Listen("tcp", addr); last != nil {
			sign.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { sign.Close() })
		_, port, _ := net.SplitHostPort(addr)
		return port
	}
	t.Fatalf("no free port between %d and %d: %v", lowest/2, lowest, last)
	return ""
}

// lowestGiven returns the lowest port that the system gives to who asks for any.
func lowestGiven(t testing.TB) int {
	t.Helper()
	const file = "/proc/sys/net/ipv4/ip_local_port_range"
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 32768
	}
	lowest := 0
	if err == nil {
		_, err = fmt.Sscan(string(text), &lowest)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return max(lowest, 4096) // those below 1024 are reserved
}
