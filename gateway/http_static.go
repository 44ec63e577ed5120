package gateway

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"scripter/httpheader"
	"scripter/objectdb"
)

// static answers with a file, in the static shape of section 4.2.
func (s *Site) static(hr *http.Request, r *Request, c *conn, file string) int {
	f, info, err := s.open(file)
	if err != nil {
		return s.refuse(hr, r, c, err)
	}
	defer f.Close()
	if hr.Method != "GET" && hr.Method != "HEAD" {
		return s.refuse(hr, r, c, &Error{Status: 405, Message: "a file answers GET and HEAD only", Allow: "GET, HEAD"})
	}
	w := &staticWriter{c: c, software: s.serverName(hr.Context()), header: http.Header{}}
	w.header.Set("ETag", httpheader.FileETag(info.ModTime(), info.Size()))
	var typing fileTyping
	err = s.Gateway.db.View(hr.Context(), func(tx *objectdb.Tx) error {
		typing = readSettings(tx).typing(file)
		return nil
	})
	if err != nil {
		return s.refuse(hr, r, c, err)
	}
	kind, err := typing.of(f)
	if err != nil {
		return s.refuse(hr, r, c, fmt.Errorf("read %s: %w", file, err))
	}
	w.header.Set("Content-Type", kind)
	http.ServeContent(w, hr, info.Name(), info.ModTime(), f)
	return w.status
}

// serverName is the name in the Server field: Set Server Name, else ours.
func (s *Site) serverName(ctx context.Context) string {
	name := ""
	err := s.Gateway.db.View(ctx, func(tx *objectdb.Tx) error {
		name = readSettings(tx).string(serverName)
		return nil
	})
	if err != nil || name == "" {
		return s.Software
	}
	return name
}

// open opens a regular file of the site that lies below the folder, with its links
// resolved. A hidden file, or one that belongs to a root, is not found.
func (s *Site) open(file string) (*os.File, os.FileInfo, error) {
	found, err := s.find(file)
	if err != nil {
		return nil, nil, &Error{Status: 404, Message: err.Error(), Err: err}
	}
	return s.Gateway.openFile(found)
}

// find finds a file of the site.
func (s *Site) find(file string) (foundFile, error) {
	found, err := lookAt(file)
	if err != nil {
		return found, err
	}
	base, inside := below(found.real, s.Folder)
	if !inside {
		return found, fmt.Errorf("%s lies outside the site's folder", found.real)
	}
	found.base = base
	return found, found.checkHidden()
}

// staticWriter takes the library's answer for a file (ranges, conditions)
// and writes it in our shape and order.
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
	for _, name := range []string{"Date", "Server", "Last-Modified", "ETag", "Content-Length", "Content-Range", "Accept-Ranges", "Content-Type"} {
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
