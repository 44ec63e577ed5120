package fcgi

import (
	"errors"
	"net"
	"os"
)

// Detach returns the socket of l, which Listen or Inherited returned, so that other
// processes can accept from it. It closes l. remove removes the socket's file if Listen
// created it.
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
