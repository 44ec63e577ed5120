package fcgi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What a connection is doing.
const (
	phaseIdle    = iota // between requests
	phaseParams         // a request has begun
	phaseRunning        // its handler runs
	phaseClosing        // nothing more will be served
)

// conn is one connection. Its own goroutine reads requests and runs their handlers; a
// handler's streams read and write on it directly. The monitor checks it from outside.
type conn struct {
	s   *Server
	nc  net.Conn
	raw syscall.RawConn // nil if nc is not a socket: it is then not polled

	phase   atomic.Int32
	since   atomic.Int64 // when the phase began, see Server.now
	used    atomic.Bool  // a request has begun
	last    atomic.Bool  // close after the present request
	evicted atomic.Bool  // to be closed while it waits for a request
	running atomic.Pointer[request]
	seen    *request // running at the last check of the monitor, which owns the field

	rmu sync.Mutex // reading
	reader
	bodyBy  time.Time // when the present wait for a body must end
	req     *request  // the latest one begun
	query   []byte    // of FCGI_GET_VALUES so far
	replies []byte    // records that answer the peer itself, not sent yet

	wmu sync.Mutex // writing
	writer
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{s: s, nc: nc}
	if sc, ok := nc.(syscall.Conn); ok {
		c.raw, _ = sc.SyscallConn()
	}
	c.reader.init()
	c.writer.init()
	c.beginPhase(phaseIdle)
	return c
}

// beginPhase begins a phase.
func (c *conn) beginPhase(phase int32) {
	c.since.Store(int64(c.s.now()))
	c.phase.Store(phase)
}

// deadline returns when a wait for the peer must end. It changes when the connection is
// evicted or the server closes. The caller holds c.rmu.
func (c *conn) deadline() time.Time {
	since := c.s.started.Add(time.Duration(c.since.Load()))
	closing := c.s.closing.Load()
	switch phase := c.phase.Load(); {
	case phase != phaseIdle && phase != phaseParams:
		return c.bodyBy
	case c.evicted.Load():
		return past
	case phase == phaseParams:
		return since.Add(c.s.limits.Params)
	case closing && c.used.Load():
		return past
	case closing:
		return since.Add(newConnGrace)
	}
	return since.Add(c.s.limits.Idle)
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// interrupt makes a read that waits look at its deadline again.
func (c *conn) interrupt() { c.nc.SetReadDeadline(past) }

// serve answers the requests of the connection, one after the other. If wait is true, it
// waits for the next request until the connection must be closed. Else it returns when none
// has arrived, and reports whether the connection stays open.
func (c *conn) serve(wait bool) (open bool) {
	for {
		ev, err := c.next(wait)
		switch {
		case err == errWouldBlock:
			return !c.last.Load()
		case err != nil:
			c.reportRead(err)
			return false
		case ev == evLast:
			c.linger()
			return false
		}
		c.run(c.req)
		if c.last.Load() {
			if !c.req.stdinDone.Load() {
				c.linger()
			}
			return false
		}
		c.beginPhase(phaseIdle)
	}
}

// next reads the next request.
func (c *conn) next(wait bool) (ev event, err error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if wait {
		ev, err = c.advance(nil)
	} else {
		ev, err = c.advanceArrived()
	}
	if ev == evReady {
		c.takeStdinEnd(c.req)
		err = c.sendReplies()
	}
	return ev, err
}

// end closes the connection. It runs also if a handler has called runtime.Goexit.
func (c *conn) end() {
	c.drop(ErrClosed)
	c.phase.Store(phaseClosing)
	c.s.dropConn(c)
	if c.req != nil {
		c.req.end()
	}
	// A handler may have left a goroutine behind that still reads.
	if c.rmu.TryLock() {
		c.reader.release()
		c.rmu.Unlock()
	}
	if c.wmu.TryLock() {
		c.werr = ErrClosed
		c.writer.release()
		c.wmu.Unlock()
	}
}

// drop closes the socket and cancels a running request.
func (c *conn) drop(why error) {
	if req := c.running.Load(); req != nil {
		req.cancel(why)
	}
	c.nc.Close()
}

// run calls the handler and answers the request.
func (c *conn) run(req *request) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	req.cancel = cancel
	c.running.Store(req)
	c.phase.Store(phaseRunning)
	c.s.startMonitor()
	failed := c.call(ctx, req)
	c.finish(req, failed)
	c.running.Store(nil)
	if !req.keep || c.s.closing.Load() {
		c.last.Store(true)
	}
}

// call runs the handler and reports whether it panicked.
func (c *conn) call(ctx context.Context, req *request) (failed bool) {
	defer func() {
		if v := recover(); v != nil {
			failed = true
			c.s.report(&Error{"handler", c.peer(), fmt.Errorf("panic: %v\n%s", v, debug.Stack())})
		}
	}()
	c.s.Handler(ctx, &req.Request)
	return false
}

func (c *conn) peer() string {
	if a := c.nc.RemoteAddr(); a != nil && a.String() != "" && a.String() != "@" {
		return a.String()
	}
	if a := c.nc.LocalAddr(); a != nil {
		return a.String()
	}
	return ""
}

// reportRead reports why a connection ended, unless that is an ordinary end.
func (c *conn) reportRead(err error) {
	if errors.Is(err, ErrProtocol) || (errors.Is(err, ErrTimeout) && c.phase.Load() == phaseParams) {
		c.s.report(&Error{"read", c.peer(), err})
	}
}

// linger closes the connection without losing the response: closing a socket with unread
// bytes resets the connection, and a web server may still be sending a body that is not
// read.
func (c *conn) linger() {
	c.phase.Store(phaseClosing)
	c.rmu.Lock()
	defer c.rmu.Unlock()
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.bodyBy = time.Now().Add(lingerTime)
	for n := 0; n < lingerBytes; {
		c.r, c.w = 0, 0
		if c.fill() != nil {
			return
		}
		n += c.w
	}
}

const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// readFailed is called if reading fails while a request runs.
func (c *conn) readFailed(req *request, err error) {
	c.last.Store(true)
	switch {
	case errors.Is(err, ErrTimeout):
	case errors.Is(err, ErrProtocol):
		c.s.report(&Error{"read", c.peer(), err})
		req.cancel(err)
	case err == io.EOF && c.raw != nil:
		// Perhaps only one half is closed. The monitor finds that out.
		if c.peerClosed() {
			req.cancel(ErrClosed)
		}
	default:
		req.cancel(ErrClosed)
	}
}
