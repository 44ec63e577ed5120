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

// refuseNew refuses the request of a connection for which there is no room. The caller holds
// p.mu.
func (p *Pool) refuseNew(fd int) {
	if id := peekRequest(fd).ID; id != 0 || p.refusals.Load() >= int64(p.o.refusals) {
		p.respond(fd, id, Refused)
		return
	}
	p.refusals.Add(1)
	go p.refuseLate(fd)
}

// refuseLate refuses a request that has not arrived yet: a web server connects first. A
// connection without a request is closed without an answer.
func (p *Pool) refuseLate(fd int) {
	id := awaitRequest(fd, firstRequestTime)
	p.refusals.Add(-1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.respond(fd, id, Refused)
}

// firstRequestTime is how long a connection for which there is no room may be without a
// request.
const firstRequestTime = 10 * time.Second

// awaitRequest waits until a request has begun on fd and returns its id, or 0 if none has.
func awaitRequest(fd int, patience time.Duration) (id uint16) {
	other := duplicate(fd)
	if other == 0 {
		return 0
	}
	f := os.NewFile(uintptr(other), "connection")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Now().Add(patience)) != nil {
		return 0
	}
	raw.Read(func(fd uintptr) (done bool) {
		b, err := peek(int(fd))
		a := fcgi.Peek(b)
		id = a.ID
		return id != 0 || a.Complete() || len(b) == 0 && err != unix.EAGAIN
	})
	return id
}

// respond answers request id on fd in place of a worker, unless id is 0, and closes fd. The
// caller holds p.mu.
func (p *Pool) respond(fd int, id uint16, reason Reason) {
	if id == 0 {
		closeDrained(fd)
		return
	}
	p.lost[reason]++
	write(fd, fcgi.AppendResponse(nil, id, p.o.Lost(Loss{Reason: reason})))
	p.linger(fd)
}

// refuse answers a request that no worker will read. The caller holds p.mu.
func (p *Pool) refuse(slot int32, c *connection, reason Reason) {
	if !p.mem.conns[slot].acquire(c.gen, ownerMaster) {
		return
	}
	id := uint16(p.mem.conns[slot].request.Load())
	if p.mem.conns[slot].spooled.Load() == 0 {
		id = peekRequest(c.fd).ID
	}
	p.unshare(slot, c)
	p.respond(c.fd, id, reason)
}

// answerFor answers the requests that w had when it died. The caller holds p.mu.
func (p *Pool) answerFor(w *process, err error) {
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.conns[slot]
		switch s.owner(c.gen) {
		case w.index + 1:
		case ownerMaster: // w had just handed it to the master
			p.spoolShared(int32(slot), c)
			continue
		case ownerGone: // w died before it could report it
			p.drop(int32(slot), c)
			continue
		default:
			continue
		}
		a := w.state.serving(int32(slot), c.gen)
		if a == nil {
			s.word.Store(word(c.gen, ownerNone))
			continue
		}
		p.unshare(int32(slot), c)
		p.answerLost(w, a, c.fd, err)
	}
	for {
		index, fd := w.parking.unpark()
		if fd == 0 {
			return
		}
		if a := &w.state.loops[index]; a.phase.Load() >= phaseReading {
			p.answerLost(w, a, fd, err)
		} else {
			p.shareLocked(fd)
		}
	}
}

// loss returns the loss of the request of activity a, whose worker w has ended with err.
func (w *process) loss(a *activity, err error) Loss {
	l := Loss{Reason: Crashed, Pid: w.cmd.Process.Pid, Err: ended(err)}
	switch {
	case a != w.state.activeLoop():
		l.Err = fmt.Errorf("another request ended its process while it waited for the disk (%w): "+
			"all of what it wrote is kept, or nothing", l.Err)
	case w.killedFor != "":
		l.Reason = w.killedFor
	}
	if began := a.began.Load(); began != 0 {
		l.Ran = time.Duration(now() - began)
	}
	return l
}

// answerLost answers the request of activity a on fd, if nothing was sent yet, and closes
// fd.
func (p *Pool) answerLost(w *process, a *activity, fd int, err error) {
	loss := w.loss(a, err)
	id := uint16(a.request.Load())
	p.lost[loss.Reason]++
	page := p.o.Lost(loss)
	if id != 0 && !a.sent.Load() {
		write(fd, fcgi.AppendResponse(nil, id, page))
		p.linger(fd)
		return
	}
	closeDrained(fd)
}

// peekRequest examines what has arrived on fd.
func peekRequest(fd int) fcgi.Peeked {
	b, _ := peek(fd)
	return fcgi.Peek(b)
}

// peek returns what has arrived on fd and leaves it there.
func peek(fd int) ([]byte, error) {
	b := make([]byte, peekSize)
	n, _, err := unix.Recvfrom(fd, b, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return b[:max(n, 0)], err
}

// write writes what the socket takes. A response of the master fits into its buffer.
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

// closeDrained closes fd without losing what was written to it: if unread data is left,
// closing a socket resets the connection.
func closeDrained(fd int) {
	var waste [4096]byte
	for range 64 {
		if n, err := unix.Read(fd, waste[:]); n <= 0 && err != unix.EINTR {
			break
		}
	}
	unix.Shutdown(fd, unix.SHUT_RDWR)
	unix.Close(fd)
}

// linger closes fd after the peer has closed it, or has had the time to read the response:
// the peer may still be sending a request that nobody will read.
func (p *Pool) linger(fd int) {
	if p.refusals.Add(1) > int64(p.o.refusals) {
		p.refusals.Add(-1)
		closeDrained(fd)
		return
	}
	unix.Shutdown(fd, unix.SHUT_WR)
	f := os.NewFile(uintptr(fd), "connection")
	go func() {
		defer p.refusals.Add(-1)
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
