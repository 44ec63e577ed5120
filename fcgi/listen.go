package fcgi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ListenOptions say who may connect to a unix socket.
type ListenOptions struct {
	Mode  fs.FileMode // of the socket file; 0 means 0660
	Group string      // name or number of the socket file's group; "" leaves it
	Owner *Owner      // of the socket file; nil leaves it
}

// Owner is the user and the group of a file.
type Owner struct{ UID, GID int }

// Listen opens the socket that spec names: "unix:PATH" or "HOST:PORT".
//
// It replaces the socket file of a dead process. If a process answers on the socket, or if
// the file is not a socket, that is an error. HOST must be a loopback address unless
// FCGI_WEB_SERVER_ADDRS names the web servers, because every process that reaches the port
// can send any parameters.
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
	if !addr.IP.IsLoopback() && strings.TrimSpace(os.Getenv("FCGI_WEB_SERVER_ADDRS")) == "" {
		return nil, fmt.Errorf("%q is not a loopback address: use a unix socket, "+
			"or name the web servers in FCGI_WEB_SERVER_ADDRS", host)
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

// listenUnix creates the socket in a folder that only this user can enter, sets its owner
// and mode there, and then moves it to its path. So no other user can connect or replace the
// file meanwhile, and the path never names a socket without a listener.
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
	folder, err := newPrivateFolder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.remove()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: folder.socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	file, err := folder.place(path, o)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &unixListener{l, path, file}, nil
}

// privateFolder is a temporary folder for one socket, inside the socket's folder.
type privateFolder struct {
	above  *os.Root
	name   string
	inside *os.File
	// socket is the path of the socket. Where the system allows it, the path begins
	// with the descriptor of the folder, so that renaming the folder changes nothing.
	socket string
}

// socketName is the name of the socket in its private folder.
const socketName = "s"

func newPrivateFolder(dir string) (*privateFolder, error) {
	above, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &privateFolder{above: above}
	for range 100 {
		f.name = fmt.Sprintf(".socket-%04x", rand.Uint32()&0xffff)
		if err = above.Mkdir(f.name, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		f.inside, err = above.OpenFile(f.name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		f.remove()
		return nil, err
	}
	f.socket = filepath.Join(dir, f.name, socketName)
	if byDescriptor := fmt.Sprintf("/proc/self/fd/%d", f.inside.Fd()); isFolder(byDescriptor) {
		f.socket = filepath.Join(byDescriptor, socketName)
	}
	return f, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// check returns an error if another user has replaced the folder. Every user who may write
// to the folder above can do that.
func (f *privateFolder) check() error {
	info, err := f.inside.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm() != 0o700 || ok && int(owner.Uid) != os.Geteuid() {
		path := filepath.Join(f.above.Name(), f.name)
		return fmt.Errorf("the folder %s was replaced while the socket was created", path)
	}
	return nil
}

// place sets the socket's owner and mode and moves it to path. No other user can create a
// file in the folder, so the socket cannot be a link.
func (f *privateFolder) place(path string, o ListenOptions) (fs.FileInfo, error) {
	uid, gid := -1, -1
	if o.Owner != nil {
		uid, gid = o.Owner.UID, o.Owner.GID
	}
	if o.Group != "" {
		var err error
		if gid, err = groupID(o.Group); err != nil {
			return nil, err
		}
	}
	if uid >= 0 || gid >= 0 {
		if err := os.Lchown(f.socket, uid, gid); err != nil {
			return nil, err
		}
	}
	mode := o.Mode
	if mode == 0 {
		mode = 0o660
	}
	if err := os.Chmod(f.socket, mode); err != nil {
		return nil, err
	}
	file, err := os.Lstat(f.socket)
	if err != nil {
		return nil, err
	}
	if err := f.above.Rename(filepath.Join(f.name, socketName), filepath.Base(path)); err != nil {
		return nil, err
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, file) {
		return nil, errors.New("the socket was replaced while it was created")
	}
	return file, nil
}

// remove removes the folder, and the socket if place did not move it.
func (f *privateFolder) remove() {
	if f.inside != nil {
		if f.socket != "" {
			os.Remove(f.socket)
		}
		f.inside.Close()
	}
	f.above.Remove(f.name)
	f.above.Close()
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

// checkStale returns nil if path is free, or a socket without a listener.
func checkStale(path string) error {
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if file.Mode().Type() != fs.ModeSocket {
		return errors.New("the file exists and is not a socket")
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

// Close closes the socket and removes its file, unless another socket has replaced the file.
func (l *unixListener) Close() error {
	l.unlink()
	return l.UnixListener.Close()
}

func (l *unixListener) unlink() {
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(l.file, now) {
		os.Remove(l.path)
	}
}

// drainListener stops l for a shutdown. Connections that wait in the queue of a socket that
// Listen opened are still accepted, because closing it at once would reset them. Accept then
// reaches the deadline.
func drainListener(l net.Listener) {
	if u, ok := l.(*unixListener); ok {
		u.unlink() // new connections fail or reach the next listener
	}
	d, ok := l.(interface{ SetDeadline(time.Time) error })
	if !ok || d.SetDeadline(time.Now().Add(queueGrace)) != nil {
		l.Close()
	}
}

// drainLonger sets another deadline for Accept on a draining listener, if the deadline has
// ended it. If the process got no processor meanwhile, the deadline says nothing about the
// queue.
func drainLonger(l net.Listener, err error) bool {
	d, ok := l.(interface{ SetDeadline(time.Time) error })
	return ok && errors.Is(err, os.ErrDeadlineExceeded) && d.SetDeadline(time.Now().Add(queueGrace/4)) == nil
}

const (
	queueGrace   = 20 * time.Millisecond
	emptyAccepts = 3 // deadlines in a row after which the queue is empty
)
