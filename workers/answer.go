//go:build linux

package workers

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// turnAway refuses the request on a connection that there is no room for. p.mu
// is held.
func (p *Pool) turnAway(fd int) {
	if id := lookedAt(fd).ID; id != 0 || p.farewells.Load() >= int64(p.o.farewells) {
		p.decline(fd, id, Refused)
		return
	}
	p.farewells.Add(1)
	go p.turnAwayLate(fd)
}

// turnAwayLate refuses a request that has not come yet: a web server connects
// first. Who sends nothing is not told anything.
func (p *Pool) turnAwayLate(fd int) {
	id := awaitRequest(fd, lateTime)
	p.farewells.Add(-1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decline(fd, id, Refused)
}

// lateTime is how long a connection that there is no room for may be without a
// request.
const lateTime = 10 * time.Second

// awaitRequest waits until a request has begun on fd and returns its number; 0
// when none has.
func awaitRequest(fd int, patience time.Duration) (id uint16) {
	other := duplicate(fd)
	if other < 0 {
		return 0
	}
	f := os.NewFile(uintptr(other), "connection")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Now().Add(patience)) != nil {
		return 0
	}
	raw.Read(func(fd uintptr) (done bool) {
		b, err := peekAt(int(fd))
		a := fcgi.LookAhead(b)
		id = a.ID
		return id != 0 || a.Whole() || len(b) == 0 && err != unix.EAGAIN
	})
	return id
}

// decline answers request id on fd in place of a worker, unless id is 0, and
// closes fd. p.mu is held.
func (p *Pool) decline(fd int, id uint16, reason Reason) {
	if id == 0 {
		hangUp(fd)
		return
	}
	p.facts.Lost[reason]++
	write(fd, fcgi.AppendAnswer(nil, id, p.o.Lost(Loss{Reason: reason})))
	p.linger(fd)
}

// refuse answers a request that no worker will read. p.mu is held.
func (p *Pool) refuse(slot int32, c *held, reason Reason) {
	if !p.mem.slots[slot].claim(c.gen, ownerMaster) {
		return
	}
	id := uint16(p.mem.slots[slot].request.Load())
	if p.mem.slots[slot].spooled.Load() == 0 {
		id = lookedAt(c.fd).ID
	}
	p.unshare(slot, c)
	p.decline(c.fd, id, reason)
}

// salvage answers the requests that w had when it died. p.mu is held.
func (p *Pool) salvage(w *process, err error) {
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.slots[slot]
		switch s.owner(c.gen) {
		case w.index + 1:
		case ownerMaster: // it had just left it to us
			p.spoolShared(int32(slot), c)
			continue
		case ownerGone: // it did not live to tell
			p.drop(int32(slot), c)
			continue
		default:
			continue
		}
		t := w.rec.on(int32(slot), c.gen)
		if t == nil {
			s.word.Store(word(c.gen, ownerNone))
			continue
		}
		p.unshare(int32(slot), c)
		p.answer(w, t, c.fd, err)
	}
	for {
		index, fd := w.dep.take()
		if fd < 0 {
			return
		}
		if t := &w.rec.turns[index]; t.phase.Load() >= phaseReading {
			p.answer(w, t, fd, err)
		} else {
			p.shareLocked(fd)
		}
	}
}

// loss says what became of the request of turn t of w, which has ended with err.
func (w *process) loss(t *turn, err error) Loss {
	l := Loss{Reason: Crashed, Pid: w.cmd.Process.Pid, Err: ended(err)}
	switch {
	case t != w.rec.current():
		l.Err = fmt.Errorf("another request ended its process while it waited for the disk (%w): what it has written is kept, or none of it", l.Err)
	case w.killed != "":
		l.Reason = w.killed
	}
	if began := t.began.Load(); began != 0 {
		l.Ran = time.Duration(now() - began)
	}
	return l
}

// answer tells the web server on fd what became of its request, that of turn t, if
// it has heard nothing yet, and closes fd.
func (p *Pool) answer(w *process, t *turn, fd int, err error) {
	loss := w.loss(t, err)
	id := uint16(t.request.Load())
	p.facts.Lost[loss.Reason]++
	page := p.o.Lost(loss)
	if id != 0 && !t.sent.Load() {
		write(fd, fcgi.AppendAnswer(nil, id, page))
		p.linger(fd)
		return
	}
	hangUp(fd)
}

// lookedAt judges what has come on fd.
func lookedAt(fd int) fcgi.Ahead { return fcgi.LookAhead(lookAt(fd)) }

// lookAt returns what has come on fd, and leaves it there.
func lookAt(fd int) []byte {
	b, _ := peekAt(fd)
	return b
}

func peekAt(fd int) ([]byte, error) {
	b := make([]byte, lookSize)
	n, _, err := unix.Recvfrom(fd, b, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return b[:max(n, 0)], err
}

// write writes what the socket takes: an answer of ours fits its buffer.
func write(fd int, b []byte) {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// hangUp closes fd without losing what was written to it: a socket that is
// closed with bytes unread is reset.
func hangUp(fd int) {
	var waste [4096]byte
	for range 64 {
		if n, err := unix.Read(fd, waste[:]); n <= 0 && err != unix.EINTR {
			break
		}
	}
	unix.Shutdown(fd, unix.SHUT_RDWR)
	unix.Close(fd)
}

// linger closes fd when the peer has closed it, or has had the time to read what
// was written to it: it may still be sending a request that nobody will read.
func (p *Pool) linger(fd int) {
	if p.farewells.Add(1) > int64(p.o.farewells) {
		p.farewells.Add(-1)
		hangUp(fd)
		return
	}
	unix.Shutdown(fd, unix.SHUT_WR)
	f := os.NewFile(uintptr(fd), "connection")
	go func() {
		defer p.farewells.Add(-1)
		defer f.Close()
		if f.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			io.CopyN(io.Discard, f, lingerBytes)
		}
		unix.Shutdown(fd, unix.SHUT_RDWR)
	}()
}

const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)
