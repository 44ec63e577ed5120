package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Client sends requests to a transport as bytes: a path such as /..%2f, or a field that
// no library would send, arrives unchanged.
type Client struct {
	Addr string // HOST:PORT of a listening HTTP server
}

// answerTime is how long a request and its answer may take.
const answerTime = time.Minute

// A Response is an answer as it was received.
type Response struct {
	Proto  string
	Status int
	Reason string
	Fields []Field // in the order and spelling of the answer
	Body   string  // without the chunked coding
}

// A Field is one line of an answer's header.
type Field struct{ Name, Value string }

// Field returns the values of the fields called name, joined by ", ", and reports
// whether there is one.
func (r *Response) Field(name string) (string, bool) {
	var values []string
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, ", "), values != nil
}

// WaitReady waits until a script answers: a web server accepts connections before it can
// start programs.
func (c Client) WaitReady(t testing.TB) {
	t.Helper()
	last := "nothing"
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		conn, err := c.Dial()
		if err != nil {
			last = err.Error()
			continue
		}
		r, err := conn.Do([]byte("GET /ready.fcgi HTTP/1.0\r\nHost: " + c.Addr + "\r\n\r\n"))
		conn.Close()
		switch {
		case err != nil:
			last = err.Error()
		case r.Body == "ready":
			return
		default:
			last = fmt.Sprintf("%d %s: %s", r.Status, r.Reason, clip(r.Body))
		}
	}
	t.Fatalf("%s does not run scripts; its last answer: %s", c.Addr, last)
}

// A Conn is a connection to a transport.
type Conn struct {
	conn net.Conn
	br   *bufio.Reader
}

// Dial opens a connection.
func (c Client) Dial() (*Conn, error) {
	conn, err := net.DialTimeout("tcp", c.Addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &Conn{conn, bufio.NewReader(conn)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends one request and reads its answer. It skips interim answers (1xx), and accepts
// an answer that comes before the server has read the whole body.
func (c *Conn) Do(request []byte) (*Response, error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := c.conn.Write(request)
		sent <- err
	}()
	head := strings.HasPrefix(string(request), "HEAD ")
	r, err := readResponse(c.br, head)
	if err != nil {
		c.conn.Close()
		return nil, errors.Join(err, <-sent)
	}
	return r, nil
}

// End waits until the server closes the connection. It returns an error for anything that
// follows the answer, such as a second one, which the next request would have received.
func (c *Conn) End() error {
	defer c.conn.Close()
	extra, err := io.ReadAll(io.LimitReader(c.br, 1000))
	switch {
	case len(extra) > 0:
		return fmt.Errorf("%q follows the answer", extra)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the connection is not closed after the answer")
	}
	return nil // a reset is an end too
}

// KeepsAlive reports whether the server leaves the connection open after the answer
// (RFC 9112, section 9.3).
func (r *Response) KeepsAlive() bool {
	connection, _ := r.Field("Connection")
	if r.Proto == "HTTP/1.0" {
		return strings.EqualFold(connection, "keep-alive")
	}
	return !strings.EqualFold(connection, "close")
}

func readResponse(br *bufio.Reader, toHead bool) (*Response, error) {
	for {
		r, err := readHead(br)
		if err != nil {
			return nil, err
		}
		if r.Status >= 200 {
			return r, r.readBody(br, toHead)
		}
	}
}

func readHead(br *bufio.Reader) (*Response, error) {
	tp := textproto.NewReader(br)
	line, err := tp.ReadLine()
	if err != nil {
		return nil, fmt.Errorf("read status line: %w", err)
	}
	proto, rest, _ := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(code)
	if err != nil || !strings.HasPrefix(proto, "HTTP/1.") {
		return nil, fmt.Errorf("status line %q", clip(line))
	}
	r := &Response{Proto: proto, Status: status, Reason: reason}
	for {
		line, err := tp.ReadLine()
		if err != nil {
			return nil, fmt.Errorf("read header: %w", err)
		}
		if line == "" {
			return r, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("header line %q", clip(line))
		}
		r.Fields = append(r.Fields, Field{name, strings.TrimSpace(value)})
	}
}

// readBody follows RFC 9112, section 6.3.
func (r *Response) readBody(br *bufio.Reader, toHead bool) error {
	coding, _ := r.Field("Transfer-Encoding")
	length, hasLength := r.Field("Content-Length")
	var data []byte
	var err error
	switch {
	case toHead || r.Status == 204 || r.Status == 304:
	case strings.EqualFold(coding, "chunked"):
		data, err = readChunks(br)
	case hasLength:
		var n int
		if n, err = strconv.Atoi(length); err != nil || n < 0 {
			return fmt.Errorf("Content-Length %q", length)
		}
		data = make([]byte, n)
		_, err = io.ReadFull(br, data)
	default:
		data, err = io.ReadAll(br)
	}
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	r.Body = string(data)
	return nil
}

func readChunks(br *bufio.Reader) ([]byte, error) {
	data, err := io.ReadAll(httputil.NewChunkedReader(br))
	if err != nil {
		return nil, err
	}
	// The reader leaves the trailer, which ends with an empty line.
	tp := textproto.NewReader(br)
	for {
		if line, err := tp.ReadLine(); line == "" || err != nil {
			return data, err
		}
	}
}
