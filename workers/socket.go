//go:build linux

package workers

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a connection that Go's poller does not know: the poller of every
// process that holds it would be woken for each byte. Whoever reads or writes
// waits by itself.
type socket struct {
	fd            int
	tcp           bool
	activity      atomic.Pointer[activity] // in which it is served; nil: before the first one
	readBy        atomic.Int64             // deadlines by the machine's clock; 0: none
	writeBy       atomic.Int64
	closed        atomic.Bool
	remote, local net.Addr

	// use is held for reading while the descriptor is used: once it is given
	// back its number may soon be that of another connection.
	use sync.RWMutex
	// ahead is how many bytes may be read before the handler is called and
	// after it has returned: what comes behind them is a part of a request that
	// others may want to look at.
	readable  atomic.Int64
	inHandler atomic.Bool // it runs

	// A file that is read first, and how much of it has been read.
	file       int // 0: none
	fileLeft   atomic.Int64
	fileOffset int64
}

// spooled has size bytes of file read before the socket.
func (s *socket) setFile(file int, size *atomic.Int64) {
	if s.file = file; file > 0 {
		s.fileLeft.Store(size.Load())
	}
}

// spent gives the file back.
func (s *socket) closeFile() {
	s.use.Lock()
	defer s.use.Unlock()
	if s.file > 0 {
		unix.Close(s.file)
		s.file = 0
		s.fileLeft.Store(0)
	}
}

func newSocket(fd int) *socket {
	s := &socket{fd: fd}
	if family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil {
		s.tcp = family != unix.AF_UNIX
	}
	if !s.tcp { // the kernel sizes those of TCP as it goes
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
	return s
}

// sendBuffer is how much of an answer a unix socket takes before its worker must
// wait for the web server, in bytes; the kernel allows less where
// net.core.wmem_max is. What it has by itself, 208 kB, makes a worker wait a
// hundred times for an answer of 10 MB.
const sendBuffer = 512 << 10

// with calls f with the descriptor, unless the socket is closed.
func (s *socket) with(f func(fd int)) error {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	f(s.fd)
	return nil
}

// waitSlice is how long one wait lasts: so soon a deadline that was set
// meanwhile is noticed.
const waitSlice = 50 * time.Millisecond

// wait waits until the socket is ready for events.
func (s *socket) wait(events int16, by *atomic.Int64) error {
	for {
		slice := waitSlice
		if t := by.Load(); t != 0 {
			left := time.Duration(t - now())
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			slice = min(slice, left+time.Millisecond)
		}
		var n int
		var err error
		closed := s.with(func(fd int) {
			p := [1]unix.PollFd{{Fd: int32(fd), Events: events}}
			n, err = unix.Poll(p[:], int(slice/time.Millisecond))
		})
		switch {
		case closed != nil:
			return closed
		case n > 0:
			return nil
		case err != nil && err != unix.EINTR:
			return os.NewSyscallError("poll", err)
		}
	}
}

// Read is net.Conn's.
func (s *socket) Read(p []byte) (int, error) {
	for {
		if t := s.readBy.Load(); t != 0 && t <= now() {
			return 0, os.ErrDeadlineExceeded
		}
		n, err := s.receive(p)
		if err != unix.EAGAIN {
			return n, err
		}
		if err := s.wait(unix.POLLIN, &s.readBy); err != nil {
			return 0, err
		}
	}
}

// ReadNow reads what is there, and is unix.EAGAIN when nothing is.
func (s *socket) ReadNow(p []byte) (int, error) {
	if s.readable.Load() == 0 && !s.inHandler.Load() {
		return 0, unix.EAGAIN
	}
	return s.receive(p)
}

// receive is one read.
func (s *socket) receive(p []byte) (n int, err error) {
	if ahead := s.readable.Load(); ahead > 0 && int64(len(p)) > ahead {
		p = p[:ahead]
	}
	for again := true; again; again = err == unix.EINTR {
		if closed := s.with(func(fd int) { n, err = s.readSome(fd, p) }); closed != nil {
			return 0, closed
		}
	}
	switch {
	case err == unix.EAGAIN:
		return 0, err
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	if ahead := s.readable.Load(); ahead > 0 {
		s.readable.Store(max(0, ahead-int64(n)))
	}
	s.progressed()
	return n, nil
}

// readSome reads from the file, then from the socket. Only the worker that
// serves the connection reads, and one goroutine of it at a time.
func (s *socket) readSome(fd int, p []byte) (int, error) {
	left := s.fileLeft.Load()
	if left == 0 {
		return unix.Read(fd, p)
	}
	n, err := unix.Pread(s.file, p[:min(int64(len(p)), left)], s.fileOffset)
	if n == 0 && err == nil {
		err = unix.EIO // it was cut
	}
	if n > 0 {
		s.fileOffset += int64(n)
		s.fileLeft.Store(left - int64(n))
	}
	return max(n, 0), err
}

func (s *socket) progressed() {
	if t := s.activity.Load(); t != nil {
		t.progress.Store(now())
	}
}

// Write is net.Conn's.
func (s *socket) Write(p []byte) (int, error) {
	rest := net.Buffers{p}
	if err := s.WriteBuffers(&rest); err != nil {
		return len(p) - len(rest[0]), err
	}
	return len(p), nil
}

// WriteBuffers writes all pieces, in one call where the peer takes them, and
// takes off what it has written.
func (s *socket) WriteBuffers(pieces *net.Buffers) error {
	if t := s.activity.Load(); t != nil {
		t.sent.Store(true)
	}
	for len(*pieces) > 0 {
		if t := s.writeBy.Load(); t != 0 && t <= now() {
			return os.ErrDeadlineExceeded
		}
		n, err := s.send(*pieces)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := s.wait(unix.POLLOUT, &s.writeBy); err != nil {
				return err
			}
		case err != nil:
			return os.NewSyscallError("write", err)
		default:
			s.progressed()
			advance(pieces, n)
		}
	}
	return nil
}

// takeOff takes the first n bytes off pieces.
func advance(pieces *net.Buffers, n int) {
	for len(*pieces) > 0 && n >= len((*pieces)[0]) {
		n -= len((*pieces)[0])
		*pieces = (*pieces)[1:]
	}
	if n > 0 {
		(*pieces)[0] = (*pieces)[0][n:]
	}
}

// send is one system call. The process ignores SIGPIPE, which Go's own writes
// do not raise either.
func (s *socket) send(pieces [][]byte) (n int, err error) {
	closed := s.with(func(fd int) {
		if len(pieces) == 1 {
			n, err = unix.Write(fd, pieces[0])
		} else {
			n, err = unix.Writev(fd, pieces)
		}
	})
	if closed != nil {
		return 0, closed
	}
	return n, err
}

// peek returns what has come and leaves it there.
func (s *socket) peek(p []byte) (n int, err error) {
	for again := true; again; again = err == unix.EINTR {
		if closed := s.with(func(fd int) { n, _, err = unix.Recvfrom(fd, p, unix.MSG_PEEK|unix.MSG_DONTWAIT) }); closed != nil {
			return 0, closed
		}
	}
	return n, err
}

// ended tells whether the peer sends nothing more: behind what has come lies the
// end, which peek does not see.
func (s *socket) peerClosed() (ended bool) {
	s.with(func(fd int) {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, _ := unix.Poll(p[:], 0)
		ended = n > 0
	})
	return ended
}
