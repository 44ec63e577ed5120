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
	conn *os.File // the connection, which no worker holds meanwhile
	fd   int      // another descriptor of it
	file *os.File
	got  int64 // bytes in the file
	by   time.Time
	p    *Pool
}

const (
	spoolBuffer = 16 << 10
	spoolMore   = 2       // descriptors beside that of the connection
	spoolTotal  = 1 << 30 // bytes in all files at most, but there is room for four
)

var errSpoolFull = errors.New("too many bytes of bodies are waiting")

// spoolShared begins to read ahead on a shared connection, which the master has
// claimed. p.mu is held.
func (p *Pool) spoolShared(slot int32, c *held) {
	p.unshare(slot, c)
	p.readAhead(c.fd)
}

// readAhead begins to read ahead on fd. p.mu is held.
func (p *Pool) readAhead(fd int) {
	if len(p.spools) >= max(1, p.o.Conns/2) || p.more+spoolMore > max(spoolMore, p.o.descriptors/2) || !p.fits(1+spoolMore) {
		p.turnAway(fd)
		return
	}
	s, err := p.newSpool(fd)
	if err != nil {
		p.log(err)
		p.turnAway(fd)
		return
	}
	p.spools[s] = true
	p.count++
	p.more += spoolMore
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
	return &spool{conn: os.NewFile(uintptr(other), "connection"), fd: fd, file: file, by: time.Now().Add(p.o.Whole), p: p}, nil
}

// copy copies the request into the file. One whose body is larger than it may be
// is refused before any of that is read, where it says so.
func (s *spool) copy() (fcgi.Ahead, error) {
	most, seen := s.p.body.Load(), lookAt(s.fd)
	declared := fcgi.DeclaredLength(seen)
	if declared < 0 || declared > most {
		most = s.p.largest()
	}
	if declared > most {
		return fcgi.LookAhead(seen), fcgi.ErrBodyTooLarge
	}
	return fcgi.CopyRequest(s, s, make([]byte, spoolBuffer), most)
}

// largest asks how large a body may be by now.
func (p *Pool) largest() int64 {
	if p.o.Largest == nil {
		return p.body.Load()
	}
	p.asking.Lock()
	defer p.asking.Unlock()
	if most := p.o.Largest(); most > 0 {
		p.body.Store(most)
	}
	return p.body.Load()
}

func (s *spool) run() {
	ahead, err := s.copy()
	s.conn.Close()
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.spools, s)
	p.count--
	p.more -= spoolMore
	p.spooled.Add(-s.got)
	switch {
	case p.dismissed:
		hangUp(s.fd)
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.shareSpool(s, ahead) // a worker sees the end as well
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.decline(s.fd, ahead.ID, TooSlow)
	case errors.Is(err, fcgi.ErrBodyTooLarge):
		p.decline(s.fd, ahead.ID, TooMuch)
	case errors.Is(err, unix.ECONNRESET):
		hangUp(s.fd)
	default:
		p.log(fmt.Errorf("reading a body ahead: %w", err))
		p.decline(s.fd, ahead.ID, Refused)
	}
	s.file.Close()
}

// Read reads from the connection, as long as something comes.
func (s *spool) Read(b []byte) (int, error) {
	by := time.Now().Add(s.p.o.Request)
	if s.by.Before(by) {
		by = s.by
	}
	if err := s.conn.SetReadDeadline(by); err != nil {
		return 0, err
	}
	return s.conn.Read(b)
}

// Write writes to the file.
func (s *spool) Write(b []byte) (int, error) {
	s.got += int64(len(b))
	if s.p.spooled.Add(int64(len(b))) > max(spoolTotal, 8*s.p.body.Load()) {
		return 0, errSpoolFull
	}
	return s.file.Write(b)
}

// stop ends the reading at once.
func (s *spool) stop() { s.conn.SetReadDeadline(time.Unix(1, 0)) }

// shareSpool shares the connection again, with what was read. p.mu is held.
func (p *Pool) shareSpool(s *spool, a fcgi.Ahead) {
	slot := p.room()
	if slot < 0 {
		p.decline(s.fd, a.ID, Refused)
		s.file.Close()
		return
	}
	m := &p.mem.slots[slot]
	m.spooled.Store(s.got)
	m.whole.Store(a.Whole())
	m.request.Store(uint32(a.ID))
	p.place(slot, &held{fd: s.fd, file: s.file})
}

// spent gives back the file of a connection whose first request was served.
func (p *Pool) spent(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && c.file != nil {
		c.file.Close()
		c.file = nil
		p.more--
		p.broadcast(message{kind: msgSpent, slot: slot, gen: gen, fd: -1})
	}
}

// handedOver takes up a connection that a worker has left to the master.
func (p *Pool) handedOver(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[slot]; c != nil && c.gen == gen && p.mem.slots[slot].owner(gen) == ownerMaster {
		p.spoolShared(slot, c)
	}
}
