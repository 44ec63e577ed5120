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

// Pool is a master: it starts and supervises workers, and the connections that they share.
// It runs no requests.
type Pool struct {
	o         Options
	mem       *sharedMemory
	memFile   *os.File
	listeners []*os.File // duplicates of Options.Listeners

	permits fcgi.Server // checks the addresses of peers

	maxBody   atomic.Int64 // bytes
	maxBodyMu sync.Mutex   // held while Options.CurrentMaxBody runs
	refusals  atomic.Int64 // connections that were refused and are not yet closed

	mu           sync.Mutex
	processes    [maxProcesses]*process
	conns        [maxConns]*connection
	spools       map[*spool]bool
	spooledBytes atomic.Int64     // bytes in the files of spools
	connCount    int              // of conns and spools together
	extraFDs     int              // descriptors of conns and spools, beside one for each
	generations  [maxConns]uint32 // generation of each slot
	replaced     int              // see Status
	lost         map[Reason]int   // see Status
	failures     int              // workers in a row that died before they were ready
	retryAt      time.Time        // when another worker may be started
	closing      bool
	dismissed    bool          // the closing pool has told its workers to leave
	draining     bool          // the closing pool still has requests to answer
	newWaiting   bool          // new connections waited at the last check
	lastBusy     time.Time     // when a worker was last busy
	baseMemory   int64         // memory of the master after it was last returned, bytes
	wake         chan struct{} // wakes supervise
	done         chan struct{} // closed when the last worker of a closing pool has ended
	finished     sync.Once
}

// connection is a shared connection, as the master holds it.
type connection struct {
	fd      int
	gen     uint32
	file    *os.File // its spooled request; nil: none
	waiting int64    // since when it has unread data; 0: it has none
	unread  bool     // it had unread data at the last check
}

// Start starts the workers. The pool runs until Shutdown.
func Start(o Options) (*Pool, error) {
	o = o.withDefaults()
	mem, f, err := newSharedMemory()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		o: o, mem: mem, memFile: f, spools: map[*spool]bool{}, lost: map[Reason]int{}, lastBusy: time.Now(),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	p.maxBody.Store(o.MaxBody)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.begin(); err != nil {
		p.closing = true
		p.dismissAll()
		p.release()
		return nil, err
	}
	p.adopt(o.Adopted)
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

// release closes what the pool holds beside processes and connections.
func (p *Pool) release() {
	p.memFile.Close()
	closeAll(p.listeners)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// nonblockingAll calls nonblocking for all of ls. On an error it closes the files.
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

// nonblocking returns a non-blocking duplicate of l. os.File takes it for a blocking
// one; otherwise File.Fd would make it blocking again.
func nonblocking(l *os.File) (*os.File, error) {
	fd := duplicate(int(l.Fd()))
	if fd == 0 {
		return nil, errors.New("duplicate a listening socket: no descriptor left")
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

// Reload replaces all workers, the command that starts them, the listening sockets, and the
// limits Min, Max, Waiting, Conns and MaxBody. It does not change the other options. Requests
// under way and connections that wait at the old sockets are still served.
func (p *Pool) Reload(o Options) error {
	o = o.withDefaults()
	listeners, err := nonblockingAll(o.Listeners)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		closeAll(listeners)
		return errors.New("reload: the pool is being shut down")
	}
	p.acceptNew()
	closeAll(p.listeners)
	p.listeners = listeners
	p.o.Command, p.o.Min, p.o.Max, p.o.Waiting, p.o.Conns = o.Command, o.Min, o.Max, o.Waiting, o.Conns
	p.o.refusals, p.o.descriptors = o.refusals, o.descriptors
	p.maxBody.Store(o.MaxBody)
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
		if room < p.o.Min { // make room for the new ones
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
