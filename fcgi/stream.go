package fcgi

import (
	"errors"
	"io"
	"strings"
	"time"
	"unsafe"
)

// The streams of a request. They are the request itself with other methods, so that they need
// no memory of their own.
type (
	stdin  request
	stdout request
	stderr request
)

// Read reads the body from the connection, on the caller's goroutine.
func (in *stdin) Read(p []byte) (int, error) {
	req := (*request)(in)
	if req.over.Load() {
		return 0, ErrEnded // without waiting for the lock, which the next request may hold
	}
	c := req.c
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if req.over.Load() {
		return 0, ErrEnded
	}
	if req.bodyErr != nil {
		return 0, req.bodyErr
	}
	if req.stdinDone.Load() {
		req.bodyErr = io.EOF
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.readBody(req, p)
	if err != nil {
		req.bodyErr = err
	}
	return n, err
}

// Close discards the rest of the body as it arrives.
func (in *stdin) Close() error {
	req := (*request)(in)
	if req.over.Load() {
		return ErrEnded
	}
	c := req.c
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if req.bodyErr == nil {
		req.bodyErr = ErrBodyClosed
	}
	if !req.stdinShut && !req.stdinDone.Load() {
		go c.discard(req)
	}
	req.stdinShut = true
	return nil
}

// readBody reads some of the body of a running request.
func (c *conn) readBody(req *request, p []byte) (int, error) {
	c.bodyBy = time.Now().Add(c.s.limits.BodyIdle)
	if req.bodyBy.Before(c.bodyBy) {
		c.bodyBy = req.bodyBy
	}
	ev, err := c.advance(req)
	var n int
	if ev == evData {
		n, err = c.readContent(p)
	}
	switch {
	case err != nil:
		c.readFailed(req, err)
		return 0, bodyError(err)
	case ev == evEnd:
		return 0, io.EOF
	case ev == evAbort:
		return 0, ErrAborted
	case ev == evOver:
		return 0, ErrEnded
	}
	return n, nil
}

// readContent reads content of the record under way into p. It reads past the buffer if that
// saves a copy.
func (c *conn) readContent(p []byte) (int, error) {
	p = p[:min(len(p), c.rem)]
	if c.r == c.w && len(p) >= readSize {
		n, err := c.read(p)
		c.rem -= n
		return n, err
	}
	q, err := c.content()
	n := copy(p, q)
	c.r -= len(q) - n // content may have given more than p takes
	c.rem += len(q) - n
	return n, err
}

// bodyError returns the error of a body for a handler.
func bodyError(err error) error {
	switch {
	case errors.Is(err, ErrTimeout):
		return ErrBodyTimeout
	case errors.Is(err, ErrProtocol):
		return err
	}
	return ErrClosed
}

// discard discards the rest of a body, so that the web server can go on. It stops at any
// record that is not of that body.
func (c *conn) discard(req *request) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	c.bodyBy = time.Now().Add(c.s.limits.BodyIdle)
	for n := 0; n < lingerBytes && !req.stdinDone.Load(); n += c.h.length {
		if c.header() != nil || c.h.id != req.ID || c.h.typ != typeStdin {
			return
		}
		if c.skip() != nil {
			return
		}
		if c.h.length == 0 {
			req.stdinDone.Store(true)
		}
	}
}

// writable reports why nothing can be written for req. c.wmu is held.
func (req *request) writable() error {
	switch {
	case req.over.Load():
		return ErrEnded
	case req.aborted.Load():
		return ErrAborted
	}
	return req.c.werr
}

func (o *stdout) Write(p []byte) (int, error) {
	req := (*request)(o)
	c := req.c
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if err := req.writable(); err != nil {
		return 0, err
	}
	return c.writeOut(req, p)
}

// WriteString writes s without a copy of it as []byte.
func (o *stdout) WriteString(s string) (int, error) {
	req := (*request)(o)
	if len(s) >= directSize {
		// Large pieces are sent without a copy, and nothing changes them.
		return o.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
	}
	c := req.c
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if err := req.writable(); err != nil {
		return 0, err
	}
	return gather(c, req, s)
}

func (o *stdout) Flush() error {
	req := (*request)(o)
	c := req.c
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if err := req.writable(); err != nil {
		return err
	}
	return c.flush(req)
}

func (e *stderr) Write(p []byte) (int, error) {
	req := (*request)(e)
	c := req.c
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if err := req.writable(); err != nil {
		return 0, err
	}
	if req.stderrEnd { // by a probe: the stream cannot be opened again
		c.s.report(&Error{"stderr", c.peer(), errors.New(strings.TrimSpace(string(p)))})
		return len(p), nil
	}
	req.stderr = true
	c.errs = appendStream(c.errs, typeStderr, req.ID, p)
	if len(c.errs) >= flushSize {
		return len(p), c.flush(req)
	}
	return len(p), nil
}
