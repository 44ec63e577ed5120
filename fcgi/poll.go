package fcgi

import (
	"encoding/binary"
	"io"
)

// poll is called by the monitor while a request runs. It does not block. It checks whether
// the web server is still there, and handles the records that it has sent meanwhile, above
// all FCGI_ABORT_REQUEST.
func (c *conn) poll(req *request) {
	if req.over.Load() || c.raw == nil {
		return
	}
	if c.peerClosed() {
		c.last.Store(true)
		req.cancel(ErrClosed)
		return
	}
	if c.peerHalfClosed() {
		c.probe(req)
	}
	if !c.rmu.TryLock() {
		return // the handler is reading its body and sees what comes
	}
	defer c.rmu.Unlock()
	c.nowait, c.reads = true, pollReads
	defer func() { c.nowait = false }()
	if !req.stdinDone.Load() && !req.stdinShut {
		c.pollBody(req)
	}
	if req.stdinDone.Load() || req.stdinShut {
		c.pollRecords(req)
	}
	if len(c.replies) > 0 {
		go func() {
			c.rmu.Lock()
			defer c.rmu.Unlock()
			c.sendReplies()
		}()
	}
}

// pollReads limits the reads of one poll, so that a peer that never stops sending does not
// block the monitor.
const pollReads = 32

// pollRecords handles the records behind the body.
func (c *conn) pollRecords(req *request) {
	for {
		ev, err := c.advance(req)
		switch {
		case err == errWouldBlock || ev == evOver:
			return
		case err != nil:
			if !c.last.Load() {
				c.readFailed(req, err)
			}
			return
		}
	}
}

// pollBody looks for the end of the body, and for an abort behind bytes that the handler has
// not read, as far as the buffer reaches.
func (c *conn) pollBody(req *request) {
	if c.mem == nil {
		return
	}
	if c.w-c.r < len(c.buf) {
		if err := c.fill(); err != nil && err != errWouldBlock && err != io.EOF {
			c.readFailed(req, err)
			return
		}
	}
	if c.inRecord && c.rem == 0 && c.h.typ == typeStdin && c.h.length > 0 && c.skip() != nil {
		return // in the padding of a piece that was read
	}
	c.takeStdinEnd(req)
	b := c.buf[c.r:c.w]
	if c.inRecord {
		b = b[min(len(b), c.rem+c.pad):]
	}
	for len(b) >= headerLen {
		h := parseHeader(b)
		if h.typ == typeAbort && h.id == req.ID && b[0] == version {
			req.aborted.Store(true)
			req.cancel(ErrAborted)
			return
		}
		b = b[min(len(b), headerLen+h.length+h.padding):]
	}
}

// probe finds out whether a web server that half-closed a TCP connection is still there:
// something must be sent for its machine to refuse. An empty record that ends the stderr
// stream is harmless and allowed (section 5.3).
func (c *conn) probe(req *request) {
	if !c.wmu.TryLock() {
		return // something is being sent
	}
	if req.stderrEnd || req.over.Load() || c.werr != nil {
		c.wmu.Unlock()
		return
	}
	req.stderr, req.stderrEnd = true, true
	c.errs = binary.BigEndian.AppendUint16(append(c.errs, version, typeStderr), req.ID)
	c.errs = append(c.errs, 0, 0, 0, 0)
	go func() {
		defer c.wmu.Unlock()
		err := c.send(append(c.vec[:0], c.errs))
		c.errs = c.errs[:0]
		_ = err // send has cancelled the request
	}()
}
