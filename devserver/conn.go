package devserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"
)

// conn is a connection taken over from net/http, whose own responses have
// neither our reasons nor our order.
type conn struct {
	net.Conn
	out  *bufio.Writer
	body io.Reader
	// broken is true when the response could not be finished: the client
	// must not take it for a whole one.
	broken bool
}

func newConn(w http.ResponseWriter, hr *http.Request) *conn {
	c := &conn{body: hr.Body}
	c.out = bufio.NewWriterSize(lazyConn{c, http.NewResponseController(w)}, 32<<10)
	return c
}

// lazyConn takes the connection over at its first write: until then the
// body is read through net/http.
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

// close ends the connection so that the client has all of the response: what
// it still sends is read for a moment, because a closed socket with unread
// bytes throws the response away.
func (c *conn) close() {
	if c.Conn == nil {
		return
	}
	switch t, ok := c.Conn.(*net.TCPConn); {
	case ok && c.broken:
		t.SetLinger(0)
	case ok:
		t.CloseWrite()
		t.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		io.Copy(io.Discard, io.LimitReader(t, 1<<20))
	}
	c.Conn.Close()
}
