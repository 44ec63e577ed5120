// Package fcgitest is a FastCGI client for tests and benchmarks. It encodes the records
// by itself, so that it finds errors in package fcgi.
package fcgitest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// Errors of a responder that refuses a request (section 5.5), and of a connection.
var (
	ErrMultiplex   = errors.New("fcgitest: the responder serves one request at a time on a connection")
	ErrOverloaded  = errors.New("fcgitest: the responder is overloaded")
	ErrUnknownRole = errors.New("fcgitest: unsupported role")
	ErrClosed      = errors.New("fcgitest: connection closed")
	ErrProtocol    = errors.New("fcgitest: not FastCGI 1.0")
)

// Client sends requests to a FastCGI responder over one connection, one at a
// time. It is not safe for concurrent use.
type Client struct {
	nc   net.Conn
	in   *bufio.Reader
	out  []byte
	err  error // why the connection cannot be used any more
	keep bool
}

// Dial connects to the responder at spec, "unix:PATH" or "HOST:PORT". The
// connection can be used for many requests.
func Dial(ctx context.Context, spec string) (*Client, error) {
	network, addr := "tcp", spec
	if path, ok := strings.CutPrefix(spec, "unix:"); ok {
		network, addr = "unix", path
	}
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("fcgitest: dial %s: %w", spec, err)
	}
	return NewClient(nc, true), nil
}

// NewClient returns a Client for a connection. If keep is set, it asks the responder to
// leave the connection open after a request (FCGI_KEEP_CONN).
func NewClient(nc net.Conn, keep bool) *Client {
	return &Client{nc: nc, in: bufio.NewReaderSize(nc, 16<<10), keep: keep}
}

// Close closes the connection.
func (c *Client) Close() error { return c.nc.Close() }

// Do sends one request. It copies FCGI_STDOUT to stdout and FCGI_STDERR to stderr
// as they arrive, and returns the application's status. A nil body is empty. When
// ctx ends, Do closes the connection, as web servers do.
//
// The error is ErrMultiplex, ErrOverloaded or ErrUnknownRole if the responder
// refused the request, and ErrClosed if it closed the connection.
func (c *Client) Do(
	ctx context.Context, params map[string]string, body io.Reader, stdout, stderr io.Writer,
) (status uint32, err error) {
	if c.err != nil {
		return 0, c.err
	}
	stop := context.AfterFunc(ctx, func() { c.nc.Close() })
	defer stop()
	status, err = c.do(params, body, stdout, stderr)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if !c.keep && c.err == nil {
		c.err = ErrClosed
	}
	return status, err
}

func (c *Client) do(params map[string]string, body io.Reader, stdout, stderr io.Writer) (uint32, error) {
	var flags uint8
	if c.keep {
		flags = 1 // FCGI_KEEP_CONN
	}
	c.out = appendRecord(c.out[:0], beginRequest, []byte{0, 1, flags, 0, 0, 0, 0, 0}) // role 1: responder
	c.out = appendParams(c.out, params)
	if body == nil {
		c.out = appendRecord(c.out, stdin, nil)
	}
	if _, err := c.nc.Write(c.out); err != nil {
		return 0, c.fail(err)
	}
	if body == nil {
		return c.receive(stdout, stderr)
	}
	// The response may begin before the body has ended.
	var wg sync.WaitGroup
	var sent error
	wg.Go(func() {
		if sent = c.sendBody(body); sent != nil {
			c.nc.Close()
		}
	})
	status, err := c.receive(stdout, stderr)
	if err != nil {
		c.nc.Close()
	}
	wg.Wait()
	if err == nil && sent != nil {
		c.err = sent // the response is complete, but the body is not
	} else if sent != nil && !errors.Is(sent, net.ErrClosed) {
		err = sent
	}
	return status, err
}

func (c *Client) fail(err error) error {
	c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	return c.err
}

func (c *Client) sendBody(body io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if err := c.send(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return c.send(nil)
		}
		if err != nil {
			return fmt.Errorf("read body: %w", err)
		}
	}
}

// send sends a record of the body. An empty one ends the stream.
func (c *Client) send(content []byte) error {
	c.out = appendRecord(c.out[:0], stdin, content)
	if _, err := c.nc.Write(c.out); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// receive reads records until the request has ended.
func (c *Client) receive(out, log io.Writer) (uint32, error) {
	for {
		head, err := c.in.Peek(headerLen)
		if err != nil {
			return 0, c.fail(err)
		}
		if head[0] != 1 {
			c.err = ErrProtocol
			return 0, c.err
		}
		typ, id, padding := head[1], binary.BigEndian.Uint16(head[2:]), int(head[6])
		content := io.LimitReader(c.in, int64(binary.BigEndian.Uint16(head[4:])))
		c.in.Discard(headerLen)
		switch {
		case id == clientID && typ == stdout:
			_, err = io.Copy(out, content)
		case id == clientID && typ == stderr:
			_, err = io.Copy(log, content)
		case id == clientID && typ == endRequest:
			return c.ended(content, padding)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, content)
		}
		if err == nil {
			_, err = c.in.Discard(padding)
		}
		if err != nil {
			return 0, c.fail(err)
		}
	}
}

// ended reads the content of FCGI_END_REQUEST.
func (c *Client) ended(content io.Reader, padding int) (uint32, error) {
	var body [8]byte
	if _, err := io.ReadFull(content, body[:]); err != nil {
		return 0, c.fail(err)
	}
	if _, err := c.in.Discard(padding); err != nil {
		return 0, c.fail(err)
	}
	switch body[4] {
	case 1: // FCGI_CANT_MPX_CONN
		return 0, ErrMultiplex
	case 2: // FCGI_OVERLOADED
		return 0, ErrOverloaded
	case 3: // FCGI_UNKNOWN_ROLE
		return 0, ErrUnknownRole
	}
	return binary.BigEndian.Uint32(body[:]), nil
}
