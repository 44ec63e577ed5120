package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/rootname"
)

// The resident socket is the second socket of a resident server. scripter-cgi finds it
// by the root alone, and hands requests over there.

// residentOnly is the value of --listen that makes it the only socket.
const residentOnly = "door"

// handlerFor returns the handler for web servers and scripter-cgi.
func handlerFor(g *gateway.Gateway, root string) (fcgi.Handler, error) {
	path, err := gateway.ResidentSocket(root)
	if err != nil {
		return nil, err
	}
	use := &lastUse{}
	use.move(path)
	resident, err := gateway.NewResident(g, root, use.note)
	if err != nil {
		return nil, err
	}
	return resident.ServeFCGI, nil
}

// listenResident opens the resident socket of root. Only this process's user and root may
// connect; if this process runs as root, the owner of the root's file, or of the folder, may too. It fails if
// another server has the socket, and returns the path then too.
func listenResident(root string) (l net.Listener, path string, err error) {
	if path, err = gateway.ResidentSocket(root); err != nil {
		return nil, path, err
	}
	// Without the lock, servers that start at the same time would each find a socket
	// without a listener, and replace it.
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, path, err
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return nil, path, fmt.Errorf("lock %s: %w", folder.Name(), err)
	}
	o := fcgi.ListenOptions{Mode: 0o600}
	if os.Geteuid() == 0 {
		owned := root
		if rootname.IsURL(root) {
			owned = folder.Name()
		}
		info, err := os.Stat(owned)
		if err != nil {
			return nil, path, err
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			o.Owner = &fcgi.Owner{UID: int(owner.Uid), GID: int(owner.Gid)}
		}
	}
	l, err = fcgi.Listen("unix:"+path, o)
	return l, path, err
}
