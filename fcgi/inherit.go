package fcgi

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// inherited is a listening socket that the process was started with. Others may
// hold it too, so its queue is theirs when we stop.
type inherited struct{ net.Listener }

// Inherited returns the listening socket that the process was started with:
// systemd's (LISTEN_FDS, when LISTEN_PID is this process), or descriptor 0, as
// section 2.2 has it and mod_fcgid, spawn-fcgi and lighttpd do it. When there
// is none the error is ErrNotListening. Descriptor 0 is taken only if it is a
// listening socket: mod_cgid's standard input is a connected one.
func Inherited() (net.Listener, error) {
	fd, err := inheritedFD(os.Getenv, os.Getpid())
	if err != nil {
		return nil, err
	}
	if fd == 3 {
		// For this process alone, not for those it may start.
		os.Unsetenv("LISTEN_FDS")
		os.Unsetenv("LISTEN_PID")
		os.Unsetenv("LISTEN_FDNAMES")
	}
	return listenerOn(fd)
}

// inheritedFD returns 3 when systemd passed a socket, else 0.
func inheritedFD(getenv func(string) string, pid int) (uintptr, error) {
	if getenv("LISTEN_FDS") == "" || getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return 0, nil
	}
	switch n, err := strconv.Atoi(getenv("LISTEN_FDS")); {
	case err != nil || n < 0:
		return 0, fmt.Errorf("fcgi: LISTEN_FDS is %q, not a number", getenv("LISTEN_FDS"))
	case n == 0:
		return 0, nil
	case n > 1:
		return 0, fmt.Errorf("fcgi: LISTEN_FDS is %d: one socket is wanted", n)
	}
	return 3, nil
}

// acceptTime is how long an accept on an inherited socket lasts at most.
const acceptTime = 100 * time.Millisecond

// boundAccept has an accept come back. Whether it waits at all is told by a flag that
// all processes with the socket have in common, and each of them, the one that
// starts us too, may change: an accept that nobody was to wait in could wait until the
// next connection comes, and hold up whatever waits for it.
func boundAccept(fd int) {
	t := syscall.NsecToTimeval(int64(acceptTime))
	// Where it fails, it is as it was before.
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
