package gateway

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"scripter/httpheader"
)

// StdHandler returns a handler for net/http/fcgi, which is a second responder to compare
// package fcgi with. net/http/fcgi hides SCRIPT_NAME, PATH_INFO and REQUEST_URI; stdParams
// rebuilds them. processEnv is fcgi.ProcessEnv. It is a parameter, so that only the program that
// needs it links net/http/fcgi.
func (g *Gateway) StdHandler(processEnv func(*http.Request) map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &Request{
			Params: stdParams(r, processEnv(r)), Body: r.Body, HandlerNames: g.names, Transport: "net/http/fcgi",
		}
		g.Answer(r.Context(), req, &headWriter{w})
	})
}

// stdParams returns the CGI variables of a request: the known ones, and what can be rebuilt of
// the others.
func stdParams(r *http.Request, known map[string]string) map[string]string {
	p := maps.Clone(known)
	if p == nil {
		p = make(map[string]string)
	}
	for name, values := range r.Header {
		sep := ", "
		if name == "Cookie" {
			sep = "; "
		}
		p["HTTP_"+strings.ReplaceAll(strings.ToUpper(name), "-", "_")] = strings.Join(values, sep)
	}
	p["HTTP_HOST"] = r.Host
	p["REQUEST_METHOD"] = r.Method
	p["QUERY_STRING"] = r.URL.RawQuery
	p["SERVER_PROTOCOL"] = r.Proto
	p["CONTENT_TYPE"] = r.Header.Get("Content-Type")
	p["REQUEST_URI"] = r.URL.RequestURI()
	if r.ContentLength != 0 {
		p["CONTENT_LENGTH"] = strconv.FormatInt(r.ContentLength, 10)
	}
	if i := strings.LastIndexByte(r.RemoteAddr, ':'); i >= 0 {
		p["REMOTE_ADDR"] = strings.Trim(r.RemoteAddr[:i], "[]")
		p["REMOTE_PORT"] = r.RemoteAddr[i+1:]
	}
	// The path is in REDIRECT_URL or DOCUMENT_URI, else it is SCRIPT_FILENAME below
	// DOCUMENT_ROOT, else the path of the client's URL.
	root := strings.TrimSuffix(p["DOCUMENT_ROOT"], "/")
	file := scriptFilename(p["SCRIPT_FILENAME"])
	inner, inRoot := strings.CutPrefix(file, root+"/")
	switch {
	case p["REDIRECT_URL"] != "":
		p["SCRIPT_NAME"] = p["REDIRECT_URL"]
	case p["DOCUMENT_URI"] != "":
		p["SCRIPT_NAME"] = p["DOCUMENT_URI"]
	case root != "" && inRoot && file != p["PATH_TRANSLATED"]:
		p["SCRIPT_NAME"] = "/" + inner
	default:
		p["SCRIPT_NAME"] = r.URL.Path
	}
	return p
}

// headWriter writes the head of a response as fields of a http.ResponseWriter.
type headWriter struct{ http.ResponseWriter }

// WriteHead sends the head of resp.
func (w *headWriter) WriteHead(resp *httpheader.Response) error {
	for _, f := range resp.Fields {
		w.Header().Add(f.Name, f.Value)
	}
	w.WriteHeader(resp.Status)
	return nil
}

// Flush sends what is buffered.
func (w *headWriter) Flush() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}
