//go:build linux

package workers

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// keepConnections is the slot of a msgStopAccepting whose connections are handed over.
const keepConnections = 1

// Shutdown accepts no more connections, lets the workers answer the requests that have
// arrived, and ends them. If ctx ends first, it kills them and returns the error of ctx.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.closing, p.draining = true, true
	p.checkDone()
	stop := message{kind: msgStopAccepting}
	if p.o.HandOver != nil {
		stop.slot = keepConnections
	}
	p.broadcast(stop)
	p.mu.Unlock()
	stopped := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dismissed = true
		for s := range p.spools {
			s.stop()
		}
		for _, w := range p.processes {
			if w != nil {
				w.cmd.Process.Kill()
			}
		}
	})
	defer stopped()
	p.drain(ctx)
	p.mu.Lock()
	p.dismissAll()
	p.checkDone()
	p.mu.Unlock()
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	for slot, c := range p.conns {
		if c != nil {
			p.drop(int32(slot), c)
		}
	}
	p.release()
	return ctx.Err()
}

func (p *Pool) dismissAll() {
	p.dismissed = true
	for _, w := range p.processes {
		if w != nil {
			w.leave()
		}
	}
}

// drain waits until all requests are answered.
func (p *Pool) drain(ctx context.Context) {
	for quiet := 0; quiet < 3 && ctx.Err() == nil; {
		time.Sleep(drainInterval)
		if quiet++; p.atWork() {
			quiet = 0
		}
	}
}

const (
	drainInterval = 10 * time.Millisecond
	// drainGrace is how long a connection may be idle until it is closed: its next request
	// may be on its way.
	drainGrace = 100 * time.Millisecond
)

// atWork reports whether a worker has a request, or a connection has unread data. It closes
// idle connections.
func (p *Pool) atWork() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := p.o.Drain && p.acceptNew() || len(p.spools) > 0
	for _, w := range p.processes {
		busy = busy || w != nil && w.ready && !w.state.idle()
	}
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		if p.o.HandOver != nil && c.file == nil {
			busy = !p.handOver(int32(slot), c) || busy
			continue
		}
		fresh := now()-p.mem.conns[slot].since.Load() < int64(drainGrace)
		if fresh || readable(c.fd) || !p.closeIdle(int32(slot), c) {
			busy = true
		}
	}
	p.draining = busy
	return busy
}

// handOver gives a connection that no worker serves to the next process, and reports whether it did. The caller
// holds p.mu.
func (p *Pool) handOver(slot int32, c *connection) bool {
	s := &p.mem.conns[slot]
	if !s.acquire(c.gen, ownerMaster) {
		return false
	}
	if err := p.o.HandOver(c.fd); err != nil {
		p.log(fmt.Errorf("hand over connections: %w; they are closed when they are idle", err))
		p.o.HandOver = nil
		p.broadcast(message{kind: msgStopAccepting})
		if !s.release(c.gen, ownerMaster) {
			s.word.Store(word(c.gen, ownerNone))
		}
		p.broadcast(message{kind: msgRecheck})
		return false
	}
	p.unshare(slot, c)
	unix.Close(c.fd)
	return true
}

// adopt shares the connections that another process has handed over. The caller holds p.mu.
func (p *Pool) adopt(conns []*os.File) {
	for _, f := range conns {
		fd := duplicate(int(f.Fd()))
		f.Close()
		unix.SetNonblock(fd, true)
		p.shareLocked(fd)
	}
}

// checkDone closes p.done when the last worker has ended.
func (p *Pool) checkDone() {
	for _, w := range p.processes {
		if w != nil {
			return
		}
	}
	if p.dismissed {
		p.finished.Do(func() { close(p.done) })
	}
}
