package fcgi

import (
	"errors"
	"net"
	"os"
)

// Detach gives the socket of l, which Listen or Inherited returned, for other
// processes to accept from. L is closed: this process is not woken for new
// connections any more. Remove takes away the socket's file, if it has one of
// ours.
func Detach(l net.Listener) (f *os.File, remove func(), err error) {
	remove = func() {}
	if i, ok := l.(inherited); ok {
		l = i.Listener
	}
	if u, ok := l.(*unixListener); ok {
		remove, l = u.unlink, u.UnixListener
	}
	s, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, nil, &Error{"detach", l.Addr().String(), errors.New("not a socket of the system")}
	}
	if f, err = s.File(); err != nil {
		return nil, nil, &Error{"detach", l.Addr().String(), err}
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	return f, remove, l.Close()
}
