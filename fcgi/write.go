package fcgi

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

const (
	writeSize  = 4 << 10           // of the write buffer that a connection keeps
	flushSize  = 64 << 10          // gathered output of this size is sent
	bufferSize = flushSize + 1<<10 // of a write buffer at most
	directSize = 16 << 10          // pieces from this size on are not copied
	vectorLen  = 16                // records sent in one call
)

// writer gathers records. Output for the web server's log is separate, so that a request
// that fails can still be answered with another page.
type writer struct {
	out  []byte // records of stdout; the last one may be open
	tail int    // where the header of the open record is in out; -1: none is open
	errs []byte // records of stderr
	werr error  // why writing has failed, for good

	heads [vectorLen * headerLen]byte
	vec   [2*vectorLen + 2][]byte
	bufs  net.Buffers
}

var (
	smallBuffers = sync.Pool{New: func() any { return new([writeSize]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}
)

func (b *writer) init() {
	b.out = smallBuffers.Get().(*[writeSize]byte)[:0]
	b.tail = -1
}

// release gives the write buffer back.
func (b *writer) release() {
	switch cap(b.out) {
	case writeSize:
		smallBuffers.Put((*[writeSize]byte)(b.out[:writeSize]))
	case bufferSize:
		largeBuffers.Put((*[bufferSize]byte)(b.out[:bufferSize]))
	}
	b.out = nil
}

// reserve makes room for n more bytes, if bufferSize allows.
func (b *writer) reserve(n int) {
	if len(b.out)+n <= cap(b.out) || cap(b.out) >= bufferSize {
		return
	}
	large := largeBuffers.Get().(*[bufferSize]byte)[:0]
	large = append(large, b.out...)
	b.release()
	b.out = large
}

// seal ends the record that grows.
func (b *writer) seal(id uint16) {
	if b.tail >= 0 {
		putHeader(b.out[b.tail:], typeStdout, id, len(b.out)-b.tail-headerLen)
		b.tail = -1
	}
}

// writeOut writes p to stdout. The caller holds c.wmu.
func (c *conn) writeOut(req *request, p []byte) (int, error) {
	done := 0
	for len(p)-done >= directSize {
		n, err := c.writeDirect(req, p[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	n, err := gather(c, req, p[done:])
	return done + n, err
}

// gather appends p to the open record, and sends it when there is enough.
func gather[T string | []byte](c *conn, req *request, p T) (int, error) {
	done := 0
	c.reserve(len(p) + headerLen)
	for done < len(p) {
		if c.tail < 0 {
			c.tail = len(c.out)
			c.out = appendHeader(c.out, typeStdout, req.ID, 0)
		}
		n := min(len(p)-done, flushSize-len(c.out))
		c.out = append(c.out, p[done:done+n]...)
		done += n
		if len(c.out) >= flushSize {
			if err := c.flush(req); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// writeDirect sends the gathered output, and as much of p as makes large records, in one
// call and without copying.
func (c *conn) writeDirect(req *request, p []byte) (int, error) {
	c.seal(req.ID)
	vec := append(c.vec[:0], c.out, c.errs)
	n := 0
	for i := 0; i < vectorLen && len(p)-n >= directSize; i++ {
		head := c.heads[i*headerLen:][:headerLen]
		k := min(len(p)-n, maxContent)
		putHeader(head, typeStdout, req.ID, k)
		vec = append(vec, head, p[n:n+k])
		n += k
	}
	req.sent = true
	err := c.send(vec)
	c.out, c.errs = c.out[:0], c.errs[:0]
	return n, err
}

// flush sends the gathered output of req.
func (c *conn) flush(req *request) error {
	c.seal(req.ID)
	if len(c.out)+len(c.errs) == 0 {
		return c.werr
	}
	req.sent = req.sent || len(c.out) > 0
	return c.sendGathered()
}

func (c *conn) sendGathered() error {
	err := c.send(append(c.vec[:0], c.out, c.errs))
	c.out, c.errs = c.out[:0], c.errs[:0]
	return err
}

// finish ends the streams of req and the request itself (section 5.5), in one write with the
// rest of its output.
func (c *conn) finish(req *request, failed bool) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	req.end() // before the end is sent: the next request may come at once
	status := req.AppStatus
	if req.Broken && !req.aborted.Load() {
		c.seal(req.ID)
		if c.sendGathered() == nil {
			time.Sleep(settle)
			c.out = appendBroken(c.out, req.ID)
			c.sendGathered()
		}
		c.last.Store(true)
		return
	}
	switch {
	case req.aborted.Load():
		c.out, c.errs, c.tail = c.out[:0], c.errs[:0], -1
		status = max(status, 1)
	case failed:
		status = max(status, 1)
		if !req.sent {
			c.out, c.tail = append(c.out[:0], failedPage(req.ID)...), -1
		}
		fallthrough
	default:
		c.seal(req.ID)
		if req.stderr && !req.stderrEnd {
			c.errs = appendHeader(c.errs, typeStderr, req.ID, 0)
		}
		c.reserve(len(c.errs) + 2*headerLen + bodyLen)
		c.out = append(c.out, c.errs...)
		c.errs = c.errs[:0]
		c.out = appendHeader(c.out, typeStdout, req.ID, 0)
	}
	c.out = appendEnd(c.out, req.ID, status, statusComplete)
	if c.sendGathered() != nil {
		c.last.Store(true)
	}
	if cap(c.out) > maxIdleBuffer {
		c.writer.release()
		c.writer.init()
	}
	if cap(c.errs) > writeSize {
		c.errs = nil
	}
}

// settle is how long the connection waits before it truncates a response. If lighttpd
// receives everything at once, it has not sent the header yet, and then sends the truncated
// response as a complete one.
const settle = 100 * time.Millisecond

// appendBroken appends a record header that no web server takes for the end of a response:
// its version does not exist in FastCGI, and its content never follows. Closing the
// connection is not enough: nginx, Caddy and mod_proxy_fcgi would end the response as if
// they had received FCGI_END_REQUEST.
func appendBroken(b []byte, id uint16) []byte {
	b = appendHeader(b, typeStdout, id, maxContent)
	b[len(b)-headerLen] = 0
	return b
}

// failedPage is the response of a handler that panicked before anything was sent.
func failedPage(id uint16) []byte {
	return appendStream(nil, typeStdout, id, []byte("Status: 500 Internal Server Error\r\n"+
		"Content-Type: text/plain; charset=utf-8\r\nCache-Control: private, no-cache\r\n\r\n"+
		"500 Internal Server Error\n"))
}

// sendReplies sends the connection's own replies. The caller holds c.rmu, not
// c.wmu.
func (c *conn) sendReplies() error {
	if len(c.replies) == 0 {
		return nil
	}
	c.wmu.Lock()
	defer c.wmu.Unlock()
	err := c.send(append(c.vec[:0], c.replies))
	c.replies = c.replies[:0]
	return err
}

// send writes all of vec, which it uses up, before the write limit. The caller
// holds c.wmu.
func (c *conn) send(vec [][]byte) error {
	if c.werr != nil {
		return c.werr
	}
	c.nc.SetWriteDeadline(time.Now().Add(c.s.limits.Write))
	c.bufs = dropEmpty(vec)
	err := c.sendOnce()
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrTimeout
		c.s.report(&Error{"write", c.peer(), err})
	} else {
		err = ErrClosed
	}
	c.werr = err
	c.last.Store(true)
	if req := c.running.Load(); req != nil {
		req.cancel(err)
	}
	return err
}

// sendOnce writes c.bufs and leaves in it what could not be written.
func (c *conn) sendOnce() error {
	if len(c.bufs) == 1 {
		n, err := c.nc.Write(c.bufs[0])
		c.bufs[0] = c.bufs[0][n:]
		return err
	}
	if w, ok := c.nc.(buffersWriter); ok {
		return w.WriteBuffers(&c.bufs)
	}
	_, err := c.bufs.WriteTo(c.nc)
	return err
}

// buffersWriter is a connection, not of package net, that can write several pieces in one
// call. It removes from the pieces what it has written, which is all unless it returns an
// error.
type buffersWriter interface {
	WriteBuffers(*net.Buffers) error
}

func dropEmpty(vec [][]byte) [][]byte {
	n := 0
	for _, p := range vec {
		if len(p) > 0 {
			vec[n] = p
			n++
		}
	}
	return vec[:n]
}
