//go:build linux

package workers

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// Pool is a master: it starts workers and looks after them and after the
// connections that they share. It runs no request itself.
type Pool struct {
	requested Options // for Resize
	o         Options
	mem       *sharedMemory
	memFile   *os.File
	listeners []*os.File // of the same sockets as Options.Listeners

	permits fcgi.Server // says who may connect

	maxBody   atomic.Int64 // bytes of a request's body at most
	maxBodyMu sync.Mutex   // of Options.Largest
	refusals  atomic.Int64 // connections that were refused and are not closed yet

	mu           sync.Mutex
	processes    [maxProcesses]*process
	conns        [maxConns]*connection
	spools       map[*spool]bool
	spooledBytes atomic.Int64     // bytes in their files
	connCount    int              // of conns and spools
	extraFDs     int              // descriptors that these take, beside one for each
	generations  [maxConns]uint32 // generation of each slot
	counts       Facts            // what has been counted so far
	failures     int              // processes in a row that died before they were ready
	retryAt      time.Time        // when another may be started
	closing      bool
	dismissed    bool          // a closing pool has told its workers to leave
	draining     bool          // a closing pool has something left to answer
	newWaiting   bool          // new connections waited at the last sweep
	lastBusy     time.Time     // the last time that anything happened
	baseMemory   int64         // memory of this process when it had given back what it could, bytes
	wake         chan struct{} // something for the watch to look at
	done         chan struct{} // closed when the last process is gone, in a closing pool
	finished     sync.Once
}

// held is the master's own hold on a shared connection.
type connection struct {
	fd      int
	gen     uint32
	file    *os.File // what was read of its first request; nil: nothing
	waiting int64    // since when it has had something to read; 0: it has not
	unread  bool     // it had something to read at the last sweep, and nobody read it
}

// Start starts the workers. The pool runs until Shutdown.
func Start(o Options) (*Pool, error) {
	asked := o
	o = o.withDefaults()
	mem, f, err := newSharedMemory()
	if err != nil {
		return nil, err
	}
	p := &Pool{requested: asked, o: o, mem: mem, memFile: f, spools: map[*spool]bool{}, lastBusy: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	p.counts.Lost = map[Reason]int{}
	p.maxBody.Store(o.MaxBody)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.begin(); err != nil {
		p.closing = true
		p.dismissAll()
		p.release()
		return nil, err
	}
	go p.supervise()
	return p, nil
}

func (p *Pool) begin() (err error) {
	if p.listeners, err = nonblockingAll(p.o.Listeners); err != nil {
		return err
	}
	for range p.o.Min {
		if err := p.spawn(); err != nil {
			return err
		}
	}
	return nil
}

// release gives back what the pool holds beside processes and connections.
func (p *Pool) release() {
	p.memFile.Close()
	closeAll(p.listeners)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// polledAll is polled for all of ls, or for none.
func nonblockingAll(ls []*os.File) (polls []*os.File, err error) {
	for _, l := range ls {
		f, err := nonblocking(l)
		if err != nil {
			closeAll(polls)
			return nil, err
		}
		polls = append(polls, f)
	}
	return polls, nil
}

// polled returns another file of l's socket, which does not block, and which
// os.File does not know not to: it would change that whenever the descriptor is
// asked for.
func nonblocking(l *os.File) (*os.File, error) {
	fd := duplicate(int(l.Fd()))
	if fd < 0 {
		return nil, errors.New("taking a listening socket: no descriptor is left")
	}
	unix.SetNonblock(fd, false)
	f := os.NewFile(uintptr(fd), "listener")
	return f, unix.SetNonblock(fd, true)
}

func (p *Pool) log(err error) {
	if p.o.Log != nil && err != nil {
		p.o.Log(err)
	}
}

// Command changes how workers are started, from the next one on: see Reload.
func (p *Pool) Command(command []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Command = command
}

// Listen changes the listening sockets, for workers that are started from now on:
// see Reload. Who waits at one that is left is still served.
func (p *Pool) Listen(listeners []*os.File) error {
	polls, err := nonblockingAll(listeners)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acceptNew()
	closeAll(p.listeners)
	p.listeners = polls
	return nil
}

// Reload replaces all workers by new ones, which take what they need to know
// from the start. Requests under way are finished.
func (p *Pool) Reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return errors.New("new workers: the pool is being shut down")
	}
	room := 0
	for _, w := range p.processes[:p.o.Max] {
		if w == nil {
			room++
		}
	}
	for _, w := range p.processes {
		if w == nil {
			continue
		}
		w.stale = true
		if room < p.o.Min { // the new ones wait for the places of these
			room++
			w.leave()
		}
	}
	for range p.o.Min {
		if err := p.spawn(); err != nil {
			return err
		}
	}
	p.wakeSupervisor()
	return nil
}

func (p *Pool) wakeSupervisor() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Resize changes how many workers there are at most, how many requests wait, and
// how large a body may be.
func (p *Pool) Resize(max, waiting int, body int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.requested
	o.Max, o.Waiting, o.MaxBody = max, waiting, body
	o = o.withDefaults()
	p.o.Min, p.o.Max, p.o.Waiting, p.o.Conns = o.Min, o.Max, o.Waiting, o.Conns
	p.o.refusals, p.o.descriptors = o.refusals, o.descriptors
	p.maxBody.Store(o.MaxBody)
	p.wakeSupervisor()
}
