package fcgi

import (
	"errors"
	"fmt"
	"io"
)

// Errors of a request. Those of a truncated body are also io.ErrUnexpectedEOF.
var (
	ErrAborted     = fmt.Errorf("fcgi: the web server aborted the request: %w", io.ErrUnexpectedEOF)
	ErrClosed      = fmt.Errorf("fcgi: connection closed by the web server: %w", io.ErrUnexpectedEOF)
	ErrBodyTimeout = errors.New("fcgi: body timeout")
	ErrBodyClosed  = errors.New("fcgi: the body was closed")
	ErrEnded       = errors.New("fcgi: the request has ended")
)

// Errors of a connection or a server.
var (
	ErrProtocol     = errors.New("fcgi: not FastCGI 1.0")
	ErrTimeout      = errors.New("fcgi: web server timeout")
	ErrServerClosed = errors.New("fcgi: the server is shut down")
	ErrNotListening = errors.New("fcgi: no listening socket was inherited")
)

// Error says what was tried, with which peer, and why it failed.
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
