// Package fcgi is a FastCGI 1.0 responder: it takes requests from a web server
// over a socket and gives a Handler the raw CGI variables and the streams.
//
// Get a socket with Listen or Inherited, then serve it:
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
// # What is served
//
// The Responder role, one request at a time on a connection; as many
// connections as Limits allow, kept open when the web server asks for it.
// FCGI_MPXS_CONNS is announced as 0: a request begun while another one runs on
// the same connection is refused with FCGI_CANT_MPX_CONN. No web server known
// to us multiplexes, and this way the body is read and the answer written by
// the goroutine that runs the handler. (A request that is read only after the
// earlier one ended is served, however early it was sent.)
//
// # Cancelling
//
// The handler's context ends when the web server aborts the request or closes
// the connection; context.Cause tells which (ErrAborted, ErrClosed). Web
// servers close: none is known to send FCGI_ABORT_REQUEST. A web server that
// only half-closes still gets its answer. A request is watched once it has run
// for about a tenth of a second, so short ones do not pay for it.
//
// # Lifetime
//
// Everything a Handler gets is valid until it returns. Params is a map that
// the next request on the connection uses again; whoever keeps it must clone
// it (the strings in it can be kept). The streams of a finished request return
// ErrEnded.
package fcgi
