package devserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"
)

// conn is a connection hijacked from net/http, whose own responses have neither our
// reason phrases nor our order of fields.
type conn struct {
	net.Conn
	out  *bufio.Writer
	body io.Reader
	// broken is true if the response is incomplete: the client must not take it for
	// a complete one.
	broken bool
}

func newConn(w http.ResponseWriter, hr *http.Request) *conn {
	c := &conn{body: hr.Body}
	c.out = bufio.NewWriterSize(lazyConn{c, http.NewResponseController(w)}, 32<<10)
	return c
}

// lazyConn hijacks the connection at its first write: before that, net/http reads the
// body.
type lazyConn struct {
	c  *conn
	rc *http.ResponseController
}

func (l lazyConn) Write(p []byte) (int, error) {
	if l.c.Conn == nil {
		n, _, err := l.rc.Hijack()
		if err != nil {
			return 0, err
		}
		n.SetDeadline(time.Time{})
		l.c.Conn = n
	}
	l.c.Conn.SetWriteDeadline(time.Now().Add(30 * time.Second))
	return l.c.Conn.Write(p)
}

// The limits of reading what a client still sends after its response.
const (
	drainIdle  = 500 * time.Millisecond
	drainTime  = 10 * time.Second
	drainBytes = 256 << 20
)

// close closes the connection after the client has received the whole response. It
// first reads what the client still sends, because closing a socket with unread bytes discards the
// response: browsers read it only when they have sent all of a body that is too large.
func (c *conn) close() {
	if c.Conn == nil {
		return
	}
	switch t, ok := c.Conn.(*net.TCPConn); {
	case ok && c.broken:
		t.SetLinger(0)
	case ok:
		t.CloseWrite()
		io.Copy(io.Discard, io.LimitReader(&draining{t, time.Now().Add(drainTime)}, drainBytes))
	}
	c.Conn.Close()
}

// draining reads from a connection as long as something arrives, and until end.
type draining struct {
	conn net.Conn
	end  time.Time
}

func (d *draining) Read(p []byte) (int, error) {
	by := time.Now().Add(drainIdle)
	if d.end.Before(by) {
		by = d.end
	}
	if err := d.conn.SetReadDeadline(by); err != nil {
		return 0, err
	}
	return d.conn.Read(p)
}
