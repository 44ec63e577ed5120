package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
	"scripter/objectdb"
)

// This file measures the works of bench/, which compares Scripter with other systems: the cost of a
// request from the FastCGI parameters to the answer, with a socket and without one.

// benchWork is one work: a script at suites.webserverScripts, or a page.
type benchWork struct {
	name, script, page, form string
	path                     string // of a route; "": the URL has the name
	size                     int    // of the body; 0: it varies
}

const benchHello = "<html><body><p>Hello, world." +
	"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!" + "</p></body></html>\n"

var benchWorks = []benchWork{
	{name: "W1", script: "return [==[\n" + benchHello + "]==]", size: len(benchHello)},
	{name: "W2", page: benchPage(), size: len(benchPage()) - 20*(len("<!--#user.bench.v00-->")-len("the value of v00"))},
	{name: "W3", script: `local b = user.bench
b.n = b.n + 1
return "count " .. b.n .. "\n"`},
	{name: "W4", form: benchForm(), size: 3651, script: `local params = ...
write ("<dl>\n")
for name, value in pairs (params.argTable) do
	write ("<dt>", html.escape (name), "</dt><dd>", html.escape (value), "</dd>\n")
end
write ("</dl>\n")`},
	{name: "W5", size: 10 << 20, script: `local piece = ("x"):rep (24 * 1024)
webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
for i = 1, 426 do webserver.sendPartial (piece) end
webserver.sendPartial (("x"):rep (10 * 1024 * 1024 - 426 * 24 * 1024), false)
return ""`},
	{name: "W9", page: `<!--#layout (parts/layout.mcro)--><!--#block title-->Guestbook<!--#end-->
<h1>Guestbook</h1>
<!--#for entry in user.bench.guestbook reverse limit 50-->
<article><h2><!--#entry.index-->. <a href="/entry?id=<!--#entry.key-->"><!--#entry.name--></a></h2>
<p><!--#entry.text--></p><!--#if entry.reply--><blockquote><!--#entry.reply--></blockquote><!--#end--></article>
<!--#else--><p>Be the first to write.</p><!--#end-->`, size: 10727},
}

// benchParts are the files of W9: its layout and a part of that.
var benchParts = map[string]string{
	"layout.mcro": `<!DOCTYPE html>
<html><head><title><!--#block title-->A site<!--#end--></title></head><body>
<!--#include (parts/menu.mcro)-->
<main><!--#content--></main>
<footer><!--#user.bench.v00--></footer></body></html>
`,
	"menu.mcro": `<nav><a href="/">Home</a><!--#if user.bench.v01 ~= "closed"--> <a href="/guestbook">Guestbook</a><!--#end--></nav>
`,
}

// benchPage is about 10 KB with 20 markers whose values lie in the root.
func benchPage() string {
	var b strings.Builder
	b.WriteString("<html><body>\n")
	for i := range 20 {
		fmt.Fprintf(&b, "<p>%s <b><!--#user.bench.v%02d--></b></p>\n", strings.Repeat("Lorem ipsum dolor sit amet. ", 17), i)
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// benchForm is the body of a POST: 20 fields, about 2 KB.
func benchForm() string {
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf("f%02d=%s", i, url.QueryEscape(strings.Repeat("a <b> & \"c\" ", 5))))
	}
	return strings.Join(fields, "&")
}

// newBenchSite returns a site with the works, which logs as scripter-fcgi does.
func newBenchSite(t testing.TB) *testSite {
	s := &testSite{t: t, db: newDB(t), folder: t.TempDir()}
	s.g = New(Options{DB: s.db, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	for _, w := range benchWorks {
		if w.page != "" {
			s.page(w.name+".mcro", w.page)
		} else {
			s.script(w.name, w.script)
		}
	}
	for i := range 20 {
		s.put(fmt.Sprintf("user.bench.v%02d", i), objectdb.String(fmt.Sprintf("the value of v%02d", i)))
	}
	s.put("user.bench.n", objectdb.Number(0))
	for name, text := range benchParts {
		s.file("parts/"+name, text)
	}
	update(t, s.db, func(tx *objectdb.Tx) error {
		for i := range 1000 {
			row := objectdb.Address{"user", "bench", "guestbook", fmt.Sprintf("%06d", i)}
			for name, text := range map[string]string{
				"name": fmt.Sprintf("Visitor <%d>", i), "text": strings.Repeat("Some words & more. ", 5),
			} {
				if err := tx.Put(row.Child(name), objectdb.String(text)); err != nil {
					return err
				}
			}
			if i%10 == 0 {
				if err := tx.Put(row.Child("reply"), objectdb.String("Thank you")); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return s
}

// params returns the variables that nginx sends with its fastcgi_params.
func (w benchWork) params(s *testSite) map[string]string {
	uri := "/" + w.name + ".fcgi"
	if w.page != "" {
		uri = "/" + w.name + ".mcro"
	}
	if w.path != "" {
		uri = w.path
	}
	p := map[string]string{
		"QUERY_STRING": "", "REQUEST_METHOD": "GET", "CONTENT_TYPE": "", "CONTENT_LENGTH": "",
		"SCRIPT_NAME": uri, "REQUEST_URI": uri,
		"DOCUMENT_URI": uri, "DOCUMENT_ROOT": s.folder, "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_SCHEME": "http",
		"GATEWAY_INTERFACE": "CGI/1.1",
		"SERVER_SOFTWARE":   "nginx/1.26.3", "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "51122",
		"REMOTE_USER": "", "SERVER_ADDR": "127.0.0.1",
		"SERVER_PORT": "8080", "SERVER_NAME": "", "REDIRECT_STATUS": "200", "HTTP_HOST": "127.0.0.1",
		"SCRIPT_FILENAME": s.folder + uri,
		"HTTP_USER_AGENT": "wrk/4.1.0", "HTTP_ACCEPT": "*/*",
	}
	if w.form != "" {
		p["REQUEST_METHOD"], p["CONTENT_TYPE"], p["CONTENT_LENGTH"] = "POST",
			"application/x-www-form-urlencoded", strconv.Itoa(len(w.form))
	}
	return p
}

// sink receives an answer as the FastCGI responder's stream does, without a socket.
type sink struct {
	first []byte // the first piece
	size  int
}

func (o *sink) Write(p []byte) (int, error) {
	o.first = append(o.first, p[:min(len(p), 512-len(o.first))]...)
	o.size += len(p)
	return len(p), nil
}

func (o *sink) WriteString(p string) (int, error) {
	o.first = append(o.first, p[:min(len(p), 512-len(o.first))]...)
	o.size += len(p)
	return len(p), nil
}

func (o *sink) Flush() error { return nil }

// bodySize returns the length of the body in the sink.
func (o *sink) bodySize() int { return o.size - bytes.Index(o.first, []byte("\r\n\r\n")) - 4 }

// fits reports whether an answer is that of the work.
func (w benchWork) fits(o *sink) bool {
	return bytes.HasPrefix(o.first, []byte("Status: 200 ")) && (w.size == 0 || o.bodySize() == w.size)
}

func BenchmarkServeFCGI(b *testing.B) {
	s := newBenchSite(b)
	for _, w := range benchWorks {
		b.Run(w.name, func(b *testing.B) { s.serveFCGI(b, w) })
	}
}

func (s *testSite) serveFCGI(b *testing.B, w benchWork) {
	params := w.params(s)
	var out sink
	var body strings.Reader
	var r fcgi.Request
	b.ReportAllocs()
	began := processorTime()
	for b.Loop() {
		out = sink{first: out.first[:0]}
		body.Reset(w.form)
		r = fcgi.Request{Params: params, Stdin: &body, Stdout: &out, ID: 1}
		s.g.ServeFCGI(context.Background(), &r)
		if !w.fits(&out) || r.Broken {
			b.Fatalf("a body of %d bytes, not %d: %s", out.bodySize(), w.size, out.first)
		}
	}
	b.ReportMetric(float64((processorTime()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// BenchmarkOwnTrap is W1 behind a trap that is not the supplied one.
func BenchmarkOwnTrap(b *testing.B) {
	s := newBenchSite(b)
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`local params = ...
params.seen = true
return webserver.handler (params)`))
	s.serveFCGI(b, benchWorks[0])
}

// BenchmarkServed has a socket, the responder and a client around each request.
func BenchmarkServed(b *testing.B) {
	s := newBenchSite(b)
	c := dialGateway(b, s.g)
	for _, w := range benchWorks {
		params := w.params(s)
		b.Run(w.name, func(b *testing.B) {
			var out sink
			b.ReportAllocs()
			began := processorTime()
			for b.Loop() {
				out = sink{first: out.first[:0]}
				_, err := c.Do(context.Background(), params, strings.NewReader(w.form), &out, io.Discard)
				if err != nil || !w.fits(&out) {
					b.Fatalf("%v; a body of %d bytes, not %d: %s", err, out.bodySize(), w.size, out.first)
				}
			}
			b.ReportMetric(float64((processorTime()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// dialGateway serves g on a socket and connects to it.
func dialGateway(t testing.TB, g *Gateway) *fcgitest.Client {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	server := &fcgi.Server{Handler: g.ServeFCGI}
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	c, err := fcgitest.Dial(context.Background(), "unix:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(); server.Shutdown(context.Background()); <-done })
	return c
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
