package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"scripter/gateway"
	"scripter/rootname"
	"scripter/site"
)

// startTime is how long a resident server that this program has started may take until it accepts a request.
const startTime = 10 * time.Second

// A handover is a request for a root in PostgreSQL. This program cannot answer it, because it has no connections that
// stay open: a resident server does. The relay has already handed over the common cases; this hands over the
// others, and starts a resident server if there is none.
type handover struct {
	conf       site.Conf
	executable string
	params     [][2]string // variables of the request and our own
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
}

func newHandover(conf site.Conf, cgi gateway.CGI, script, executable string, stderr io.Writer) (*handover, error) {
	socket, err := gateway.ResidentSocket(conf.Root)
	if err != nil {
		return nil, err
	}
	h := &handover{conf: conf, executable: executable, stdin: cgi.Stdin, stdout: cgi.Stdout, stderr: stderr}
	vars, repeated := gateway.Variables(cgi.Environ)
	for name, value := range vars {
		if !strings.HasPrefix(name, gateway.ResidentVariable) && !rootname.IsSecret(name) {
			h.params = append(h.params, [2]string{name, value})
		}
	}
	for _, own := range [][2]string{
		{"root", strings.TrimSuffix(socket, gateway.ResidentSuffix)}, {"program", cgi.Program},
		{"executable", executable}, {"script", script}, {"nph", conf.NPH}, {"repeated", repeated},
	} {
		h.params = append(h.params, [2]string{gateway.ResidentVariable + own[0], own[1]})
	}
	return h, nil
}

// run hands the request over and passes the response on. It returns the exit status. An error says that no server has
// accepted the request.
func (h *handover) run(ctx context.Context, log *slog.Logger) (status int, err error) {
	nc, err := h.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	go h.send(nc) // the response may begin before the body has ended
	return h.receive(nc, log)
}

// connect connects to the resident server, and starts it if there is none.
func (h *handover) connect(ctx context.Context) (net.Conn, error) {
	socket, err := gateway.ResidentSocket(h.conf.Root)
	if err != nil {
		return nil, err
	}
	deadline, started := time.Now().Add(startTime), false
	for {
		nc, err := dialTrusted(ctx, socket)
		if err == nil {
			return nc, nil
		}
		missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if !missing || time.Now().After(deadline) || ctx.Err() != nil {
			return nil, err
		}
		if h.conf.Resident == "off" {
			return nil, errors.New("a root in PostgreSQL needs a resident server, which resident: off does not start; " +
				"scripter-fcgi is one")
		}
		if !started {
			if err := startResident(h.executable, h.conf); err != nil {
				return nil, fmt.Errorf("start a resident server: %w", err)
			}
			started = true
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// dialTrusted connects to a socket that only this user, or root, can have made.
func dialTrusted(ctx context.Context, socket string) (net.Conn, error) {
	for _, path := range []string{socket, filepath.Dir(socket)} {
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		own, ok := info.Sys().(*syscall.Stat_t)
		others := info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
		if !ok || others || path == socket && int(own.Uid) != os.Geteuid() && own.Uid != 0 {
			return nil, fmt.Errorf("the resident server is not trusted: %s belongs to another user, or everybody may write to it",
				path)
		}
	}
	return new(net.Dialer).DialContext(ctx, "unix", socket)
}

// The records of FastCGI (https://fastcgi-archives.github.io/FastCGI_Specification.html, section 3.3).
const (
	recordBegin  = 1
	recordEnd    = 3
	recordParams = 4
	recordStdin  = 5
	recordStdout = 6
	recordStderr = 7

	mostContent = 65528
)

func appendRecord(b []byte, kind byte, content []byte) []byte {
	b = append(b, 1, kind, 0, 1)
	b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
	return append(append(b, 0, 0), content...)
}

func appendLength(b []byte, n int) []byte {
	if n < 128 {
		return append(b, byte(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n)|1<<31)
}

// send sends the request. An error shows when the response is read.
func (h *handover) send(nc net.Conn) {
	var pairs []byte
	for _, p := range h.params {
		pairs = appendLength(appendLength(pairs, len(p[0])), len(p[1]))
		pairs = append(append(pairs, p[0]...), p[1]...)
	}
	out := appendRecord(nil, recordBegin, []byte{0, 1, 0, 0, 0, 0, 0, 0}) // a responder, and no FCGI_KEEP_CONN
	for part := range slices.Chunk(pairs, mostContent) {
		out = appendRecord(out, recordParams, part)
	}
	out = appendRecord(out, recordParams, nil)
	if _, err := nc.Write(out); err != nil {
		return
	}
	body := make([]byte, 32<<10)
	for {
		n, err := h.stdin.Read(body)
		if n > 0 {
			if _, err := nc.Write(appendRecord(nil, recordStdin, body[:n])); err != nil {
				return
			}
		}
		switch {
		case err == io.EOF:
			_, _ = nc.Write(appendRecord(nil, recordStdin, nil))
			return
		case err != nil:
			nc.Close() // the body is not complete
			return
		}
	}
}

// receive passes the response on.
func (h *handover) receive(nc net.Conn, log *slog.Logger) (status int, err error) {
	in, accepted := bufio.NewReaderSize(nc, 64<<10), false
	lost := func(err error) (int, error) {
		if !accepted {
			return 0, fmt.Errorf("the resident server does not accept the request: %w", err)
		}
		log.Error("the resident server went away with the request", "root", h.conf.Root, "err", err)
		return 1, nil
	}
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return lost(err)
		}
		content := make([]byte, int(binary.BigEndian.Uint16(head[4:]))+int(head[6]))
		if _, err := io.ReadFull(in, content); err != nil {
			return lost(err)
		}
		content = content[:len(content)-int(head[6])]
		switch head[1] {
		case recordStdout:
			if _, err := h.stdout.Write(content); err != nil {
				return 1, nil // the web server is gone
			}
		case recordStderr:
			if !accepted && len(content) > 0 {
				accepted, content = true, content[1:]
			}
			_, _ = h.stderr.Write(content)
		case recordEnd:
			if !accepted || len(content) < 8 {
				return lost(errors.New("it answers from another root"))
			}
			return int(binary.BigEndian.Uint32(content)), nil
		}
	}
}
