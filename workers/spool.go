//go:build linux

package workers

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// spool reads a request into a file. The master does so if a request is longer than a worker
// can peek at, or stalls. When the request is complete, the master shares the connection
// again, with the file, and a worker reads the file first. So a slow body occupies no
// worker.
type spool struct {
	conn     *os.File // the connection; no worker holds it meanwhile
	fd       int      // another descriptor of the connection
	file     *os.File
	size     int64 // bytes in the file
	deadline time.Time
	p        *Pool
}

const (
	spoolBuffer = 16 << 10
	spoolFDs    = 2       // descriptors of a spool, without that of the connection
	spoolTotal  = 1 << 30 // bytes in all files, if that is more than eight bodies
)

var errSpoolFull = errors.New("the files of spooled requests are full")

// spoolShared begins to spool on a shared connection, which the master has acquired. The
// caller holds p.mu.
func (p *Pool) spoolShared(slot int32, c *connection) {
	p.unshare(slot, c)
	p.startSpool(c.fd)
}

// startSpool begins to spool on fd. The caller holds p.mu.
func (p *Pool) startSpool(fd int) {
	full := len(p.spools) >= max(1, p.o.Conns/2) || p.extraFDs+spoolFDs > max(spoolFDs, p.o.descriptors/2)
	if full || !p.fits(1+spoolFDs) {
		p.refuseNew(fd)
		return
	}
	s, err := p.newSpool(fd)
	if err != nil {
		p.log(err)
		p.refuseNew(fd)
		return
	}
	p.spools[s] = true
	p.connCount++
	p.extraFDs += spoolFDs
	go s.run()
}

func (p *Pool) newSpool(fd int) (*spool, error) {
	file, err := os.CreateTemp("", "scripter-request-")
	if err != nil {
		return nil, fmt.Errorf("spool a request: %w", err)
	}
	os.Remove(file.Name())
	other := duplicate(fd)
	if other == 0 {
		file.Close()
		return nil, errors.New("spool a request: no descriptor left")
	}
	conn := os.NewFile(uintptr(other), "connection")
	return &spool{conn: conn, fd: fd, file: file, deadline: time.Now().Add(p.o.RequestTotal), p: p}, nil
}

// copy copies the request into the file. If the request declares a body that is too large,
// copy reads none of it.
func (s *spool) copy() (fcgi.Peeked, error) {
	most := s.p.maxBody.Load()
	seen, _ := peek(s.fd)
	declared := fcgi.DeclaredLength(seen)
	if declared < 0 || declared > most {
		most = s.p.currentMaxBody()
	}
	if declared > most {
		return fcgi.Peek(seen), fcgi.ErrBodyTooLarge
	}
	return fcgi.CopyRequest(s, s, make([]byte, spoolBuffer), most)
}

// currentMaxBody returns how large a body may be now.
func (p *Pool) currentMaxBody() int64 {
	if p.o.CurrentMaxBody == nil {
		return p.maxBody.Load()
	}
	p.maxBodyMu.Lock()
	defer p.maxBodyMu.Unlock()
	if most := p.o.CurrentMaxBody(); most > 0 {
		p.maxBody.Store(most)
	}
	return p.maxBody.Load()
}

func (s *spool) run() {
	ahead, err := s.copy()
	s.conn.Close()
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.spools, s)
	p.connCount--
	p.extraFDs -= spoolFDs
	p.spooledBytes.Add(-s.size)
	switch {
	case p.dismissed:
		closeDrained(s.fd)
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.shareSpool(s, ahead) // a worker handles the end
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.respond(s.fd, ahead.ID, TooSlow)
	case errors.Is(err, fcgi.ErrBodyTooLarge):
		p.respond(s.fd, ahead.ID, TooMuch)
	case errors.Is(err, unix.ECONNRESET):
		closeDrained(s.fd)
	default:
		p.log(fmt.Errorf("spool a request: %w", err))
		p.respond(s.fd, ahead.ID, Refused)
	}
	s.file.Close()
}

// Read reads from the connection, and fails if nothing arrives in time.
func (s *spool) Read(b []byte) (int, error) {
	by := time.Now().Add(s.p.o.RequestIdle)
	if s.deadline.Before(by) {
		by = s.deadline
	}
	if err := s.conn.SetReadDeadline(by); err != nil {
		return 0, err
	}
	return s.conn.Read(b)
}

// Write writes to the file.
func (s *spool) Write(b []byte) (int, error) {
	s.size += int64(len(b))
	if s.p.spooledBytes.Add(int64(len(b))) > max(spoolTotal, 8*s.p.maxBody.Load()) {
		return 0, errSpoolFull
	}
	return s.file.Write(b)
}

// stop ends the reading at once.
func (s *spool) stop() { s.conn.SetReadDeadline(time.Unix(1, 0)) }

// shareSpool shares the connection again, with the file. The caller holds p.mu.
func (p *Pool) shareSpool(s *spool, a fcgi.Peeked) {
	slot := p.freeConn()
	if slot < 0 {
		p.respond(s.fd, a.ID, Refused)
		s.file.Close()
		return
	}
	m := &p.mem.conns[slot]
	m.spooled.Store(s.size)
	m.whole.Store(a.Complete())
	m.request.Store(uint32(a.ID))
	p.addConn(slot, &connection{fd: s.fd, file: s.file})
}

// fileRead closes the file of a connection whose first request was served.
func (p *Pool) fileRead(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && c.file != nil {
		c.file.Close()
		c.file = nil
		p.extraFDs--
		p.broadcast(message{kind: msgFileRead, slot: slot, gen: gen})
	}
}

// spoolFor spools on a connection that a worker has handed to the master.
func (p *Pool) spoolFor(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && p.mem.conns[slot].owner(gen) == ownerMaster {
		p.spoolShared(slot, c)
	}
}
