package gateway

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"scripter/httpheader"
	"scripter/site"
)

// Admin is the web page for people.
type Admin interface {
	http.Handler
	// Answers reports whether the web page is there at all. If not, its path is like any other.
	Answers(*site.Snapshot) bool
}

// SetAdmin sets the handler of the requests below the path of the setting adminPath. It must be
// called before the first request.
func (g *Gateway) SetAdmin(a Admin) { g.admin = a }

// answersAdmin reports whether the web page answers a request for a target.
func (g *Gateway) answersAdmin(t Target, s *site.Snapshot) bool {
	return t.Admin && g.admin != nil && g.admin.Answers(s)
}

// isAdmin reports whether the web page answers the request.
func (x *exchange) isAdmin() bool {
	return x.plan != nil && x.g.answersAdmin(x.plan.target, x.plan.site)
}

// serveAdmin lets the web page answer the request. The response is held in memory.
func (x *exchange) serveAdmin(ctx context.Context) error {
	if err := x.readBody(); err != nil {
		return err
	}
	ctx = context.WithValue(ctx, documentRootKey{}, x.request.Params["DOCUMENT_ROOT"])
	r, err := x.request.toHTTP(ctx, x.plan.target.Path+x.plan.target.Extra, x.body)
	if err != nil {
		return err
	}
	w := &adminWriter{header: http.Header{}}
	x.g.admin.ServeHTTP(w, r)
	resp := w.response()
	if err := resp.Check(); err != nil {
		return err
	}
	complete(x.request, resp)
	x.hold(held{resp: resp})
	return x.send()
}

type documentRootKey struct{}

// DocumentRoot returns the document root of the request that the web page answers, as the web
// server has told it, or "".
func DocumentRoot(ctx context.Context) string {
	folder, _ := ctx.Value(documentRootKey{}).(string)
	return folder
}

// toHTTP returns the request as package net/http has requests; path is its decoded path.
func (r *Request) toHTTP(ctx context.Context, path, body string) (*http.Request, error) {
	p := r.Params
	u := &url.URL{Path: path, RawQuery: p["QUERY_STRING"]}
	h, err := http.NewRequestWithContext(ctx, p["REQUEST_METHOD"], u.String(), io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return nil, &Error{Status: 400, Message: err.Error(), Err: err}
	}
	h.ContentLength = int64(len(body))
	h.RequestURI = u.RequestURI()
	for name, value := range p {
		if field, ok := strings.CutPrefix(name, "HTTP_"); ok && field != "HOST" {
			h.Header.Set(strings.ReplaceAll(field, "_", "-"), value)
		}
	}
	if kind := p["CONTENT_TYPE"]; kind != "" {
		h.Header.Set("Content-Type", kind)
	}
	h.Host = p["HTTP_HOST"]
	if origin, err := url.Parse(r.Origin()); err == nil {
		if h.Host == "" {
			h.Host = origin.Host
		}
		if origin.Scheme == "https" {
			h.TLS = &tls.ConnectionState{HandshakeComplete: true} // as net/http/cgi does
		}
	}
	port := p["REMOTE_PORT"]
	if port == "" {
		port = "0"
	}
	h.RemoteAddr = net.JoinHostPort(p["REMOTE_ADDR"], port)
	return h, nil
}

// adminWriter is an http.ResponseWriter that holds the response.
type adminWriter struct {
	header http.Header
	status int
	body   strings.Builder
}

func (w *adminWriter) Header() http.Header { return w.header }

func (w *adminWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *adminWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *adminWriter) response() *httpheader.Response {
	w.WriteHeader(http.StatusOK)
	resp := &httpheader.Response{Status: w.status, Reason: http.StatusText(w.status), Body: w.body.String()}
	if resp.Reason == "" {
		resp.Reason = strconv.Itoa(w.status)
	}
	for _, name := range slices.Sorted(maps.Keys(w.header)) {
		for _, value := range w.header[name] {
			resp.Add(name, value)
		}
	}
	return resp
}
