// Package fcgi is a FastCGI 1.0 responder. It reads requests from web servers over
// a socket, and gives a Handler the raw CGI variables and the streams.
//
// Open a socket with Listen or Inherited, then serve it:
//
//	l, err := fcgi.Listen("unix:/run/scripter.sock", fcgi.ListenOptions{Group: "www-data"})
//	…
//	s := &fcgi.Server{Handler: func(ctx context.Context, r *fcgi.Request) {
//		io.WriteString(r.Stdout, "Content-Type: text/plain\r\n\r\n"+r.Params["SCRIPT_NAME"])
//	}}
//	err = s.Serve(l)
//
// Section numbers in this package are those of the FastCGI Specification 1.0
// (Brown, Open Market, 1996).
//
// # A request's way
//
// accept.go accepts a connection, conn.go serves it on a goroutine of its own:
// read.go reads records, dispatch.go handles them until the parameters of a
// request are complete (params.go), and the connection calls the Handler. Its
// streams (stream.go) read and write on the connection directly; write.go
// gathers the output into records. Meanwhile the monitor (monitor.go) finds out
// whether the web server is still there (poll.go).
//
// Worker processes that share connections do not use Serve. They peek at a
// connection (peek.go), and let the Server serve the requests that have arrived
// (ready.go).
//
// # What is served
//
// The Responder role, one request at a time on a connection. There can be as many
// connections as Limits allow, and they stay open if the web server asks for it.
// FCGI_MPXS_CONNS is 0: a request that begins while another one runs on the same
// connection is refused with FCGI_CANT_MPX_CONN. No web server known to us
// multiplexes, and so the goroutine of the handler can read the body and write
// the response itself. A request that is read after the previous one has ended is
// served, however early it was sent.
//
// # Cancelling
//
// The handler's context ends when the web server aborts the request or closes the
// connection; context.Cause returns ErrAborted or ErrClosed. Web servers close:
// none is known to send FCGI_ABORT_REQUEST. A web server that only half-closes
// still gets its response. The monitor begins to check a request after about a
// tenth of a second, so short requests do not pay for it.
//
// # Lifetime
//
// Everything a Handler gets is valid until it returns. The next request on the
// connection uses the map Params again: clone it to keep it. Its strings can be
// kept. The streams of a finished request return ErrEnded.
package fcgi
