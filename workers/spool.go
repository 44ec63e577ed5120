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

// A request that is longer than what can be looked at, or does not come to its
// end, is read by the master into a file, as it comes. Only then it is shared
// among the workers again, with the file, which they read first. So a slow body
// holds no worker, however many there are.
type spool struct {
	conn     *os.File // the connection, which no worker holds meanwhile
	fd       int      // another descriptor of it
	file     *os.File
	size     int64 // bytes in the file
	deadline time.Time
	p        *Pool
}

const (
	spoolBuffer = 16 << 10
	spoolFDs    = 2       // descriptors beside that of the connection
	spoolTotal  = 1 << 30 // bytes in all files at most, but there is room for four
)

var errSpoolFull = errors.New("too many bytes of bodies are waiting")

// spoolShared begins to read ahead on a shared connection, which the master has
// claimed. p.mu is held.
func (p *Pool) spoolShared(slot int32, c *connection) {
	p.unshare(slot, c)
	p.readAhead(c.fd)
}

// readAhead begins to read ahead on fd. p.mu is held.
func (p *Pool) readAhead(fd int) {
	if len(p.spools) >= max(1, p.o.Conns/2) || p.extraFDs+spoolFDs > max(spoolFDs, p.o.descriptors/2) || !p.fits(1+spoolFDs) {
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
		return nil, fmt.Errorf("reading a body ahead: %w", err)
	}
	os.Remove(file.Name())
	other := duplicate(fd)
	if other < 0 {
		file.Close()
		return nil, errors.New("reading a body ahead: no descriptor is left")
	}
	return &spool{conn: os.NewFile(uintptr(other), "connection"), fd: fd, file: file, deadline: time.Now().Add(p.o.RequestTotal), p: p}, nil
}

// copy copies the request into the file. One whose body is larger than it may be
// is refused before any of that is read, where it says so.
func (s *spool) copy() (fcgi.Peeked, error) {
	most, seen := s.p.maxBody.Load(), peekBytes(s.fd)
	declared := fcgi.DeclaredLength(seen)
	if declared < 0 || declared > most {
		most = s.p.currentMaxBody()
	}
	if declared > most {
		return fcgi.Peek(seen), fcgi.ErrBodyTooLarge
	}
	return fcgi.CopyRequest(s, s, make([]byte, spoolBuffer), most)
}

// largest asks how large a body may be by now.
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
		p.shareSpool(s, ahead) // a worker sees the end as well
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.respond(s.fd, ahead.ID, TooSlow)
	case errors.Is(err, fcgi.ErrBodyTooLarge):
		p.respond(s.fd, ahead.ID, TooMuch)
	case errors.Is(err, unix.ECONNRESET):
		closeDrained(s.fd)
	default:
		p.log(fmt.Errorf("reading a body ahead: %w", err))
		p.respond(s.fd, ahead.ID, Refused)
	}
	s.file.Close()
}

// Read reads from the connection, as long as something comes.
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

// shareSpool shares the connection again, with what was read. p.mu is held.
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

// spent gives back the file of a connection whose first request was served.
func (p *Pool) fileRead(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && c.file != nil {
		c.file.Close()
		c.file = nil
		p.extraFDs--
		p.broadcast(message{kind: msgFileRead, slot: slot, gen: gen, fd: -1})
	}
}

// handedOver takes up a connection that a worker has left to the master.
func (p *Pool) spoolFor(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && p.mem.conns[slot].owner(gen) == ownerMaster {
		p.spoolShared(slot, c)
	}
}
