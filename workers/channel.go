//go:build linux

package workers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// message is a message between the master and a worker. It may carry descriptors.
type message struct {
	kind byte
	slot int32
	gen  uint32
	text []byte
	fd   int // 0: none
	file int // of a msgOpen: the file of a spooled request; 0: none
}

const (
	msgOpen          = 'o' // to a worker: open a shared connection
	msgClose         = 'x' // to a worker: close a shared connection
	msgFileRead      = 's' // to a worker, and back: the spooled request was read
	msgRecheck       = 'l' // to a worker: check all connections again
	msgStopAccepting = 'd' // to a worker: close the listening sockets
	msgLeave         = 'e' // to a worker: end after the present request
	msgReport        = 'r' // to a worker: send a report
	msgFreeMemory    = 'm' // to a worker, and back: return unused memory to the system
	msgNew           = 'n' // to the master: share a new connection
	msgGone          = 'g' // to the master: a shared connection has ended
	msgSpool         = 'b' // to the master: spool the request of a connection
	msgNoDescriptor  = 'f' // to the master: no descriptor was left for a new connection
	msgReopen        = 'a' // to the master: no descriptor was left for a shared connection
	msgWake          = 'w' // to the master: a request begins
	msgReported      = 't' // to the master: a report
	msgReady         = 'y' // to the master: the worker has begun to serve
)

const (
	messageHead = 9
	maxMessage  = 128 << 10
)

// channel carries messages over a SOCK_SEQPACKET socket. The master queues its messages,
// because a busy worker may read them late. A worker sends at once: the master gets what a
// worker sent before it died.
type channel struct {
	nc *net.UnixConn
	// descriptors returns the descriptors for a msgOpen when it is sent, or connectionGone or
	// noDescriptor. Queued messages hold no descriptors.
	descriptors func(slot int32, gen uint32) (fd, file int)
	// sending is when the send call under way began; 0: none is.
	sending atomic.Int64

	mu     sync.Mutex
	queue  []message
	filled *sync.Cond
	closed bool
}

func newChannel(f *os.File, dup func(slot int32, gen uint32) (fd, file int)) (*channel, error) {
	nc, err := net.FileConn(f) // works on a duplicate
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	u, ok := nc.(*net.UnixConn)
	if !ok {
		nc.Close()
		return nil, errors.New("open a channel: not a unix socket")
	}
	c := &channel{nc: u, descriptors: dup}
	c.filled = sync.NewCond(&c.mu)
	go c.sendQueue()
	return c, nil
}

// enqueue queues m, which holds no descriptor.
func (c *channel) enqueue(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.queue = append(c.queue, m)
		c.filled.Signal()
	}
}

func (c *channel) sendQueue() {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.closed {
			c.filled.Wait()
		}
		queue := c.queue
		c.queue = nil
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return
		}
		for _, m := range queue {
			if m.kind == msgOpen && !c.attach(&m) {
				continue
			}
			c.sending.Store(now())
			for c.write(m) == unix.ETOOMANYREFS {
				time.Sleep(10 * time.Millisecond) // too many descriptors are in flight
			}
			c.sending.Store(0)
			closeFD(m.fd)
			closeFD(m.file)
		}
	}
}

// attach gives m its descriptors, and reports whether m is still to be sent: the connection
// may be gone.
func (c *channel) attach(m *message) bool {
	for {
		if m.fd, m.file = c.descriptors(m.slot, m.gen); m.fd != noDescriptor {
			return m.fd > 0
		}
		time.Sleep(descriptorRetry)
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return false
		}
	}
}

// send sends m and closes its descriptor.
func (c *channel) send(m message) {
	c.write(m) // an error means that the master is gone
	closeFD(m.fd)
}

func (c *channel) write(m message) error {
	b := make([]byte, messageHead, messageHead+len(m.text))
	b[0] = m.kind
	binary.BigEndian.PutUint32(b[1:], uint32(m.slot))
	binary.BigEndian.PutUint32(b[5:], m.gen)
	b = append(b, m.text[:min(len(m.text), maxMessage-messageHead)]...)
	var oob []byte
	switch {
	case m.file > 0:
		oob = unix.UnixRights(m.fd, m.file)
	case m.fd > 0:
		oob = unix.UnixRights(m.fd)
	}
	_, _, err := c.nc.WriteMsgUnix(b, oob, nil)
	if errors.Is(err, unix.ETOOMANYREFS) {
		return unix.ETOOMANYREFS
	}
	return err
}

// receive waits for the next message. The error is io.EOF if the other side is gone.
func (c *channel) receive(buf []byte) (message, error) {
	oob := make([]byte, unix.CmsgSpace(8))
	n, oobn, flags, _, err := c.nc.ReadMsgUnix(buf, oob)
	if errors.Is(err, unix.ECONNRESET) {
		// The other side is gone and had not read everything. What it sent can
		// still be received.
		n, oobn, flags, _, err = c.nc.ReadMsgUnix(buf, oob)
	}
	if err != nil {
		return message{}, err
	}
	var m message
	m.fd, m.file = rights(oob[:oobn])
	if flags&unix.MSG_CTRUNC != 0 && m.fd > 0 { // no descriptor was left for the file
		unix.Close(m.fd)
		m.fd = 0
	}
	if n < messageHead {
		closeFD(m.fd)
		return message{}, io.EOF
	}
	m.kind = buf[0]
	m.slot = int32(binary.BigEndian.Uint32(buf[1:]))
	m.gen = binary.BigEndian.Uint32(buf[5:])
	m.text = buf[messageHead:n]
	return m, nil
}

func (c *channel) close() {
	c.mu.Lock()
	c.closed = true
	c.filled.Signal()
	c.mu.Unlock()
	c.nc.Close()
}

// rights returns the descriptors of a message; 0 for those that it does not have.
func rights(oob []byte) (fd, file int) {
	if len(oob) == 0 {
		return 0, 0
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return 0, 0
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return 0, 0
	}
	if len(fds) > 1 {
		file = fds[1]
	}
	return fds[0], file
}

// closeFD closes fd unless it is 0, which stands for no descriptor: descriptor 0 itself is
// the standard input.
func closeFD(fd int) {
	if fd > 0 {
		unix.Close(fd)
	}
}
