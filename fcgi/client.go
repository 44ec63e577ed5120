package fcgi

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

// Client sends requests to a FastCGI responder over one connection, one at a
// time. It is not for use by several goroutines at once.
type Client struct {
	nc   net.Conn
	in   *bufio.Reader
	out  []byte
	err  error // why the connection is of no use any more
	keep bool
}

// Dial connects to the responder at spec, which is in the form that Listen
// takes. The connection can be used for many requests.
func Dial(ctx context.Context, spec string) (*Client, error) {
	network, addr := "tcp", spec
	if path, ok := strings.CutPrefix(spec, "unix:"); ok {
		network, addr = "unix", path
	}
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, &Error{"dial", spec, err}
	}
	return NewClient(nc, true), nil
}

// NewClient makes a Client of a connection. Keep asks the responder to leave it
// open after a request (FCGI_KEEP_CONN).
func NewClient(nc net.Conn, keep bool) *Client {
	return &Client{nc: nc, in: bufio.NewReaderSize(nc, 16<<10), keep: keep}
}

// Close closes the connection.
func (c *Client) Close() error { return c.nc.Close() }

// Do sends one request. It copies the answer to stdout and lines for the error
// log to stderr as they come, and returns the application's status. A nil body
// is empty. When ctx ends, the connection is closed, as web servers do it.
//
// The error is ErrMultiplex, ErrOverloaded or ErrUnknownRole when the responder
// refused, ErrClosed when it went away.
func (c *Client) Do(ctx context.Context, params map[string]string, body io.Reader, stdout, stderr io.Writer) (status uint32, err error) {
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

const clientID = 1

func (c *Client) do(params map[string]string, body io.Reader, stdout, stderr io.Writer) (uint32, error) {
	var flags uint8
	if c.keep {
		flags = flagKeepConn
	}
	c.out = appendBegin(c.out[:0], clientID, roleResponder, flags)
	c.out = appendParams(c.out, clientID, params)
	if body == nil {
		c.out = appendHeader(c.out, typeStdin, clientID, 0)
	}
	if _, err := c.nc.Write(c.out); err != nil {
		return 0, c.fail(err)
	}
	if body == nil {
		return c.receive(stdout, stderr)
	}
	// The answer may begin before the body has ended.
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
		c.err = sent // answered, but the connection is out of step
	} else if sent != nil && !errors.Is(sent, net.ErrClosed) {
		err = sent
	}
	return status, err
}

func (c *Client) fail(err error) error {
	c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	return c.err
}

// appendParams appends params as a stream of FCGI_PARAMS records.
func appendParams(dst []byte, id uint16, params map[string]string) []byte {
	var block []byte
	for name, value := range params {
		block = appendPair(block, name, value)
	}
	dst = appendStream(dst, typeParams, id, block)
	return appendHeader(dst, typeParams, id, 0)
}

func (c *Client) sendBody(body io.Reader) error {
	buf := make([]byte, headerLen+32<<10)
	for {
		n, err := body.Read(buf[headerLen:])
		if n > 0 {
			putHeader(buf, typeStdin, clientID, n)
			if _, err := c.nc.Write(buf[:headerLen+n]); err != nil {
				return fmt.Errorf("%w: %w", ErrClosed, err)
			}
		}
		if err == io.EOF {
			putHeader(buf, typeStdin, clientID, 0)
			if _, err := c.nc.Write(buf[:headerLen]); err != nil {
				return fmt.Errorf("%w: %w", ErrClosed, err)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read body: %w", err)
		}
	}
}

// receive reads records until the request has ended.
func (c *Client) receive(stdout, stderr io.Writer) (uint32, error) {
	for {
		head, err := c.in.Peek(headerLen)
		if err != nil {
			return 0, c.fail(err)
		}
		if head[0] != version {
			c.err = ErrProtocol
			return 0, c.err
		}
		h := parseHeader(head)
		c.in.Discard(headerLen)
		content := io.LimitReader(c.in, int64(h.length))
		switch {
		case h.id == clientID && h.typ == typeStdout:
			_, err = io.Copy(stdout, content)
		case h.id == clientID && h.typ == typeStderr:
			_, err = io.Copy(stderr, content)
		case h.id == clientID && h.typ == typeEnd:
			return c.ended(content, h.padding)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, content)
		}
		if err == nil {
			_, err = c.in.Discard(h.padding)
		}
		if err != nil {
			return 0, c.fail(err)
		}
	}
}

// ended reads what FCGI_END_REQUEST says.
func (c *Client) ended(content io.Reader, padding int) (uint32, error) {
	var body [bodyLen]byte
	if _, err := io.ReadFull(content, body[:]); err != nil {
		return 0, c.fail(err)
	}
	if _, err := c.in.Discard(padding); err != nil {
		return 0, c.fail(err)
	}
	switch body[4] {
	case statusCantMPX:
		return 0, ErrMultiplex
	case statusOverloaded:
		return 0, ErrOverloaded
	case statusUnknownRole:
		return 0, ErrUnknownRole
	}
	return binary.BigEndian.Uint32(body[:]), nil
}
