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

// socket is a net.Conn outside of Go's poller. The poller of every process that holds the
// connection would be woken for each byte. Reads and writes poll by themselves.
type socket struct {
	fd            int
	activity      atomic.Pointer[activity] // of the loop that serves it; nil: none yet
	readBy        atomic.Int64             // deadlines, see now; 0: none
	writeBy       atomic.Int64
	closed        atomic.Bool
	remote, local net.Addr

	// use is held for reading while the descriptor is used: after the descriptor is closed,
	// another connection may get its number.
	use sync.RWMutex
	// readable is how many bytes may be read before the handler is called and after it has
	// returned. The bytes behind them belong to the next request, which another worker may
	// serve.
	readable  atomic.Int64
	inHandler atomic.Bool // the handler runs

	// A file that is read before the socket.
	file       int // 0: none
	fileLeft   atomic.Int64
	fileOffset int64
}

// setFile makes the socket read size bytes of file first.
func (s *socket) setFile(file int, size *atomic.Int64) {
	if s.file = file; file > 0 {
		s.fileLeft.Store(size.Load())
	}
}

// closeFile closes the file.
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
	// The kernel adapts the buffers of TCP itself.
	if family, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); family == unix.AF_UNIX {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
	return s
}

// sendBuffer is how many bytes of a response a unix socket takes before the worker must
// wait for the web server. The kernel allows less if net.core.wmem_max is smaller. With
// the default of net.core.wmem_max a worker waits often during a large response.
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

// waitSlice is how long one poll lasts. A deadline that is set meanwhile is noticed after
// that time.
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

// Read implements net.Conn.
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

// ReadNow reads without waiting. The error is unix.EAGAIN if there is nothing to read.
func (s *socket) ReadNow(p []byte) (int, error) {
	if s.readable.Load() == 0 && !s.inHandler.Load() {
		return 0, unix.EAGAIN
	}
	return s.receive(p)
}

// receive reads once.
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

// readSome reads from the file, then from the socket. Only one goroutine of one worker reads
// at a time.
func (s *socket) readSome(fd int, p []byte) (int, error) {
	left := s.fileLeft.Load()
	if left == 0 {
		return unix.Read(fd, p)
	}
	n, err := unix.Pread(s.file, p[:min(int64(len(p)), left)], s.fileOffset)
	if n == 0 && err == nil {
		err = unix.EIO // the file was truncated
	}
	if n > 0 {
		s.fileOffset += int64(n)
		s.fileLeft.Store(left - int64(n))
	}
	return max(n, 0), err
}

func (s *socket) progressed() {
	if a := s.activity.Load(); a != nil {
		a.progress.Store(now())
	}
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	rest := net.Buffers{p}
	if err := s.WriteBuffers(&rest); err != nil {
		return len(p) - len(rest[0]), err
	}
	return len(p), nil
}

// WriteBuffers writes all pieces with as few system calls as possible, and removes from
// pieces what it has written.
func (s *socket) WriteBuffers(pieces *net.Buffers) error {
	if a := s.activity.Load(); a != nil {
		a.sent.Store(true)
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

// advance removes the first n bytes from pieces.
func advance(pieces *net.Buffers, n int) {
	for len(*pieces) > 0 && n >= len((*pieces)[0]) {
		n -= len((*pieces)[0])
		*pieces = (*pieces)[1:]
	}
	if n > 0 {
		(*pieces)[0] = (*pieces)[0][n:]
	}
}

// send makes one system call. The process ignores SIGPIPE, as Go does for its own sockets.
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

// peek reads data and leaves it in the socket.
func (s *socket) peek(p []byte) (n int, err error) {
	for again := true; again; again = err == unix.EINTR {
		closed := s.with(func(fd int) { n, _, err = unix.Recvfrom(fd, p, unix.MSG_PEEK|unix.MSG_DONTWAIT) })
		if closed != nil {
			return 0, closed
		}
	}
	return n, err
}

// peerClosed reports whether the peer sends nothing more. peek does not see the end behind
// unread data.
func (s *socket) peerClosed() (ended bool) {
	s.with(func(fd int) {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, _ := unix.Poll(p[:], 0)
		ended = n > 0
	})
	return ended
}
