package fcgi

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// inherited is a listening socket that the process was started with. Other processes may
// hold it too, so Shutdown leaves its queue to them.
type inherited struct{ net.Listener }

// Inherited returns the listening socket that the process was started with: systemd's
// (LISTEN_FDS, if LISTEN_PID is this process), or descriptor 0 (section 2.2), as mod_fcgid,
// spawn-fcgi and lighttpd pass it. If there is none, the error is ErrNotListening.
// Descriptor 0 is used only if it is a listening socket: mod_cgid's standard input is a
// connected one.
//
// Behind its socket, systemd passes the connections that the process before has left in its store
// (FDSTORE of sd_notify(3)). They are returned, too.
func Inherited() (net.Listener, []*os.File, error) {
	n, err := passedFDs(os.Getenv, os.Getpid())
	if err != nil {
		return nil, nil, err
	}
	fd, conns := uintptr(0), []*os.File(nil)
	if n > 0 {
		fd = firstPassed
		for i := range n - 1 {
			conn := firstPassed + 1 + i
			syscall.CloseOnExec(conn)
			if _, err := syscall.Getpeername(conn); err != nil { // a socket that listens, or none

				return nil, nil, fmt.Errorf("fcgi: LISTEN_FDS is %d: one socket is wanted", n)
			}
			conns = append(conns, os.NewFile(uintptr(conn), "connection"))
		}
		// They are for this process only, not for those that it starts.
		os.Unsetenv("LISTEN_FDS")
		os.Unsetenv("LISTEN_PID")
		os.Unsetenv("LISTEN_FDNAMES")
	}
	l, err := listenerOn(fd)
	return l, conns, err
}

// firstPassed is the first descriptor that systemd passes (SD_LISTEN_FDS_START).
const firstPassed = 3

// passedFDs returns how many descriptors systemd has passed.
func passedFDs(getenv func(string) string, pid int) (int, error) {
	if getenv("LISTEN_FDS") == "" || getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return 0, nil
	}
	switch n, err := strconv.Atoi(getenv("LISTEN_FDS")); {
	case err != nil || n < 0:
		return 0, fmt.Errorf("fcgi: LISTEN_FDS is %q, not a number", getenv("LISTEN_FDS"))
	default:
		return n, nil
	}
}

// acceptTime is how long an accept on an inherited socket lasts at most.
const acceptTime = 100 * time.Millisecond

// boundAccept limits how long accept waits. All processes that hold the socket share its
// O_NONBLOCK flag, and each of them may clear it. An accept that should not wait could then
// wait until the next connection comes.
func boundAccept(fd int) {
	t := syscall.NsecToTimeval(int64(acceptTime))
	// An error is ignored: accept then waits without a limit.
	syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &t)
}

func listenerOn(fd uintptr) (net.Listener, error) {
	if !isListening(int(fd)) {
		return nil, ErrNotListening
	}
	boundAccept(int(fd))
	f := os.Stdin // stays open: a file opened later must not become standard input
	if fd != 0 {
		f = os.NewFile(fd, "listener")
		defer f.Close()
	}
	l, err := net.FileListener(f) // works on a duplicate
	if err != nil {
		return nil, &Error{"listen", fmt.Sprintf("descriptor %d", fd), err}
	}
	return inherited{l}, nil
}
