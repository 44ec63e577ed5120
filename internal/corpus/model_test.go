package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// model is a web server as small as one can be that still tells a handler what
// real servers tell it. It refuses less than they do (a path with ".." or a NUL
// byte is passed on), so that the gateway meets what only careless servers
// send.
type model struct {
	site *Site
	// wiring turns a URL into the variables that say how the handler was found.
	wiring func(m *model, docRoot, url, action string) map[string]string
	// handler answers one request: CGI variables and body in, output of the
	// handler out.
	handler func(vars map[string]string, body io.Reader, out io.Writer) error
	nph     bool // the output is passed on untouched
	listing net.Listener
}

// serve answers on a loopback port until the test ends.
func (m *model) serve(t *testing.T) Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.listing = l
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed at the test's end
			}
			go m.answer(conn)
		}
	}()
	return Client{Addr: l.Addr().String()}
}

// answer serves one request of a connection and closes it.
func (m *model) answer(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(answerTime))
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		plain(conn, 400, "")
		return
	}
	if req.Header.Get("Expect") != "" {
		io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	out := bufio.NewWriter(conn)
	m.route(out, req)
	out.Flush()
	io.Copy(io.Discard, req.Body) // a reset would lose the answer
}

var (
	scriptURL = regexp.MustCompile(`(?i)^/.*\.fcgi([/$]|$)`)
	pageURL   = regexp.MustCompile(`(?i)^(/.*\.mcro)(/.*)?$`)
	// privateURL matches URLs that are never answered with a file: see nginx-locations.inc.
	privateURL = regexp.MustCompile(`(?is)/\.[^w./]|/scripter\.conf([^a-z/][^/]*)?(/|$)|\.root([^a-z./][^/]*|\.([^m/][^/]*)?)?(/|$)|\.resident\.log(/|$)|\.mcro[^/$]|[~#](/|$)`)
)

// route does what the examples of conf-examples say.
func (m *model) route(out *bufio.Writer, req *http.Request) {
	target := req.RequestURI
	if req.URL.IsAbs() {
		target = req.URL.RequestURI()
	}
	raw, _, _ := strings.Cut(target, "?")
	p, err := url.PathUnescape(raw)
	if err != nil {
		plain(out, 400, "")
		return
	}
	docRoot := m.site.WWW
	if host, _, _ := strings.Cut(req.Host, ":"); host == "second.example" {
		docRoot = m.site.Second
	}
	if name, ok := strings.CutPrefix(p, "/cgi-bin/"); ok {
		rest, ok := strings.CutPrefix(name, m.handlerName())
		if !ok {
			plain(out, 404, "")
			return
		}
		m.call(out, req, map[string]string{
			"SCRIPT_NAME": "/cgi-bin/" + m.handlerName(), "PATH_INFO": rest, "PATH_TRANSLATED": docRoot + rest,
			"SCRIPT_FILENAME": m.site.Program(m.handlerName()), "DOCUMENT_ROOT": docRoot,
		})
		return
	}
	if strings.HasSuffix(p, "/") && !scriptURL.MatchString(p) {
		if index := directoryIndex(docRoot, p); index != "" {
			p = index
		}
	}
	file := filepath.Join(docRoot, filepath.FromSlash(path.Clean(p)))
	overridden := strings.HasPrefix(path.Clean(p), "/override/")
	switch {
	case overridden && (isFile(file) || strings.Contains(p, "..")):
		m.call(out, req, m.wiring(m, docRoot, p, "MACRO"))
	case scriptURL.MatchString(p) && !overridden:
		m.call(out, req, m.wiring(m, docRoot, p, "SCRIPTER"))
	case privateURL.MatchString(p):
		plain(out, 404, "")
	case pageURL.MatchString(p) &&
		(isFile(pageFile(docRoot, p)) || strings.ContainsAny(p, "\\\x00") || strings.Contains(p, "..")):
		m.call(out, req, m.wiring(m, docRoot, p, "MACRO"))
	case isFolder(file) && !strings.HasSuffix(p, "/"):
		plain(out, 301, "Location: http://"+req.Host+path.Clean(p)+"/\r\n")
	case isFile(file):
		static(out, req, file)
	default:
		m.call(out, req, m.wiring(m, docRoot, p, "ROUTE"))
	}
}

func (m *model) handlerName() string {
	if m.nph {
		return "nph-Scripter.acgi"
	}
	return "Scripter.acgi"
}

func directoryIndex(docRoot, p string) string {
	names := []string{"index.html", "default.mcro"}
	if p == "/both/" || filepath.Base(docRoot) == "second" {
		names = []string{"default.mcro", "index.html"}
	}
	for _, n := range names {
		if isFile(filepath.Join(docRoot, filepath.FromSlash(path.Clean(p+n)))) {
			return p + n
		}
	}
	return ""
}

func pageFile(docRoot, p string) string {
	return filepath.Join(docRoot, filepath.FromSlash(path.Clean(pageURL.FindStringSubmatch(p)[1])))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// call asks the handler and passes on its answer.
func (m *model) call(out *bufio.Writer, req *http.Request, vars map[string]string) {
	maps.Copy(vars, commonVars(m, req))
	var answer bytes.Buffer
	if err := m.handler(vars, req.Body, &answer); err != nil {
		plain(out, 502, "X-Model-Error: "+strings.ReplaceAll(err.Error(), "\n", " ")+"\r\n")
		return
	}
	if m.nph {
		out.Write(answer.Bytes())
		return
	}
	// RFC 3875, 6.2: a parsed header; Status makes the status line.
	br := bufio.NewReader(&answer)
	tp := textproto.NewReader(br)
	status, head := "200 OK", ""
	for {
		line, err := tp.ReadLine()
		if err != nil {
			plain(out, 502, "X-Model-Error: the header does not end\r\n")
			return
		}
		if line == "" {
			break
		}
		if s, ok := strings.CutPrefix(line, "Status: "); ok {
			status = s
			continue
		}
		head += line + "\r\n"
	}
	fmt.Fprintf(out, "HTTP/1.1 %s\r\n%sConnection: close\r\n\r\n", status, head)
	if req.Method != "HEAD" {
		br.WriteTo(out)
	}
}

// commonVars are the variables of RFC 3875 that do not depend on the wiring.
func commonVars(m *model, req *http.Request) map[string]string {
	_, query, _ := strings.Cut(req.RequestURI, "?")
	host, _, _ := strings.Cut(req.Host, ":")
	_, port, _ := net.SplitHostPort(m.listing.Addr().String())
	vars := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1",
		"REQUEST_METHOD":    req.Method,
		"REQUEST_URI":       req.RequestURI,
		"QUERY_STRING":      query,
		"SERVER_PROTOCOL":   req.Proto,
		"SERVER_SOFTWARE":   "Apache/2.4 (model)",
		"SERVER_NAME":       host,
		"SERVER_PORT":       port,
		"REMOTE_ADDR":       "127.0.0.1",
		"CONTENT_TYPE":      req.Header.Get("Content-Type"),
		"PATH":              os.Getenv("PATH"),
	}
	if req.Host != "" {
		vars["HTTP_HOST"] = req.Host
	}
	if req.ContentLength > 0 {
		vars["CONTENT_LENGTH"] = fmt.Sprint(req.ContentLength)
	}
	if len(req.TransferEncoding) > 0 {
		vars["HTTP_TRANSFER_ENCODING"] = "chunked"
	}
	for name, values := range req.Header {
		if name != "Content-Type" && name != "Content-Length" && name != "Proxy" {
			vars["HTTP_"+strings.ReplaceAll(strings.ToUpper(name), "-", "_")] = strings.Join(values, ", ")
		}
	}
	return vars
}

// static serves a plain file with the header of the specification, 4.2.
func static(out io.Writer, req *http.Request, file string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || (req.Method != "GET" && req.Method != "HEAD") {
		plain(out, 404, "")
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		plain(out, 403, "")
		return
	}
	kind := map[string]string{".html": "text/html", ".txt": "text/plain", ".gif": "image/gif"}[filepath.Ext(file)]
	fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nDate: %s\r\nServer: Apache/2.4 (model)\r\nLast-Modified: %s\r\n"+
		"ETag: \"%x\"\r\nContent-Length: %d\r\nAccept-Ranges: bytes\r\nConnection: close\r\n"+
		"Content-Type: %s\r\n\r\n",
		time.Now().UTC().Format(http.TimeFormat), info.ModTime().UTC().Format(http.TimeFormat),
		info.ModTime().UnixNano(), len(data), kind)
	if req.Method == "GET" {
		out.Write(data)
	}
}

func plain(out io.Writer, status int, fields string) {
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n",
		status, http.StatusText(status), fields)
}
