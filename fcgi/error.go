package fcgi

import (
	"errors"
	"fmt"
	"io"
)

// What goes wrong with a request. The errors of a lost body are also
// io.ErrUnexpectedEOF to errors.Is.
var (
	ErrAborted     = fmt.Errorf("fcgi: the web server aborted the request: %w", io.ErrUnexpectedEOF)
	ErrClosed      = fmt.Errorf("fcgi: the other side closed the connection: %w", io.ErrUnexpectedEOF)
	ErrBodyTimeout = errors.New("fcgi: the body did not arrive in time")
	ErrBodyClosed  = errors.New("fcgi: the body was closed")
	ErrEnded       = errors.New("fcgi: the request has ended")
)

// What goes wrong with a connection or a server.
var (
	ErrProtocol     = errors.New("fcgi: not FastCGI 1.0")
	ErrTimeout      = errors.New("fcgi: the web server took too long")
	ErrServerClosed = errors.New("fcgi: the server is shut down")
	ErrNotListening = errors.New("fcgi: no listening socket was inherited")
)

// Error says what was tried, with whom, and why it went wrong.
type Error struct {
	Op   string // "read", "write", "accept", "listen", "handler", …
	Peer string // the remote address or the name of the socket; may be ""
	Err  error
}

func (e *Error) Error() string {
	if e.Peer == "" {
		return "fcgi: " + e.Op + ": " + e.Err.Error()
	}
	return "fcgi: " + e.Op + " " + e.Peer + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
