package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
)

// The door is the second socket of a resident server: scripter-cgi, which knows
// it by the root alone, hands requests over there.

// doorOnly is the word for --listen that leaves the door the only socket.
const doorOnly = "door"

// handlerFor answers the requests of web servers and those of scripter-cgi.
func handlerFor(g *gateway.Gateway, root string) (fcgi.Handler, error) {
	path, err := gateway.DoorPath(root)
	if err != nil {
		return nil, err
	}
	use := &doorUse{}
	use.move(path)
	door, err := gateway.NewDoor(g, root, use.note)
	if err != nil {
		return nil, err
	}
	return door.ServeFCGI, nil
}

// sockets are what the program listens at.
type sockets struct {
	web, door net.Listener // nil: there is none
	path      string       // of the door, also where another server has it; "": none is wanted
	use       *doorUse
}

func (s *sockets) all() (ls []net.Listener) {
	for _, l := range []net.Listener{s.web, s.door} {
		if l != nil {
			ls = append(ls, l)
		}
	}
	return ls
}

// listenAll opens the socket for web servers, and the door, which is not always to
// be had: of several servers of one root, one has it.
func listenAll(o options, log *slog.Logger) (*sockets, error) {
	s := &sockets{use: &doorUse{}}
	if o.listen != doorOnly {
		var err error
		if s.web, err = listen(o, log); err != nil {
			return nil, err
		}
	}
	if o.door == "off" || o.responder == "std" {
		return s, nil
	}
	l, path, err := s.doorOf(o.root, log)
	if err != nil {
		return nil, err
	}
	s.door, s.path = l, path
	s.use.move(path)
	return s, nil
}

// doorOf opens the door of root; nil where another server has it, which is an
// error when there is no other socket.
func (s *sockets) doorOf(root string, log *slog.Logger) (l net.Listener, path string, err error) {
	if path, err = gateway.DoorPath(root); err != nil {
		return nil, "", err
	}
	if l, _, err = listenDoor(root); err == nil {
		return l, path, nil
	}
	if s.web == nil {
		return nil, "", err
	}
	log.Info("no requests are taken from scripter-cgi", "err", err)
	return nil, path, nil
}

// move opens the door of another root, has take take it, and makes it the door.
// Take gets moved = false where the door stays as it is. When take fails, all
// stays as it was.
func (s *sockets) move(root string, log *slog.Logger, take func(l net.Listener, moved bool) error) error {
	path, err := gateway.DoorPath(root)
	if err != nil {
		return err
	}
	if s.path == "" || path == s.path {
		return take(nil, false)
	}
	l, _, err := s.doorOf(root, log)
	if err != nil {
		return err
	}
	s.use.move(path) // before the old one is gone, which would end an idle server
	if err := take(l, true); err != nil {
		s.use.move(s.path)
		if l != nil {
			l.Close()
		}
		return err
	}
	s.door, s.path = l, path
	return nil
}

// listenDoor opens the door of root. Only this process's user and the superuser
// may connect; when that is the superuser, the owner of the root may too. It
// fails when another server has the door.
func listenDoor(root string) (l net.Listener, path string, err error) {
	if path, err = gateway.DoorPath(root); err != nil {
		return nil, "", err
	}
	// Of servers that begin at the same time each would find a socket that
	// nobody listens at, and take the door from the others.
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, "", err
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return nil, "", fmt.Errorf("lock %s: %w", folder.Name(), err)
	}
	o := fcgi.ListenOptions{Mode: 0o600}
	if os.Geteuid() == 0 {
		info, err := os.Stat(root)
		if err != nil {
			return nil, "", err
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			o.Owner = &fcgi.Owner{UID: int(owner.Uid), GID: int(owner.Gid)}
		}
	}
	l, err = fcgi.Listen("unix:"+path, o)
	return l, path, err
}

// doorUse notes when requests come through a door: the time of modification of
// its socket, so that any number of processes may have it in common.
type doorUse struct {
	path atomic.Value // string
	last atomic.Int64 // ns, when it was noted
}

// move makes path the door whose use is noted.
func (u *doorUse) move(path string) { u.path.Store(path) }

func (u *doorUse) at() string {
	path, _ := u.path.Load().(string)
	return path
}

// useEvery is how exact the note is.
const useEvery = time.Second

// note says that a request came.
func (u *doorUse) note() {
	now := time.Now()
	if last := u.last.Load(); now.UnixNano()-last < int64(useEvery) || !u.last.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	os.Chtimes(u.at(), now, now) // a failure ends the server too early, and no more
}

// leaveWhenIdle calls leave when no request has come for the time idle.
func (u *doorUse) leaveWhenIdle(ctx context.Context, idle time.Duration, leave func(), log *slog.Logger) {
	if u.untilIdle(ctx, idle) {
		log.Info("no request has come", "for", idle)
		leave()
	}
}

// untilIdle waits until no request has come for the time idle, or the door is not
// there any more; it gives false when ctx ended first.
func (u *doorUse) untilIdle(ctx context.Context, idle time.Duration) bool {
	for {
		path := u.at()
		info, err := os.Lstat(path)
		if err != nil {
			if path != u.at() {
				continue
			}
			return true
		}
		left := idle + useEvery - time.Since(info.ModTime())
		if left <= 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(left, time.Minute)):
		}
	}
}
