package fcgi

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// event is why advance stopped.
type event int

const (
	evNone  event = iota
	evReady       // a request has all its parameters
	evData        // the record under way holds bytes of the body
	evEnd         // the body has ended
	evAbort       // the running request was aborted
	evOver        // the running request is over; a record of another one is under way
	evLast        // the connection is to be closed
)

// advance handles records until there is something to stop for. The caller holds c.rmu. The
// connection's own loop passes nil; a caller that reads for a running request passes that,
// and then no request can begin.
func (c *conn) advance(running *request) (event, error) {
	for {
		if err := c.header(); err != nil {
			return evNone, err
		}
		if running != nil && running.over.Load() {
			return evOver, nil
		}
		if ev, err := c.record(running); ev != evNone || err != nil {
			return ev, err
		}
	}
}

// record handles the record under way.
func (c *conn) record(running *request) (event, error) {
	switch h := c.h; {
	case h.id == 0:
		return evNone, c.management()
	case h.typ == typeBegin:
		return c.begin(running)
	case c.req == nil || h.id != c.req.ID || c.req.over.Load():
		return evNone, c.skip() // section 3.3: records of inactive ids are ignored
	case h.typ == typeParams:
		return c.param(c.req)
	case h.typ == typeStdin:
		return c.stdin(c.req)
	case h.typ == typeAbort:
		return c.abort(c.req)
	}
	return evNone, c.skip() // FCGI_DATA and unknown types
}

// begin handles FCGI_BEGIN_REQUEST (section 5.1).
func (c *conn) begin(running *request) (event, error) {
	if c.h.length != bodyLen {
		return evNone, fmt.Errorf("%w: FCGI_BEGIN_REQUEST of %d bytes", ErrProtocol, c.h.length)
	}
	for c.w-c.r < c.rem+c.pad { // at most 263: fits the buffer
		if err := c.fill(); err != nil {
			return evNone, err
		}
	}
	body := c.buf[c.r:]
	id, role, keep := c.h.id, binary.BigEndian.Uint16(body), body[2]&flagKeepConn != 0
	if err := c.skip(); err != nil {
		return evNone, err
	}
	if running == nil && c.req != nil && !c.req.over.Load() {
		running = c.req // its parameters are not complete
	}
	refusal := uint8(statusComplete)
	switch {
	case running != nil && id == running.ID:
		return evNone, fmt.Errorf("%w: request %d begun twice", ErrProtocol, id)
	case running != nil:
		refusal = statusCantMPX
	case role != roleResponder:
		refusal = statusUnknownRole
	case c.s.requests.Add(1) > int64(c.s.limits.Requests):
		c.s.requests.Add(-1)
		refusal = statusOverloaded
	}
	if refusal == statusComplete {
		c.beginRequest(id, keep)
		return evNone, nil
	}
	c.replies = appendEnd(c.replies, id, 0, refusal)
	if !keep {
		c.last.Store(true) // after the one that runs
	}
	if running == nil && !keep {
		return evLast, c.sendReplies()
	}
	return evNone, nil
}

// beginRequest makes id the connection's request.
func (c *conn) beginRequest(id uint16, keep bool) {
	c.req = &request{Request: Request{ID: id}, c: c, keep: keep}
	c.mem.params = c.mem.params[:0]
	c.used.Store(true)
	c.beginPhase(phaseParams)
}

// param handles FCGI_PARAMS (section 5.2). The stream is a string of bytes: a
// pair may lie across records.
func (c *conn) param(req *request) (event, error) {
	if req.started {
		return evNone, c.skip()
	}
	for c.rem > 0 {
		p, err := c.content()
		if err != nil {
			return evNone, err
		}
		if len(c.mem.params)+len(p) > c.s.limits.ParamBytes {
			return c.refuse(req, "431 Request Header Fields Too Large")
		}
		c.mem.params = append(c.mem.params, p...)
	}
	if err := c.skip(); err != nil || c.h.length > 0 {
		return evNone, err
	}
	return c.ready(req)
}

// ready is called when all parameters have arrived.
func (c *conn) ready(req *request) (event, error) {
	m := c.mem
	clear(m.table)
	err := parseParams(m.table, string(m.params), c.s.limits.ParamCount)
	if cap(m.params) > maxIdleBuffer {
		m.params = nil
	}
	switch err {
	case nil:
	case errTooMany:
		return c.refuse(req, "431 Request Header Fields Too Large")
	default:
		return c.refuse(req, "400 Bad Request")
	}
	req.Params = m.table
	req.Stdin, req.Stdout, req.Stderr = (*stdin)(req), (*stdout)(req), (*stderr)(req)
	req.bodyBy = time.Now().Add(c.s.limits.Body)
	req.started = true
	return evReady, nil
}

// maxIdleBuffer is how large a buffer a connection keeps between requests.
const maxIdleBuffer = 16 << 10

// refuse answers a request that no handler gets, and ends the connection: the rest of it
// cannot be understood.
func (c *conn) refuse(req *request, status string) (event, error) {
	page := "Status: " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\n" +
		"Cache-Control: private, no-cache\r\n\r\n" + status + "\n"
	req.end()
	c.replies = appendStream(c.replies, typeStdout, req.ID, []byte(page))
	c.replies = appendHeader(c.replies, typeStdout, req.ID, 0)
	c.replies = appendEnd(c.replies, req.ID, 0, statusComplete)
	return evLast, c.sendReplies()
}

// stdin handles FCGI_STDIN (section 5.3). Records before the parameters are complete, or
// after the end of the stream, are ignored.
func (c *conn) stdin(req *request) (event, error) {
	if req.started && !req.stdinDone.Load() && !req.stdinShut && c.rem > 0 {
		return evData, nil
	}
	if err := c.skip(); err != nil || c.h.length > 0 || !req.started || req.stdinDone.Load() {
		return evNone, err
	}
	req.stdinDone.Store(true)
	return evEnd, nil
}

// abort handles FCGI_ABORT_REQUEST (section 5.4). A running request is ended by
// its handler, which sees its context cancelled.
func (c *conn) abort(req *request) (event, error) {
	if err := c.skip(); err != nil {
		return evNone, err
	}
	if req.started {
		req.aborted.Store(true)
		req.cancel(ErrAborted)
		return evAbort, nil
	}
	req.end()
	c.replies = appendEnd(c.replies, req.ID, 0, statusComplete)
	if !req.keep {
		return evLast, c.sendReplies()
	}
	c.beginPhase(phaseIdle)
	return evNone, nil
}

// management handles the records of id 0 (section 4).
func (c *conn) management() error {
	if c.h.typ != typeGetValues {
		if err := c.skip(); err != nil {
			return err
		}
		c.replies = appendUnknown(c.replies, c.h.typ)
		return nil
	}
	for c.rem > 0 {
		p, err := c.content()
		if err != nil {
			return err
		}
		c.query = append(c.query, p...)
	}
	if err := c.skip(); err != nil {
		return err
	}
	query := c.query
	c.query = nil
	values, ok := c.s.values(query)
	if !ok {
		return fmt.Errorf("%w: malformed FCGI_GET_VALUES", ErrProtocol)
	}
	c.replies = appendHeader(c.replies, typeValuesResult, 0, len(values))
	c.replies = append(c.replies, values...)
	return nil
}

// values returns the values of the known names in query (section 4.1), each once.
func (s *Server) values(query []byte) (values []byte, ok bool) {
	var conns, requests, mpxs bool
	for len(query) > 0 {
		name, _, rest, ok := cutPair(query)
		if !ok {
			return nil, false
		}
		query = rest
		switch string(name) {
		case "FCGI_MAX_CONNS":
			values = appendOnce(values, &conns, "FCGI_MAX_CONNS", s.limits.Conns)
		case "FCGI_MAX_REQS":
			values = appendOnce(values, &requests, "FCGI_MAX_REQS", s.limits.Requests)
		case "FCGI_MPXS_CONNS":
			values = appendOnce(values, &mpxs, "FCGI_MPXS_CONNS", 0)
		}
	}
	return values, true
}

func appendOnce(dst []byte, done *bool, name string, value int) []byte {
	if *done {
		return dst
	}
	*done = true
	return appendPair(dst, name, strconv.Itoa(value))
}

// takeStdinEnd consumes the end of the body if it is next in the buffer. Most web servers send
// the end of an empty body with the parameters.
func (c *conn) takeStdinEnd(req *request) {
	b := c.buf[c.r:c.w]
	if c.inRecord || len(b) < headerLen || b[0] != version {
		return
	}
	h := parseHeader(b)
	if h.typ == typeStdin && h.id == req.ID && h.length == 0 && len(b) >= headerLen+h.padding {
		c.r += headerLen + h.padding
		req.stdinDone.Store(true)
	}
}
