package fcgi

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// readSize is the size of a connection's read buffer: an ordinary request fits.
const readSize = 8 << 10

// readMemory is the memory for reading, which connections reuse.
type readMemory struct {
	buf    [readSize]byte
	params []byte            // the parameters of a request as they came
	table  map[string]string // and as the handler gets them
}

var readMemories = sync.Pool{New: func() any {
	return &readMemory{table: make(map[string]string, 48)}
}}

// reader holds the unread bytes and the record under way. A record is consumed in parts, so
// that reading can stop anywhere and go on later.
type reader struct {
	mem      *readMemory // nil: the connection is closed
	buf      []byte      // mem.buf
	r, w     int         // buf[r:w] is not consumed yet
	inRecord bool
	h        header // of the record under way
	rem      int    // bytes of its content not consumed yet
	pad      int    // bytes of its padding not consumed yet
	nowait   bool   // fill does not block: it fails with errWouldBlock
	reads    int    // how many reads it may make then
}

var errWouldBlock = errors.New("fcgi: nothing to read yet")

func (b *reader) init() {
	b.mem = readMemories.Get().(*readMemory)
	b.buf = b.mem.buf[:]
}

func (b *reader) release() {
	if b.mem != nil {
		readMemories.Put(b.mem)
		b.mem, b.buf, b.r, b.w = nil, nil, 0, 0
	}
}

// fill reads more bytes into the buffer, which must not be full.
func (c *conn) fill() error {
	if c.r == c.w {
		c.r, c.w = 0, 0
	} else if c.w == len(c.buf) {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	n, err := c.read(c.buf[c.w:])
	c.w += n
	return err
}

// read reads at least one byte, or fails.
func (c *conn) read(p []byte) (int, error) {
	if c.mem == nil {
		return 0, ErrClosed
	}
	if c.nowait {
		if c.reads--; c.reads < 0 {
			return 0, errWouldBlock
		}
		return c.readNow(p)
	}
	if err := c.sendReplies(); err != nil {
		return 0, err
	}
	for {
		by := c.deadline()
		c.nc.SetReadDeadline(by)
		if !c.deadline().Equal(by) {
			continue // it has changed, and the interrupt may have come before SetReadDeadline
		}
		n, err := c.nc.Read(p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case !time.Now().Before(c.deadline()):
			return c.readLate(p)
		}
	}
}

// readLate is called when the deadline of a read has passed. It accepts what came at the
// last moment, or while the process stood still. What comes too slowly has left the socket
// empty by then.
func (c *conn) readLate(p []byte) (int, error) {
	n, err := c.readNow(p)
	if err != nil {
		return 0, ErrTimeout
	}
	c.evicted.Store(false)
	return n, nil
}

// readNow reads without waiting.
func (c *conn) readNow(p []byte) (n int, err error) {
	if nc, ok := c.nc.(nowReader); ok {
		if n, err = nc.ReadNow(p); errors.Is(err, syscall.EAGAIN) {
			err = errWouldBlock
		}
		return n, err
	}
	if c.raw == nil {
		return 0, errWouldBlock
	}
	// RawConn.Read would fail after the deadline of an earlier read.
	rerr := c.raw.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), p) })
	switch {
	case rerr != nil:
		return 0, rerr
	case err == syscall.EAGAIN || err == syscall.EINTR:
		return 0, errWouldBlock
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// nowReader is a connection, not of package net, that reads without waiting. The error is
// syscall.EAGAIN if there is nothing to read.
type nowReader interface {
	ReadNow(p []byte) (int, error)
}

// header reads the header of the next record, unless a record is under way.
func (c *conn) header() error {
	if c.inRecord {
		return nil
	}
	for c.w-c.r < headerLen {
		if err := c.fill(); err != nil {
			return err
		}
	}
	b := c.buf[c.r:]
	if b[0] != version {
		return ErrProtocol
	}
	c.h = parseHeader(b)
	c.rem, c.pad = c.h.length, c.h.padding
	c.r += headerLen
	c.inRecord = true
	return nil
}

// content returns the next bytes of the record under way, at least one unless none is left.
// It consumes them. They are valid until the next read.
func (c *conn) content() ([]byte, error) {
	if c.rem == 0 {
		return nil, nil
	}
	if c.r == c.w {
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
	n := min(c.rem, c.w-c.r)
	p := c.buf[c.r : c.r+n]
	c.r += n
	c.rem -= n
	return p, nil
}

// skip consumes the rest of the record under way, padding included. It may fail and be
// called again, so the record is acted upon after skip.
func (c *conn) skip() error {
	for c.rem > 0 {
		if _, err := c.content(); err != nil {
			return err
		}
	}
	for c.pad > 0 {
		if c.r == c.w {
			if err := c.fill(); err != nil {
				return err
			}
		}
		n := min(c.pad, c.w-c.r)
		c.r += n
		c.pad -= n
	}
	c.inRecord = false
	return nil
}
