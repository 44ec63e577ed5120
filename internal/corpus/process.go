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

	"scripter/rootname"
)

// A Process is a server that runs during a test.
type Process struct {
	cmd  *exec.Cmd
	out  testlog.Buffer
	done chan struct{}
}

// StartProcess starts a program in a process group of its own and ends the group with
// the test. If the test fails, it logs the program's output. If asServer is set and the
// test runs as root, the program runs as the web servers' user.
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
		p.cmd.Wait() // tests check answers, not the exit status
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

// Pid returns the number of the process, which is also that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Output returns the program's output so far.
func (p *Process) Output() string { return p.out.String() }

// stop asks the process and its children to end (fcgiwrap waits for its children), and
// then kills the rest of the group.
func (p *Process) stop() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// startTime is how long a server may take to start on a busy machine.
const startTime = time.Minute

// WaitFor waits until a connection to addr is accepted. The test fails if the process
// ends before.
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

// StartResident starts a resident server for the site, to which every scripter-cgi hands
// its requests over. The test fails if the server gets no request. asServer is that of
// StartProcess.
func StartResident(t testing.TB, s *Site, asServer bool) *Process {
	t.Helper()
	sock := s.residentSocket(t)
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

// residentSocket returns the path of the resident socket.
func (s *Site) residentSocket(t testing.TB) string {
	t.Helper()
	path, err := rootname.LocalPath(s.Root)
	if err != nil {
		t.Fatal(err)
	}
	return path + "-door"
}

// FreePort returns a free loopback port, which no other test gets until this one ends.
// It lies below the ports that the system assigns, and a UDP socket with the same number
// reserves it.
func FreePort(t testing.TB) string {
	t.Helper()
	lowest := lowestAssigned(t)
	var last error
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", lowest/2+rand.IntN(lowest/2))
		var reserved net.PacketConn
		if reserved, last = net.ListenPacket("udp", addr); last != nil {
			continue
		}
		var l net.Listener
		if l, last = net.Listen("tcp", addr); last != nil {
			reserved.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { reserved.Close() })
		_, port, _ := net.SplitHostPort(addr)
		return port
	}
	t.Fatalf("no free port between %d and %d: %v", lowest/2, lowest, last)
	return ""
}

// lowestAssigned returns the lowest port that the system assigns by itself.
func lowestAssigned(t testing.TB) int {
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
