//go:build linux

package workers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// deposit is where the loops of a worker leave the sockets of connections that
// nobody else holds, while they answer a request. They take them back by themselves;
// when the worker dies, the master finds them there. Both hold both ends.
type parking struct{ in, out int }

func newParking() (parking, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return parking{}, fmt.Errorf("making a socket pair: %w", err)
	}
	return parking{fds[0], fds[1]}, nil
}

// leave leaves the socket of loop number index.
func (d parking) park(index int32, fd int) error {
	return unix.Sendmsg(d.in, []byte{byte(index)}, unix.UnixRights(fd), nil, unix.MSG_DONTWAIT)
}

// take returns the socket that was left first, and the number of its loop; -1 when
// there is none.
func (d parking) unpark() (index int32, fd int) {
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		_, n, _, _, err := unix.Recvmsg(d.out, b[:], oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, -1
		}
		fd, _ := rights(oob[:n])
		return int32(b[0]), fd
	}
}

// takeOf returns the socket of loop number index; -1 when there is none. Those of
// others that were left before are left again.
func (d parking) unparkOf(index int32) int {
	for range maxLoops {
		i, fd := d.unpark()
		if i == index || fd < 0 {
			return fd
		}
		_ = d.park(i, fd) // there is room: it was here
		unix.Close(fd)
	}
	return -1
}

// mostDeposited is how many loops may have stepped aside while their sockets lie in
// the deposit: the kernel keeps few messages (net.unix.max_dgram_qlen is 10).
const maxParkedYields = 7

// deposit leaves the socket of l's connection where the master finds it.
func (w *Worker) park(l *loop, fd int) error {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	return w.parking.park(l.index, fd)
}

// staysDeposited notes that a loop is to step aside, if there is room for its
// socket.
func (w *Worker) reserveParking() bool {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	if w.parkedYields == maxParkedYields {
		return false
	}
	w.parkedYields++
	return true
}

// withdraw takes the socket of l's connection back.
func (w *Worker) unpark(l *loop) {
	w.parkMu.Lock()
	defer w.parkMu.Unlock()
	closeFD(w.parking.unparkOf(l.index))
	if l.yielded {
		w.parkedYields--
	}
}
