package gateway

import (
	"fmt"
	"io"
	"strings"

	"scripter/httpheader"
	"scripter/requestlog"
)

// responder writes a response: head and body, in the form of the transport, cut into
// chunks (specification, 2.2 and 8: Set Chunk Size). What was sent cannot be taken back.
type responder struct {
	w       io.Writer // nil: there is no client
	form    Form
	closes  bool // a complete head has "Connection: close"
	noBody  bool // HEAD, or a status without a body
	nginx   bool
	started bool
	status  int
	chunk   int                  // bytes; 0 = in one piece
	cors    *cors                // nil: the pages of other sites may not call the URL
	sent    int64                // bytes, the head included
	length  int64                // Content-Length of a streamed response; -1 = none
	body    int64                // bytes of the body so far
	rec     *requestlog.Recorder // of Debugging; nil: nothing is recorded
}

// flusher is a writer that buffers what is written until Flush is called.
type flusher interface{ Flush() error }

func newResponder(w io.Writer, r *Request) *responder {
	return &responder{
		w: w, form: r.Form, closes: r.CloseField, length: -1,
		noBody: r.Params["REQUEST_METHOD"] == "HEAD",
		nginx:  strings.HasPrefix(r.Params["SERVER_SOFTWARE"], "nginx"),
	}
}

// isShort reports whether less of the body was sent than the Content-Length says.
func (a *responder) isShort() bool { return a.started && a.length >= 0 && a.body < a.length }

// setNoLength sets the Content-Length of a response without a body: 205 has 0
// (RFC 9110, 15.3.6), 204 and 304 have none.
func setNoLength(resp *httpheader.Response) {
	if resp.Status == 205 {
		resp.Set("Content-Length", "0")
	}
}

// copy sends more of the body, in chunks.
func (a *responder) copy(from io.Reader) error {
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
				a.rec.Write(buf[:n])
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
func (a *responder) start(resp *httpheader.Response) error {
	a.cors.add(resp)
	if err := a.writeHead(resp); err != nil {
		return err
	}
	a.started, a.status = true, resp.Status
	if a.rec != nil {
		a.rec.Head(resp)
	}
	a.noBody = a.noBody || bodyless(resp.Status)
	return a.writeChunks(resp.Body)
}

func (a *responder) writeHead(resp *httpheader.Response) error {
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
func (a *responder) write(text string) error {
	if err := a.writeChunks(text); err != nil {
		return err
	}
	return a.flush()
}

// writeChunks sends text in chunks and flushes between them.
func (a *responder) writeChunks(text string) error {
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
			a.rec.Write([]byte(piece))
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

// count counts bytes of the body before they are sent. It returns an error if a streamed
// response would get longer than its Content-Length: a client would take the rest for the
// beginning of the next response.
func (a *responder) count(n int) error {
	a.body += int64(n)
	if a.length >= 0 && a.body > a.length {
		return fmt.Errorf("the response is longer than its Content-Length, %d", a.length)
	}
	return nil
}

// whole returns an error if a streamed response is shorter than its
// Content-Length.
func (a *responder) whole() error {
	if a.length < 0 || a.noBody || a.body >= a.length {
		return nil
	}
	return fmt.Errorf("the response ended after %d bytes, but its Content-Length is %d", a.body, a.length)
}

func (a *responder) flush() error {
	if f, ok := a.w.(flusher); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("send the response: %w", err)
		}
	}
	return nil
}
