package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"scripter/fcgi"
	"scripter/gateway"
)

// sockets holds the sockets on which the program listens.
type sockets struct {
	web      net.Listener // for web servers; nil: none
	resident net.Listener // for scripter-cgi; nil: none
	passed   []*os.File   // connections that the process before has handed over
	// residentPath is the path of the resident socket, even if another server has
	// it; "" if none is wanted.
	residentPath string
	lastUse      *lastUse
}

func (s *sockets) all() (ls []net.Listener) {
	for _, l := range []net.Listener{s.web, s.resident} {
		if l != nil {
			ls = append(ls, l)
		}
	}
	return ls
}

// listenAll opens the socket for web servers and the resident socket. Of several
// servers of one root, one has the resident socket.
func listenAll(o options, log *slog.Logger) (*sockets, error) {
	s := &sockets{lastUse: &lastUse{}}
	if o.listen != residentOnly {
		var err error
		if s.web, s.passed, err = listen(o, log); err != nil {
			return nil, err
		}
	}
	if o.resident == "off" || o.responder == "std" {
		return s, nil
	}
	l, path, err := s.listenResident(o.root, log)
	if err != nil {
		return nil, err
	}
	s.resident, s.residentPath = l, path
	s.lastUse.move(path)
	return s, nil
}

// listenResident opens the resident socket of root. The listener is nil if another
// server has it, which is an error if there is no socket for web servers.
func (s *sockets) listenResident(root string, log *slog.Logger) (l net.Listener, path string, err error) {
	l, path, err = listenResident(root)
	if err != nil && path != "" && s.web != nil {
		log.Info("no requests are taken from scripter-cgi", "err", err)
		err = nil
	}
	return l, path, err
}

// move opens the resident socket of another root and calls reload with it. moved is
// false if the socket stays the same. If reload fails, everything stays as it was.
func (s *sockets) move(root string, log *slog.Logger, reload func(l net.Listener, moved bool) error) error {
	path, err := gateway.ResidentSocket(root)
	if err != nil {
		return err
	}
	if s.residentPath == "" || path == s.residentPath {
		return reload(nil, false)
	}
	l, _, err := s.listenResident(root, log)
	if err != nil {
		return err
	}
	s.lastUse.move(path) // before the old socket is gone, which would end an idle server
	if err := reload(l, true); err != nil {
		s.lastUse.move(s.residentPath)
		if l != nil {
			l.Close()
		}
		return err
	}
	s.resident, s.residentPath = l, path
	return nil
}

// webServers is the variable that names the web servers (FastCGI, section 3.2).
const webServers = "FCGI_WEB_SERVER_ADDRS"

// errNobodyAllowed refuses a TCP socket without allowed addresses.
var errNobodyAllowed = errors.New("no allowed addresses are named: whoever connects can pretend to be the web server")

// listen opens the socket for web servers, or takes the one that systemd has opened, with the connections
// that the process before has handed over.
func listen(o options, log *slog.Logger) (net.Listener, []*os.File, error) {
	if len(o.allow) > 0 {
		// The workers inherit it.
		all := strings.Join(o.allow, ",")
		if named := strings.TrimSpace(os.Getenv(webServers)); named != "" {
			all += "," + named
		}
		if err := os.Setenv(webServers, all); err != nil {
			return nil, nil, err
		}
	}
	allowed := strings.TrimSpace(os.Getenv(webServers))
	if o.listen != "" && o.listen != residentOnly && !strings.HasPrefix(o.listen, "unix:") && allowed == "" {
		return nil, nil, fmt.Errorf("listen %s: %w", o.listen, errNobodyAllowed)
	}
	var l net.Listener
	var passed []*os.File
	var err error
	if o.listen == "" {
		l, passed, err = fcgi.Inherited()
	} else {
		l, err = fcgi.Listen(o.listen, fcgi.ListenOptions{Mode: o.mode, Group: o.group})
	}
	if err != nil || l.Addr().Network() != "tcp" {
		return l, passed, err
	}
	if o.responder == "std" {
		return nil, nil, errors.Join(errors.New("--responder std does not check addresses: it needs a unix socket"), l.Close())
	}
	if allowed == "" {
		return nil, nil, errors.Join(fmt.Errorf("listen %s: %w", l.Addr(), errNobodyAllowed), l.Close())
	}
	log.Warn("every user of the allowed machines can pretend to be the web server here, "+
		"with any REMOTE_USER and DOCUMENT_ROOT; a unix socket has a mode",
		"addr", l.Addr().String(), "allowed", allowed)
	return l, passed, nil
}
