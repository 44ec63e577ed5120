package fcgi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ListenOptions say who may connect to a unix socket.
type ListenOptions struct {
	Mode  fs.FileMode // of the socket file; 0 means 0660
	Group string      // name or number of the socket file's group; "" leaves it
}

// Listen opens the socket that spec names: "unix:PATH" or "HOST:PORT".
//
// A socket file left behind by a dead process is replaced; one that somebody
// answers on, or a file that is no socket, is an error. HOST must be a loopback
// address, because whoever reaches the port can send any parameters, unless
// FCGI_WEB_SERVER_ADDRS says whom to trust.
func Listen(spec string, o ListenOptions) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(spec, "unix:")
	var l net.Listener
	var err error
	if isUnix {
		l, err = listenUnix(path, o)
	} else {
		l, err = listenTCP(spec)
	}
	if err != nil {
		return nil, &Error{"listen", spec, err}
	}
	return l, nil
}

func listenTCP(spec string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(spec)
	if err != nil {
		return nil, errors.New("want unix:PATH or HOST:PORT")
	}
	addr, err := net.ResolveTCPAddr("tcp", spec)
	if err != nil {
		return nil, err
	}
	if !addr.IP.IsLoopback() && os.Getenv("FCGI_WEB_SERVER_ADDRS") == "" {
		return nil, fmt.Errorf("%q is not a loopback address: use a unix socket, or name the web servers in FCGI_WEB_SERVER_ADDRS", host)
	}
	// Idle connections have a limit of their own; keep-alive probes would cost
	// four system calls a connection.
	lc := net.ListenConfig{KeepAlive: -1}
	return lc.Listen(context.Background(), "tcp", addr.String())
}

// maxPath leaves room for a suffix below the 108 bytes of sockaddr_un.
const maxPath = 100

// unixListener is a unix socket with its file.
type unixListener struct {
	*net.UnixListener
	path string
	file fs.FileInfo
}

// listenUnix makes the socket under another name, gives it its owner and mode,
// and only then its name: it can never be reached by those it is not meant for,
// and at no moment is there a file without a listener.
func listenUnix(path string, o ListenOptions) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("the path is missing")
	}
	if len(path) > maxPath {
		return nil, fmt.Errorf("the path is longer than %d bytes", maxPath)
	}
	if err := checkStale(path); err != nil {
		return nil, err
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid()%1e6)
	if file, err := os.Lstat(temporary); err == nil && file.Mode().Type() == fs.ModeSocket {
		os.Remove(temporary)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	file, err := placeSocket(temporary, path, o)
	if err != nil {
		l.Close()
		os.Remove(temporary)
		return nil, err
	}
	return &unixListener{l, path, file}, nil
}

func placeSocket(temporary, path string, o ListenOptions) (fs.FileInfo, error) {
	if o.Group != "" {
		gid, err := groupID(o.Group)
		if err != nil {
			return nil, err
		}
		if err := os.Chown(temporary, -1, gid); err != nil {
			return nil, err
		}
	}
	mode := o.Mode
	if mode == 0 {
		mode = 0o660
	}
	if err := os.Chmod(temporary, mode); err != nil {
		return nil, err
	}
	file, err := os.Lstat(temporary)
	if err != nil {
		return nil, err
	}
	return file, os.Rename(temporary, path)
}

func groupID(group string) (int, error) {
	if n, err := strconv.Atoi(group); err == nil {
		return n, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(g.Gid)
}

// checkStale returns nil when path is free or a socket that nobody answers on.
func checkStale(path string) error {
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if file.Mode().Type() != fs.ModeSocket {
		return errors.New("the file is there and is not a socket")
	}
	nc, err := net.DialTimeout("unix", path, 2*time.Second)
	switch {
	case err == nil:
		nc.Close()
		return errors.New("another process answers on this socket")
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return fmt.Errorf("cannot tell whether the socket is in use: %w", err)
	}
}

// Addr returns the path of the socket.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close closes the socket and removes its file, unless the file is by now
// somebody else's.
func (l *unixListener) Close() error {
	l.unlink()
	return l.UnixListener.Close()
}

func (l *unixListener) unlink() {
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(l.file, now) {
		os.Remove(l.path)
	}
}

// retire stops l for a shutdown. Who already waits in the queue of a socket of
// ours is still taken: closing it at once would reset them. Accept then runs
// into the deadline.
func retire(l net.Listener) {
	if u, ok := l.(*unixListener); ok {
		u.unlink() // whoever comes now goes elsewhere at once
	}
	d, ok := l.(interface{ SetDeadline(time.Time) error })
	if !ok || d.SetDeadline(time.Now().Add(queueGrace)) != nil {
		l.Close()
	}
}

// lookAgain gives Accept on a retired listener another moment, if it was the
// deadline that ended it. That may have passed while we got no processor, and
// then says nothing of the queue.
func lookAgain(l net.Listener, err error) bool {
	d, ok := l.(interface{ SetDeadline(time.Time) error })
	return ok && errors.Is(err, os.ErrDeadlineExceeded) && d.SetDeadline(time.Now().Add(queueGrace/4)) == nil
}

const (
	queueGrace = 20 * time.Millisecond
	lastLooks  = 3 // that find the queue empty
)
