//go:build linux

package workers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// parking is a socket pair in which the loops of a worker park the sockets of
// connections that no other process holds, while they answer a request. The
// worker takes them back itself. If it dies, the master finds them here. Both
// processes hold both ends.
//
// Without it the master would have to share each of these connections with all
// workers first. That is also what happens if parking fails.
type parking struct{ in, out int }

func newParking() (parking, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return parking{}, fmt.Errorf("create a socket pair: %w", err)
	}
	return parking{fds[0], fds[1]}, nil
}

// park parks the socket of loop index.
func (p parking) park(index int32, fd int) error {
	return unix.Sendmsg(p.in, []byte{byte(index)}, unix.UnixRights(fd), nil, unix.MSG_DONTWAIT)
}

// unpark returns the socket that was parked first, and the index of its loop. The
// socket is 0 if none is parked.
func (p parking) unpark() (index int32, fd int) {
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		_, n, _, _, err := unix.Recvmsg(p.out, b[:], oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0
		}
		fd, _ := rights(oob[:n])
		return int32(b[0]), fd
	}
}

// unparkOf returns the socket of loop index, or 0. It parks the sockets of other
// loops again.
func (p parking) unparkOf(index int32) int {
	for range maxLoops {
		i, fd := p.unpark()
		if i == index || fd == 0 {
			return fd
		}
		_ = p.park(i, fd) // there is room: it has just been here
		unix.Close(fd)
	}
	return 0
}

// maxParkedYields limits how many loops may yield while their sockets are parked:
// the kernel holds few messages (net.unix.max_dgram_qlen is 10).
const maxParkedYields = 7

// park parks the socket of l's connection.
func (w *Worker) park(l *loop, fd int) error {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	return w.parking.park(l.index, fd)
}

// reserveParking reserves room for a loop that yields, and reports whether there
// is any.
func (w *Worker) reserveParking() bool {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	if w.parkedYields == maxParkedYields {
		return false
	}
	w.parkedYields++
	return true
}

// unpark takes the socket of l's connection back.
func (w *Worker) unpark(l *loop) {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	closeFD(w.parking.unparkOf(l.index))
	if l.yielded {
		w.parkedYields--
	}
}
