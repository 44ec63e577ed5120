package devserver

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"scripter/gateway"
	"scripter/httpheader"
)

// static answers with a file, in the static shape of section 4.2 of the specification.
func (s *Server) static(hr *http.Request, r *gateway.Request, c *conn, file string) int {
	f, info, err := s.Gateway.OpenFile(s.Folder, file)
	if err != nil {
		return s.refuse(hr, r, c, err)
	}
	defer f.Close()
	if hr.Method != "GET" && hr.Method != "HEAD" {
		return s.refuse(hr, r, c, notAllowed("a file answers GET and HEAD only"))
	}
	kind, err := s.Gateway.ContentType(hr.Context(), file, f)
	if err != nil {
		return s.refuse(hr, r, c, err)
	}
	w := &staticWriter{c: c, software: s.serverName(hr.Context()), header: http.Header{}}
	w.header.Set("ETag", httpheader.FileETag(info.ModTime(), info.Size()))
	w.header.Set("Content-Type", kind)
	http.ServeContent(w, hr, info.Name(), info.ModTime(), f)
	return w.status
}

func notAllowed(message string) error {
	return &gateway.Error{Status: 405, Message: message, Allow: "GET, HEAD"}
}

// serverName returns the value of the Server field: the setting Set Server Name, or
// else Software.
func (s *Server) serverName(ctx context.Context) string {
	return cmp.Or(s.Gateway.ServerName(ctx), s.Software)
}

// staticWriter writes the head of a response of net/http (ranges, conditions) with the
// fields and the order of section 4.2.
type staticWriter struct {
	c        *conn
	software string
	header   http.Header
	status   int
	err      error
}

func (w *staticWriter) Header() http.Header { return w.header }

func (w *staticWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	resp := &httpheader.Response{Proto: "HTTP/1.1", Status: status, Reason: httpheader.ReasonText(status), Close: true}
	w.header.Set("Date", httpheader.FormatDate(time.Now()))
	w.header.Set("Server", w.software)
	for _, name := range []string{
		"Date", "Server", "Last-Modified", "ETag", "Content-Length", "Content-Range", "Accept-Ranges", "Content-Type",
	} {
		if v := w.header[http.CanonicalHeaderKey(name)]; len(v) > 0 {
			resp.Add(name, v[0])
		}
	}
	head, err := resp.AppendNPH(nil)
	if err != nil {
		w.err = err
		return
	}
	_, w.err = w.c.out.Write(head)
}

func (w *staticWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.c.out.Write(p)
}
