package doctor

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"scripter/probe"
)

// Bounds of one request of the doctor.
const (
	askTime   = 15 * time.Second
	askAnswer = 4 << 20 // bytes
)

// asker sends requests as bytes, so that "$", letters' case and fields that a
// library would mend arrive as they are written, and sees what a library
// would hide: fields that came twice, bytes behind the answer.
type asker struct {
	base   *url.URL
	fields []string // "Name: value", of all requests
	token  string
}

// question is one request.
type question struct {
	method string // "" = GET
	path   string // below the URL's path, beginning with "/"
	fields []string
	body   []byte
	probe  bool
	kind   string // of the probe
}

// answered is a response, or the error that came in its place.
type answered struct {
	err         error
	Status      int
	Reason      string
	Header      http.Header
	Body        []byte
	Extra       []byte // behind the answer, on the same connection
	First, Last time.Time
	Probe       *probe.Reply // nil when Scripter did not answer the probe
}

func newAsker(base string, fields []string) (*asker, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &OptionError{"url", base, "not like http://www.example.com/"}
	}
	for _, f := range fields {
		if name, _, ok := strings.Cut(f, ":"); !ok || strings.ContainsAny(f, "\r\n") || strings.TrimSpace(name) == "" {
			return nil, &OptionError{"header", f, `not "Name: value"`}
		}
	}
	return &asker{base: u, fields: fields}, nil
}

// prefix returns the path of the URL, without a slash at its end.
func (a *asker) prefix() string { return strings.TrimSuffix(a.base.EscapedPath(), "/") }

// given returns the value of a field that all requests have, or "".
func (a *asker) given(name string) string {
	for _, f := range a.fields {
		if n, v, _ := strings.Cut(f, ":"); strings.EqualFold(strings.TrimSpace(n), name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// host returns the value of the Host field.
func (a *asker) host() string {
	if h := a.given("Host"); h != "" {
		return h
	}
	return a.base.Host
}

func (a *asker) dial(ctx context.Context) (net.Conn, error) {
	port := a.base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[a.base.Scheme]
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.base.Hostname(), port))
	if err != nil || a.base.Scheme == "http" {
		return conn, err
	}
	name, _, err := net.SplitHostPort(a.host())
	if err != nil {
		name = a.host()
	}
	return tls.Client(conn, &tls.Config{ServerName: name}), nil
}

func (q question) wire(a *asker) []byte {
	method := q.method
	if method == "" {
		method = "GET"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, a.prefix(), q.path, a.host())
	if q.probe {
		fmt.Fprintf(&b, "%s: %s\r\n", probe.Field, strings.TrimSpace(a.token+" "+q.kind))
	}
	for _, f := range a.fields {
		if name, _, _ := strings.Cut(f, ":"); !strings.EqualFold(strings.TrimSpace(name), "Host") {
			b.WriteString(f + "\r\n")
		}
	}
	for _, f := range q.fields {
		b.WriteString(f + "\r\n")
	}
	if q.body != nil {
		fmt.Fprintf(&b, "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n", len(q.body))
	}
	b.WriteString("\r\n")
	b.Write(q.body)
	return b.Bytes()
}

// ask sends one request and reads its response, even if the server responds before it has
// read the whole body.
func (a *asker) ask(ctx context.Context, q question) *answered {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	conn, err := a.dial(ctx)
	if err != nil {
		return &answered{err: err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	go conn.Write(q.wire(a)) // a failure shows in the answer that does not come
	r, err := readAnswer(conn, q.method)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &answered{err: fmt.Errorf("no answer within %v", askTime)}
	}
	if err != nil {
		return &answered{err: fmt.Errorf("no answer that can be read: %w", err)}
	}
	if q.probe && (q.kind == "" || q.kind == probe.Beyond) {
		r.Probe = probeReply(r.Body)
	}
	return r
}

func readAnswer(conn io.Reader, method string) (*answered, error) {
	br := bufio.NewReader(conn)
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	for err == nil && resp.StatusCode < 200 {
		resp, err = http.ReadResponse(br, &http.Request{Method: method})
	}
	if err != nil {
		return nil, err
	}
	_, reason, _ := strings.Cut(resp.Status, " ")
	r := &answered{Status: resp.StatusCode, Reason: reason, Header: resp.Header}
	buffer := make([]byte, 32<<10)
	for len(r.Body) < askAnswer {
		n, err := resp.Body.Read(buffer)
		if n > 0 {
			r.Last = time.Now()
			if r.Body == nil {
				r.First = r.Last
			}
			r.Body = append(r.Body, buffer[:n]...)
		}
		if err != nil {
			break // a body cut short is a short body
		}
	}
	r.Extra, _ = io.ReadAll(io.LimitReader(br, 1<<10)) // a reset is an end too
	return r, nil
}

// probeReply finds the gateway's answer to a probe; nil when it is none.
func probeReply(body []byte) *probe.Reply {
	p := &probe.Reply{}
	if json.NewDecoder(bytes.NewReader(body)).Decode(p) != nil || p.Probe != "scripter" {
		return nil
	}
	return p
}

// fromScripter reports whether Scripter made the response: no web server
// sends MIME-Version by itself.
func (r *answered) fromScripter() bool { return r.Header.Get("Mime-Version") != "" }

func (r *answered) status() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, r.Reason))
}

func (r *answered) outcome() string {
	if r.err != nil {
		return r.err.Error()
	}
	return "the answer is " + r.status()
}
