package gateway

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"scripter/httpheader"
)

// answer is the way out of one request: head and body, in the form of the
// road, cut into chunks (specification, 2.2 and 8: Set Chunk Size). It is
// shared by all runs of the request, which hold their response in it; what
// was sent cannot be taken back.
type answer struct {
	w       io.Writer
	form    Form
	closes  bool // say so in a complete head
	noBody  bool // HEAD, or a status without a body
	nginx   bool
	started bool
	status  int
	chunk   int  // bytes; 0 = in one piece
	quiet   bool // nothing is logged of the request
	verbose bool // one line is logged of the request
	began   time.Time
	action  string
	sent    int64         // bytes, the head included
	length  int64         // Content-Length of a streamed response; -1 = none
	body    int64         // bytes of the body so far
	slow    time.Duration // from which on the request is slow; 0 = never
	slowID  string        // under which it was logged as slow

	rec  *recorder // of Debugging; nil when it is off
	held *httpheader.Response
	rest *spool                                // more of its body
	file func() (*os.File, os.FileInfo, error) // opens the plain file that is sent instead of held
	kind fileTyping                            // finds the type of file
}

// flusher is a way out that gathers what is written until it is told.
type flusher interface{ Flush() error }

func newAnswer(w io.Writer, r *Request) *answer {
	return &answer{
		w: w, form: r.Form, closes: r.CloseField, length: -1,
		noBody: r.Params["REQUEST_METHOD"] == "HEAD",
		nginx:  strings.HasPrefix(r.Params["SERVER_SOFTWARE"], "nginx"),
	}
}

// hold keeps a response, and more of its body, to be sent after the commit.
func (a *answer) hold(resp *httpheader.Response, rest *spool) {
	a.rest.close()
	a.held, a.rest, a.file = resp, rest, nil
}

// holdFile keeps a file, to be sent after the commit.
func (a *answer) holdFile(open func() (*os.File, os.FileInfo, error), kind fileTyping) {
	a.hold(nil, nil)
	a.file, a.kind = open, kind
}

// close gives back what was held.
func (a *answer) close() { a.rest.close() }

// send sends what is held.
func (a *answer) send(r *Request) error {
	switch {
	case a.started:
		return nil
	case a.file != nil:
		return a.sendFile(r)
	case a.held == nil:
		return fmt.Errorf("there is no response to send")
	}
	resp := a.held
	if bodyless(resp.Status) {
		setNoLength(resp)
		return a.start(resp)
	}
	size, rest := int64(len(resp.Body)), io.Reader(nil)
	if a.rest != nil {
		var err error
		if rest, err = a.rest.rest(); err != nil {
			return err
		}
		size += a.rest.size - int64(a.rest.head.Len())
	}
	resp.Set("Content-Length", strconv.FormatInt(size, 10))
	if err := a.start(resp); err != nil || rest == nil {
		return err
	}
	if err := a.flush(); err != nil {
		return err
	}
	return a.copy(rest)
}

// setNoLength sets the Content-Length of a response without a body: 205 has 0
// (RFC 9110, 15.3.6), 204 and 304 have none.
func setNoLength(resp *httpheader.Response) {
	if resp.Status == 205 {
		resp.Set("Content-Length", "0")
	}
}

// copy sends more of the body, in chunks.
func (a *answer) copy(from io.Reader) error {
	if a.noBody {
		return nil
	}
	size := a.chunk
	if size <= 0 || size > 1<<20 {
		size = 64 << 10
	}
	buf := make([]byte, size)
	for {
		n, err := io.ReadFull(from, buf)
		if n > 0 {
			if err := a.count(n); err != nil {
				return err
			}
			if a.rec != nil {
				a.rec.write(buf[:n])
			}
			if _, err := a.w.Write(buf[:n]); err != nil {
				return fmt.Errorf("send the response: %w", err)
			}
			a.sent += int64(n)
		}
		if err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			return fmt.Errorf("read the held response: %w", err)
		}
		if err := a.flush(); err != nil {
			return err
		}
	}
}

// start sends the head of a response, and its body.
func (a *answer) start(resp *httpheader.Response) error {
	if err := a.writeHead(resp); err != nil {
		return err
	}
	a.started, a.status = true, resp.Status
	if a.rec != nil {
		a.rec.start(resp)
	}
	a.noBody = a.noBody || bodyless(resp.Status)
	return a.writeChunks(resp.Body)
}

func (a *answer) writeHead(resp *httpheader.Response) error {
	if w, ok := a.w.(interface {
		WriteHead(*httpheader.Response) error
	}); ok {
		return w.WriteHead(resp)
	}
	var head []byte
	var err error
	if a.form == NPH {
		resp.Close = a.closes || resp.Proto == "HTTP/1.1"
		head, err = resp.AppendNPH(make([]byte, 0, 512))
	} else {
		head, err = resp.AppendParsed(make([]byte, 0, 512))
	}
	if err != nil {
		return err
	}
	if _, err := a.w.Write(head); err != nil {
		return fmt.Errorf("send the response: %w", err)
	}
	a.sent += int64(len(head))
	return nil
}

// write sends more of the body, at once.
func (a *answer) write(text string) error {
	if err := a.writeChunks(text); err != nil {
		return err
	}
	return a.flush()
}

// writeChunks sends text in chunks and flushes between them.
func (a *answer) writeChunks(text string) error {
	if a.noBody {
		return nil
	}
	if err := a.count(len(text)); err != nil {
		return err
	}
	for text != "" {
		piece := text
		if a.chunk > 0 && len(piece) > a.chunk {
			piece = piece[:a.chunk]
		}
		if a.rec != nil {
			a.rec.write([]byte(piece))
		}
		if _, err := io.WriteString(a.w, piece); err != nil {
			return fmt.Errorf("send the response: %w", err)
		}
		a.sent += int64(len(piece))
		if text = text[len(piece):]; text != "" {
			if err := a.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts bytes of the body before they are sent. It returns an error if a
// streamed response gets more than its Content-Length: a client would take them
// for the beginning of the next response.
func (a *answer) count(n int) error {
	a.body += int64(n)
	if a.length >= 0 && a.body > a.length {
		return fmt.Errorf("the response is longer than its Content-Length, %d", a.length)
	}
	return nil
}

// whole returns an error if a streamed response is shorter than its
// Content-Length.
func (a *answer) whole() error {
	if a.length < 0 || a.noBody || a.body >= a.length {
		return nil
	}
	return fmt.Errorf("the response ended after %d bytes, but its Content-Length is %d", a.body, a.length)
}

func (a *answer) flush() error {
	if f, ok := a.w.(flusher); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("send the response: %w", err)
		}
	}
	return nil
}

// sendFile sends a plain file, for a script that returned the empty text.
// The library knows ranges and conditions; its response is written in the
// form of the road.
func (a *answer) sendFile(r *Request) error {
	f, info, err := a.file()
	if err != nil {
		return err
	}
	defer f.Close()
	method := r.Params["REQUEST_METHOD"]
	if method != "GET" && method != "HEAD" {
		return &Error{Status: 405, Message: "a file answers GET and HEAD only", Allow: "GET, HEAD"}
	}
	req := &http.Request{Method: method, Header: http.Header{}}
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if v := r.field(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	w := &fileWriter{a: a, r: r, header: http.Header{}}
	w.header.Set("ETag", httpheader.FileETag(info.ModTime(), info.Size()))
	kind, err := a.kind.of(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", info.Name(), err)
	}
	w.header.Set("Content-Type", kind)
	http.ServeContent(w, req, info.Name(), info.ModTime(), f)
	return w.err
}

// fileWriter turns what net/http says of a file into our response.
type fileWriter struct {
	a      *answer
	r      *Request
	header http.Header
	err    error
}

func (w *fileWriter) Header() http.Header { return w.header }

func (w *fileWriter) WriteHeader(status int) {
	resp := &httpheader.Response{Status: status, Reason: httpheader.ReasonText(status)}
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Range", "Last-Modified", "ETag", "Accept-Ranges"} {
		if v := w.header.Get(name); v != "" {
			resp.Add(name, v)
		}
	}
	sayCaching(w.r, resp)
	w.err = w.a.start(resp)
}

func (w *fileWriter) Write(p []byte) (int, error) {
	if !w.a.started {
		w.WriteHeader(200)
	}
	if w.err == nil {
		w.err = w.a.writeChunks(string(p))
	}
	return len(p), w.err
}
