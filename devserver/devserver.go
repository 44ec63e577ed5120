// Package devserver serves a root and a folder of pages over HTTP, without another web
// server: "scripter serve". It is for development: no TLS, one response for each
// connection.
//
// The server translates a request for a page or script to CGI variables and passes it
// to the gateway. It answers all other requests with files of the folder.
package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"scripter/gateway"
	"scripter/httpheader"
	"scripter/site"
)

// Server is the HTTP handler. All fields but Hosts and ShowErrors must be set.
type Server struct {
	Gateway *gateway.Gateway
	Folder  string // of the pages, an absolute path without links
	// Software is what the server calls itself.
	Software string
	// Hosts are host names that the server accepts in addition to those of this machine.
	Hosts []string
	// ShowErrors shows full errors to requests from this machine that no proxy has
	// passed on.
	ShowErrors bool
	Log        *slog.Logger

	running sync.WaitGroup
}

// Wait waits until all current requests are answered, or ctx ends. net/http does not
// wait for hijacked connections.
func (s *Server) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// ServeHTTP answers one request and closes the connection: the specification (section
// 4.2) demands HTTP/1.0 for scripts and "Connection: close" for files.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	s.running.Add(1)
	defer s.running.Done()
	start := time.Now()
	if !s.answersTo(hr) {
		s.misdirected(w, hr)
		return
	}
	conn := newConn(w, hr)
	defer conn.close()
	r := &gateway.Request{Params: s.params(hr), Body: conn.body, Form: gateway.NPH, Transport: "HTTP",
		ShowErrors: s.ShowErrors && isLocal(hr)}
	status := s.serve(hr, r, conn)
	if err := conn.out.Flush(); err != nil {
		s.Log.Debug("client gone", "path", r.LogPath(), "err", err)
	}
	s.Log.Info(hr.Method, "path", r.LogPath(), "status", status, "ms", float64(time.Since(start).Microseconds())/1000)
}

// answersTo reports whether the Host field of a request names this server. The name of
// a foreign page may resolve to this address (DNS rebinding). Such a page must not read
// this site; its requests have the foreign name as Host. A request without Host is
// accepted, because no browser sends one. An invalid Host is answered 400 later.
func (s *Server) answersTo(hr *http.Request) bool {
	if hr.Host == "" || !site.IsHost(hr.Host) {
		return true
	}
	host := hostName(hr.Host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		own, _ := hr.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if ip.IsLoopback() || own != nil && own.IP.Equal(ip) {
			return true
		}
	}
	return slices.ContainsFunc(s.Hosts, func(name string) bool { return hostName(name) == host })
}

// hostName returns the host of a Host field: in lower case, without the port, the
// brackets and the final dot.
func hostName(field string) string {
	if host, _, err := net.SplitHostPort(field); err == nil {
		field = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(field, "[]"), "."))
}

// misdirected answers a request for a host that this server does not accept.
func (s *Server) misdirected(w http.ResponseWriter, hr *http.Request) {
	name := hostName(hr.Host)
	s.Log.Warn("request for an unknown host", "host", name, "path", fmt.Sprintf("%.200s", hr.URL.Path),
		"status", http.StatusMisdirectedRequest)
	w.Header().Set("Connection", "close")
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, fmt.Sprintf("This server answers to localhost and to its own address, not to %q.\n"+
		"If that is its name, start it with: scripter serve --host %s", name, name), http.StatusMisdirectedRequest)
}

// serve answers a request for a folder, for a page or script with an action, for a file, or for a
// route.
func (s *Server) serve(hr *http.Request, r *gateway.Request, c *conn) int {
	bare, args := r.Params["SCRIPT_NAME"], ""
	if i := strings.IndexByte(bare, '$'); i >= 0 {
		bare, args = bare[:i], bare[i:] // path arguments are not part of the path
	}
	if err := gateway.CheckPath(bare); err != nil {
		return s.refuse(hr, r, c, err)
	}
	if err := r.Check(); err != nil {
		return s.refuse(hr, r, c, err)
	}
	p := clean(bare)
	if err := gateway.CheckHidden(s.Folder, p, s.file(p)); err != nil {
		return s.refuse(hr, r, c, err)
	}
	if showsStatus(hr, p) && args == "" {
		return s.status(hr, r, c)
	}
	if p == "/cgi-bin" || strings.HasPrefix(p, "/cgi-bin/") {
		return s.refuse(hr, r, c, notFound(p+" is in /cgi-bin, but this server runs no CGI programs"))
	}
	info, err := os.Stat(s.file(p))
	isFile := err == nil && !info.IsDir() && args == ""
	var noIndex error
	if err == nil && info.IsDir() && args == "" {
		if !strings.HasSuffix(p, "/") {
			return s.redirect(hr, r, c, p+"/")
		}
		var index string
		index, noIndex = s.index(hr, r, p)
		isFile = noIndex == nil
		p += index
	}
	if err := gateway.CheckHidden(s.Folder, p, s.file(p)); err != nil { // the index
		return s.refuse(hr, r, c, err)
	}
	r.Params["SCRIPT_NAME"] = p + args
	r.Params["SCRIPT_FILENAME"] = s.file(p)
	if s.Gateway.Answers(hr.Context(), r, isFile) {
		out := s.Gateway.Answer(hr.Context(), r, c.out)
		c.broken = out.Broken
		return out.Status
	}
	if noIndex != nil {
		return s.refuse(hr, r, c, noIndex)
	}
	if strings.HasSuffix(p, "/") {
		return s.refuse(hr, r, c, notFound(p+" is no folder"))
	}
	if pageCopy.MatchString(p) {
		return s.refuse(hr, r, c, notFound(p+" is a backup copy of an editor"))
	}
	return s.static(hr, r, c, s.file(p))
}

// pageCopy matches the names of backup copies that editors leave beside a page:
// page.mcro~, page.mcro.bak, #page.mcro#. They contain the source of the page.
var pageCopy = regexp.MustCompile(`(?i)\.mcro[^/$]|[~#](/|$)`)

func clean(p string) string {
	c := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c
}

func (s *Server) file(p string) string {
	return filepath.Join(s.Folder, filepath.FromSlash(path.Clean("/"+p)))
}

// index returns the file name of a folder's URL: the first of the DirectoryIndex that
// exists (specification, 4.1 and 4.4.4).
func (s *Server) index(hr *http.Request, r *gateway.Request, folder string) (string, error) {
	names, err := s.Gateway.DirectoryIndex(hr.Context(), r, folder)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if strings.ContainsAny(n, `/\\`) {
			continue
		}
		if info, err := os.Stat(s.file(folder + n)); err == nil && info.Mode().IsRegular() {
			return n, nil
		}
	}
	return "", notFound(fmt.Sprintf("%s has none of %s", folder, strings.Join(names, " ")))
}

func notFound(message string) error { return &gateway.Error{Status: 404, Message: message} }

// refuse answers a request with an error page.
func (s *Server) refuse(hr *http.Request, r *gateway.Request, c *conn, err error) int {
	return s.Gateway.Refuse(hr.Context(), r, c.out, err).Status
}

func (s *Server) redirect(hr *http.Request, r *gateway.Request, c *conn, p string) int {
	u := *hr.URL
	u.Path, u.RawPath = p, ""
	resp := &httpheader.Response{Proto: "HTTP/1.1", Status: 301, Reason: "Moved Permanently", Close: true}
	resp.Add("Location", r.Origin()+u.RequestURI())
	resp.Add("Server", s.Software)
	resp.Add("Content-Length", "0")
	head, err := resp.AppendNPH(nil)
	if err != nil {
		return 0
	}
	c.out.Write(head)
	return resp.Status
}

// params returns the CGI variables of a request (RFC 3875, 4.1), as a web server sets them
// if it runs the program for a path of the site.
func (s *Server) params(hr *http.Request) map[string]string {
	p := make(map[string]string, len(hr.Header)+20)
	for name, values := range hr.Header {
		key := strings.ReplaceAll(strings.ToUpper(name), "-", "_")
		sep := ", "
		if key == "COOKIE" {
			sep = "; "
		}
		// X_Forwarded_For must not be taken for X-Forwarded-For.
		if key != "PROXY" && !strings.Contains(name, "_") {
			p["HTTP_"+key] = strings.Join(values, sep)
		}
	}
	host, port, err := net.SplitHostPort(hr.Host)
	if err != nil {
		host, port = hr.Host, "80"
	}
	if a, ok := hr.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if h, n, err := net.SplitHostPort(a.String()); err == nil {
			p["SERVER_ADDR"] = h
			port = n
		}
	}
	client, clientPort, _ := net.SplitHostPort(hr.RemoteAddr)
	for name, value := range map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1",
		"SERVER_SOFTWARE":   s.Software,
		"SERVER_PROTOCOL":   hr.Proto,
		"SERVER_NAME":       serverNameOf(host, p["SERVER_ADDR"]),
		"SERVER_PORT":       port,
		"REQUEST_METHOD":    hr.Method,
		"REQUEST_URI":       hr.RequestURI,
		"REQUEST_SCHEME":    "http",
		"SCRIPT_NAME":       hr.URL.Path,
		"QUERY_STRING":      hr.URL.RawQuery,
		"DOCUMENT_ROOT":     s.Folder,
		"REMOTE_ADDR":       client,
		"REMOTE_PORT":       clientPort,
		"HTTP_HOST":         hr.Host,
		"CONTENT_TYPE":      hr.Header.Get("Content-Type"),
	} {
		p[name] = value
	}
	delete(p, "HTTP_CONTENT_TYPE")
	delete(p, "HTTP_CONTENT_LENGTH")
	if hr.ContentLength != 0 {
		p["CONTENT_LENGTH"] = strconv.FormatInt(hr.ContentLength, 10)
	}
	return p
}

// serverNameOf returns SERVER_NAME (RFC 3875, 4.1.14): never empty, and an IPv6
// address in brackets. An HTTP/1.0 request may have no host.
func serverNameOf(host, address string) string {
	if host == "" {
		host = address
	}
	if host = strings.Trim(host, "[]"); strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
