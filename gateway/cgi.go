package gateway

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

// CGI is one run of a CGI program (RFC 3875): what the web server gives it.
type CGI struct {
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	// Program is the path by which the program was started.
	Program string
	// NPH is "on" or "off" to force the form of the response; "auto" or "" leaves it to
	// the gateway.
	NPH string
	// HandlerNames are file names that count as the handler's own.
	HandlerNames []string

	// BodyIdle is how long the next piece of a body may take, Body how long the whole
	// body may take; 0 means 15 and 60 seconds, as with FastCGI.
	BodyIdle, Body time.Duration

	vars     map[string]string // Environ as a map; nil: it is not parsed yet
	repeated string            // see Variables; set with vars
}

// settle is how long a program waits before it exits after a response that is shorter
// than its Content-Length. If Apache's mod_cgi and mod_cgid read the end together with
// the last bytes, they correct the Content-Length, and the client does not notice.
const settle = 100 * time.Millisecond

// Limits of reading the rest of a body after the response. What is read is discarded.
const (
	drainLimit = 256 << 20 // bytes
	drainTime  = 10 * time.Second
)

// The default limits of the time that a body may take: see [CGI].
const (
	bodyIdle = 15 * time.Second
	bodyTime = 60 * time.Second
)

// stdinReader reads the standard input until ctx ends or the body takes too long. A
// read of a pipe cannot be interrupted, so it is abandoned then.
type stdinReader struct {
	ctx  context.Context
	from io.Reader
	idle time.Duration
	end  time.Time // deadline of the whole body
	late bool      // the body took too long: nothing more is read
}

func (r *stdinReader) Read(p []byte) (int, error) {
	wait := min(r.idle, time.Until(r.end))
	if r.late || wait <= 0 {
		r.late = true
		return 0, os.ErrDeadlineExceeded
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := r.from.Read(own)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		copy(p, own[:got.n])
		r.late = os.IsTimeout(got.err)
		return got.n, got.err
	case <-timer.C:
		r.late = true
		return 0, os.ErrDeadlineExceeded
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

// ServeCGI answers one request. It does not read the arguments of the program: a query without
// "=" arrives there (RFC 3875, 4.4).
func (g *Gateway) ServeCGI(ctx context.Context, c CGI) Outcome {
	r := c.request()
	begun := time.Now()
	body := &stdinReader{
		ctx: ctx, from: c.Stdin, idle: cmp.Or(c.BodyIdle, bodyIdle), end: begun.Add(cmp.Or(c.Body, bodyTime)),
	}
	if r.Body != nil {
		r.Body = body
	}
	w := bufio.NewWriterSize(c.Stdout, 64<<10)
	out := g.serveCGI(ctx, r, w)
	if err := w.Flush(); err != nil && out.Err == nil {
		out.Err, out.Broken = err, true
	}
	if out.Short {
		time.Sleep(settle)
	}
	// mod_cgid and fcgiwrap lose the response of a program that does not read its input to the
	// end.
	if hasBody(r) && !body.late {
		body.end = time.Now().Add(drainTime)
		io.Copy(io.Discard, io.LimitReader(body, drainLimit))
	}
	return out
}

// serveCGI answers a request of a CGI program, in the program itself or in a resident server.
func (g *Gateway) serveCGI(ctx context.Context, r *Request, w io.Writer) Outcome {
	if r.Params["SCRIPT_NAME"]+r.Params["PATH_INFO"] == "" && r.Form == NPH {
		g.log.Warn("no CGI variables: this is a CGI program, started by a web server; " +
			"\"scripter call /NAME.fcgi\" answers a request by hand")
	}
	if r.Form == NPH && r.Params["REDIRECT_STATUS"] != "" {
		g.log.Warn("an nph- handler was reached by an internal redirect: Apache appends a second response; "+
			"reach it by RewriteRule … [PT], or name the handler Scripter.acgi", "path", r.LogPath())
	}
	return g.Answer(ctx, r, w)
}

// request returns the request.
func (c CGI) request() *Request {
	p, repeated := c.vars, c.repeated
	if p == nil {
		p, repeated = Variables(c.Environ)
	}
	names := append([]string{path.Base(c.Program)}, c.HandlerNames...)
	r := &Request{Params: p, Body: c.Stdin, HandlerNames: names, Form: Parsed, Transport: "CGI", repeated: repeated}
	byHand := p["GATEWAY_INTERFACE"] == "" && p["REQUEST_METHOD"] == ""
	switch {
	case c.NPH == "on", c.NPH != "off" && (byHand || wantsNPH(p, c.Program)):
		r.Form = NPH
		r.CloseField = !byHand
	}
	if byHand {
		p["REQUEST_METHOD"] = "GET"
		delete(p, "CONTENT_LENGTH") // nobody sends a body
		r.Body = nil
	}
	return r
}

// Variables returns an environment as a map. If a name comes twice, the first value
// counts; repeated is the name of a header field that came twice, or "". lighttpd sends
// a visitor's X_Real_Ip and a proxy's X-Real-Ip under one name.
func Variables(environ []string) (p map[string]string, repeated string) {
	p = make(map[string]string, len(environ))
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			continue
		}
		if _, again := p[name]; !again {
			p[name] = value
		} else if strings.HasPrefix(name, "HTTP_") {
			repeated = name
		}
	}
	return p, repeated
}

// wantsNPH reports whether the web server passes a complete response on unchanged. Only Apache
// does, for programs whose names begin with nph-. Other web servers make the status line from
// a Status field.
func wantsNPH(p map[string]string, program string) bool {
	name := program
	for _, v := range []string{"SCRIPT_NAME", "SCRIPT_FILENAME"} {
		if p[v] != "" {
			name = p[v]
		}
	}
	return strings.HasPrefix(path.Base(name), "nph-") && strings.HasPrefix(p["SERVER_SOFTWARE"], "Apache")
}
