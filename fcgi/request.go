package fcgi

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// Handler answers one request. It is called on a goroutine of the connection; the request is
// answered when it returns. The package comment says when the context ends.
//
// A panic is recovered: it is reported to Server.Log with its stack, and the web server gets
// a page with status 500 if nothing was sent yet.
type Handler func(ctx context.Context, r *Request)

// Request is one request as the web server sent it.
type Request struct {
	// Params holds the CGI variables, under their own names. Valid until the
	// handler returns.
	Params map[string]string

	// Stdin is the body, exactly as it was sent. The handler compares it with CONTENT_LENGTH.
	// It ends with io.EOF only if the web server ended it; else with ErrAborted, ErrClosed or
	// ErrBodyTimeout. It is also an io.Closer: a handler that writes a long response without
	// reading the body closes it first, so that a web server that sends everything before it
	// reads can go on.
	Stdin io.Reader

	// Stdout takes the response: a CGI header, a blank line, a body. Output is gathered, and
	// sent when there are 64 kB, at Flush, and when the handler returns.
	Stdout io.Writer

	// Stderr takes lines for the web server's error log. They are sent with Stdout.
	Stderr io.Writer

	// Yield may be called once the handler only has to wait and to write the response: its
	// worker may then begin another request. It returns at once. It is nil if requests do not
	// wait for each other.
	Yield func()

	// ID is the web server's number for the request.
	ID uint16

	// AppStatus is the exit status of a CGI program; 0 is success. The handler may set it.
	AppStatus uint32

	// Broken says that the response began and cannot be finished. The handler may set it. The
	// connection is then closed without FCGI_END_REQUEST, so that the web server does not
	// take the truncated response for a complete one.
	Broken bool
}

// Flush sends what was written to Stdout and Stderr.
func (r *Request) Flush() error {
	if f, ok := r.Stdout.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// request is a Request with the state of the connection.
type request struct {
	Request
	c      *conn
	cancel context.CancelCauseFunc
	keep   bool // the connection stays open afterwards

	started   bool      // all parameters came (under conn.rmu)
	bodyErr   error     // how Stdin ended (under conn.rmu)
	bodyBy    time.Time // when the whole body must be there (under conn.rmu)
	stdinShut bool      // the handler closed Stdin (under conn.rmu)

	sent      bool // part of Stdout has left (under conn.wmu)
	stderr    bool // Stderr was used (under conn.wmu)
	stderrEnd bool // the stderr stream has ended (under conn.wmu)

	stdinDone atomic.Bool // the whole body was read
	aborted   atomic.Bool
	over      atomic.Bool // answered: nothing is sent for it any more
}

// end marks the request as answered.
func (req *request) end() {
	if !req.over.Swap(true) {
		req.c.s.requests.Add(-1)
	}
}
