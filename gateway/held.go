package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"

	"scripter/httpheader"
	"scripter/runner"
)

// held is a response that waits for the commit, or a plain file that is the response.
type held struct {
	resp *httpheader.Response
	rest *runner.Output                        // the rest of its body; nil: there is none
	file func() (*os.File, os.FileInfo, error) // opens the file that is sent instead of resp
	kind fileTyping                            // finds the type of file

	fields  []httpheader.Field // added to the response with file
	private bool               // only some visitors may have file
	ranged  bool               // the request may want a part of resp
}

// hold holds a response instead of the one that was held before.
func (x *exchange) hold(h held) {
	x.held.close()
	x.held = h
}

func (h held) close() { h.rest.Close() }

// send sends the held response, unless sendPartial has sent one.
func (x *exchange) send() error {
	h, out := x.held, x.out
	switch {
	case out.started:
		return nil
	case h.file != nil:
		return x.sendFile()
	case h.resp == nil:
		return errors.New("there is no response to send")
	}
	resp := h.resp
	if h.ranged {
		if done, err := x.sendRanged(resp); done || err != nil {
			return err
		}
	}
	if bodyless(resp.Status) {
		setNoLength(resp)
		return out.start(resp)
	}
	rest := io.Reader(nil)
	if h.rest != nil {
		var err error
		if rest, err = h.rest.Rest(); err != nil {
			return err
		}
	}
	resp.Set("Content-Length", strconv.FormatInt(int64(len(resp.Body))+h.rest.RestSize(), 10))
	if err := out.start(resp); err != nil || rest == nil {
		return err
	}
	if err := out.flush(); err != nil {
		return err
	}
	return out.copy(rest)
}

// sendFile sends a plain file, for a script that returned "". Package net/http handles ranges
// and conditions; a fileWriter sends its response.
func (x *exchange) sendFile() error {
	r := x.request
	f, info, err := x.held.file()
	if err != nil {
		return err
	}
	defer f.Close()
	method := r.Params["REQUEST_METHOD"]
	if method != "GET" && method != "HEAD" {
		return &Error{Status: 405, Message: "a file answers GET and HEAD only", Allow: "GET, HEAD"}
	}
	req := &http.Request{Method: method, Header: http.Header{}}
	for _, name := range []string{
		"Range", "If-Range", "If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since",
	} {
		if v := r.field(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	w := &fileWriter{a: x.out, r: r, header: http.Header{}, held: x.held}
	w.header.Set("ETag", httpheader.FileETag(info.ModTime(), info.Size()))
	kind, err := x.held.kind.of(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", info.Name(), err)
	}
	w.header.Set("Content-Type", kind)
	http.ServeContent(w, req, info.Name(), info.ModTime(), f)
	return w.err
}

// fileWriter sends what net/http writes as the response to a request.
type fileWriter struct {
	a      *responder
	r      *Request
	from   *httpheader.Response // the whole response, of which a part is sent; nil: a file
	header http.Header
	held   held
	err    error
}

func (w *fileWriter) Header() http.Header { return w.header }

func (w *fileWriter) WriteHeader(status int) {
	resp := &httpheader.Response{Status: status, Reason: httpheader.ReasonText(status)}
	if w.from != nil {
		resp.Fields = slices.Clone(w.from.Fields)
	}
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Range", "Last-Modified", "ETag", "Accept-Ranges",
	} {
		if v := w.header.Get(name); v != "" {
			resp.Set(name, v)
		} else {
			resp.Del(name)
		}
	}
	for _, f := range w.held.fields {
		resp.Add(f.Name, f.Value)
	}
	if w.held.private {
		keepPrivate(resp)
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
