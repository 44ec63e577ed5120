//go:build linux

package workers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// Options of a pool. Command, Listeners and Lost are needed, the rest has
// defaults.
type Options struct {
	// Command starts a worker: the program and its arguments. It must call
	// Inherited and Serve what that returns.
	Command []string
	// Listeners are the listening sockets. Shutdown empties their queues if
	// Drain is set; else these are left to whoever listens next.
	Listeners []*os.File
	Drain     bool

	Min int // workers that are free or about to be; default 2
	Max int // workers at most, so many scripts run at once; default 16, at most 64. Those that wait for a peer to take its answer do not count

	// Waiting is how many requests may wait while Max scripts run; default 200.
	// Wait is how long one may; default 10 s. Beyond either it is refused.
	Waiting int
	Wait    time.Duration

	Conns   int           // open connections; default 1000. Above it the longest idle one is closed
	Idle    time.Duration // a kept connection without a request; default 60 s
	Request time.Duration // until a request that has begun is there, without progress; default 15 s
	Whole   time.Duration // until it is there in any case; default 60 s
	Body    int64         // bytes of a request that are read ahead at most; default 17 MB
	Spare   time.Duration // a worker more than Min without work; default 10 s
	Hung    time.Duration // a process that does nothing where it should; default 2 min

	// Lost makes the page, a CGI header with a body, that is sent in place of
	// an answer that a worker did not live to give, and to who is refused.
	Lost func(Loss) []byte
	// Told gets what a worker reports, when it is asked and when it leaves. Nil
	// means nobody does.
	Told func(text []byte)
	// Log is told of what concerns no request. Nil means nobody.
	Log func(err error)
}

// Reason says why there was no answer.
type Reason string

// What can happen to a request.
const (
	Crashed  Reason = "crash"  // its process died
	TooLong  Reason = "time"   // its process was killed: the time limit did not end it
	TooLarge Reason = "memory" // its process was killed: the memory limit did not end it
	Hung     Reason = "hung"   // its process was killed: it did nothing any more, and no script ran
	Refused  Reason = "busy"   // too many waited, or it waited too long
	TooSlow  Reason = "slow"   // it did not arrive in time
)

// Loss is a request without an answer.
type Loss struct {
	Reason Reason
	Pid    int           // of the worker; 0 when none had the request
	Ran    time.Duration // since the worker had begun with it
	Err    error         // how the process ended
}

// Pool is a master: it starts workers and looks after them and after the
// connections that they share. It runs no request itself.
type Pool struct {
	o         Options
	mem       *memory
	memFile   *os.File
	listeners []*os.File // of the same sockets as Options.Listeners

	permits fcgi.Server // says who may connect

	mu        sync.Mutex
	processes [maxRecords]*process
	conns     [maxSlots]*held
	spools    map[*spool]bool
	spooled   atomic.Int64     // bytes in their files
	count     int              // of conns and spools
	last      [maxSlots]uint32 // generation of each slot
	facts     Facts            // what has been counted so far
	failures  int              // processes in a row that died before they were ready
	resume    time.Time        // when another may be started
	closing   bool
	dismissed bool          // a closing pool has told its workers to leave
	needed    bool          // a closing pool has something left to answer
	unheard   bool          // new connections waited at the last sweep
	since     time.Time     // the last time that anything happened
	changed   chan struct{} // something for the watch to look at
	done      chan struct{} // closed when the last process is gone, in a closing pool
	finished  sync.Once
}

// held is the master's own hold on a shared connection.
type held struct {
	fd      int
	gen     uint32
	file    *os.File // what was read of its first request; nil: nothing
	waiting int64    // since when it has had something to read; 0: it has not
	missed  bool     // it had something to read at the last sweep, and nobody read it
}

// process is a worker as the master sees it.
type process struct {
	index    int
	cmd      *exec.Cmd
	ch       *channel
	dep      deposit
	rec      *record
	started  time.Time
	ready    bool
	stale    bool // to be replaced
	leaving  bool
	killed   Reason
	idle     int64 // memory when it last was free, bytes
	served   int64 // requests at the last look
	measured int64 // requests when idle was measured
	sweeps   int
	silent   int // sweeps since it was asked whether it lives; 0: it has answered
	active   time.Time
	told     chan struct{} // it has reported
	gone     chan struct{} // closed when its channel is
}

// Facts are counts of a pool since its start.
type Facts struct {
	Started  int // processes
	Replaced int // processes in the place of one that had died or was killed
	Lost     map[Reason]int
	Requests int64 // begun by workers that are gone
}

// Start starts the workers. The pool runs until Shutdown.
func Start(o Options) (*Pool, error) {
	o = o.withDefaults()
	mem, f, err := newMemory()
	if err != nil {
		return nil, err
	}
	p := &Pool{o: o, mem: mem, memFile: f, spools: map[*spool]bool{}, since: time.Now(), changed: make(chan struct{}, 1), done: make(chan struct{})}
	p.facts.Lost = map[Reason]int{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.begin(); err != nil {
		p.closing = true
		p.dismiss()
		p.release()
		return nil, err
	}
	go p.watch()
	return p, nil
}

func (p *Pool) begin() error {
	for _, l := range p.o.Listeners {
		l, err := polled(l)
		if err != nil {
			return err
		}
		p.listeners = append(p.listeners, l)
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
	for _, l := range p.listeners {
		l.Close()
	}
}

func (o Options) withDefaults() Options {
	number := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	duration := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	number(&o.Min, 2)
	number(&o.Max, 16)
	o.Max = min(o.Max, maxWorkers)
	o.Min = min(o.Min, o.Max)
	number(&o.Waiting, 200)
	number(&o.Conns, 1000)
	o.Conns = min(o.Conns, maxSlots)
	duration(&o.Wait, 10*time.Second)
	duration(&o.Idle, time.Minute)
	duration(&o.Request, 15*time.Second)
	duration(&o.Whole, time.Minute)
	duration(&o.Spare, 10*time.Second)
	duration(&o.Hung, 2*time.Minute)
	if o.Body <= 0 {
		o.Body = 17 << 20
	}
	o.Conns = min(o.Conns, descriptors(o.Max))
	return o
}

// descriptors returns how many connections there are descriptors for, beside
// those that this process needs for its workers, and a worker for its work.
func descriptors(workers int) int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return maxSlots
	}
	return max(8, int(limit.Cur)-64-6*workers)
}

// polled returns another file of l's socket, which does not block, and which
// os.File does not know not to: it would change that whenever the descriptor is
// asked for.
func polled(l *os.File) (*os.File, error) {
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

// spawn starts a worker. p.mu is held.
func (p *Pool) spawn() error {
	index := slices.Index(p.processes[:], nil)
	if index < 0 {
		return nil // so many are being replaced: the watch tries again
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("starting a worker: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "channel"), os.NewFile(uintptr(fds[1]), "channel")
	defer theirs.Close()
	dep, err := newDeposit()
	if err != nil {
		ours.Close()
		return fmt.Errorf("starting a worker: %w", err)
	}
	in, out := os.NewFile(uintptr(dep.in), "deposit"), os.NewFile(uintptr(dep.out), "deposit")
	w := &process{index: index, rec: &p.mem.workers[index], dep: dep, started: time.Now(), active: time.Now(), told: make(chan struct{}, 1), gone: make(chan struct{})}
	w.rec.reset()
	w.cmd = exec.Command(p.o.Command[0], p.o.Command[1:]...)
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", environment, index, len(p.listeners)))
	w.cmd.Stderr = os.Stderr
	w.cmd.ExtraFiles = append([]*os.File{theirs, p.memFile, in, out}, p.listeners...)
	err = w.cmd.Start()
	if err == nil {
		if w.ch, err = newChannel(ours, p.descriptor); err != nil {
			w.cmd.Process.Kill()
			go w.cmd.Wait()
		}
	}
	if err != nil {
		ours.Close()
		in.Close()
		out.Close()
		return fmt.Errorf("starting a worker: %w", err)
	}
	p.processes[index] = w
	p.facts.Started++
	for slot, c := range p.conns {
		if c != nil {
			w.ch.put(message{kind: msgOpen, slot: int32(slot), gen: c.gen, fd: -1})
		}
	}
	if p.closing {
		w.ch.put(message{kind: msgDeaf, fd: -1})
	}
	go p.attend(w, in, out)
	return nil
}

// descriptor returns one of a shared connection for a worker, and one of its
// file, 0 when it has none; -1 when the connection has ended.
func (p *Pool) descriptor(slot int32, gen uint32) (fd, file int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conns[slot]
	if c == nil || c.gen != gen {
		return -1, 0
	}
	if fd = duplicate(c.fd); fd >= 0 && c.file != nil {
		if file = duplicate(int(c.file.Fd())); file < 0 {
			unix.Close(fd)
			fd = -1
		}
	}
	if fd < 0 {
		p.log(errors.New("sharing a connection: no descriptor is left"))
		return -1, 0
	}
	return fd, file
}

func duplicate(fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return n
}

// attend does what the worker w asks for, until it is gone.
func (p *Pool) attend(w *process, in, out *os.File) {
	buf := make([]byte, maxMessage)
	for {
		m, err := w.ch.receive(buf)
		if err != nil {
			break
		}
		switch m.kind {
		case msgNew:
			p.share(m.fd, m.slot == longRequest)
		case msgGone:
			p.forget(m.slot, m.gen)
		case msgLong:
			p.handedOver(m.slot, m.gen)
		case msgSpent:
			p.spent(m.slot, m.gen)
		case msgFull:
			p.mu.Lock()
			p.evict()
			p.mu.Unlock()
		case msgWake:
			p.poke()
		case msgPong:
			p.mu.Lock()
			w.silent = 0
			p.mu.Unlock()
		case msgTold:
			if p.o.Told != nil {
				p.o.Told(m.text)
			}
			select {
			case w.told <- struct{}{}:
			default:
			}
		case msgReady:
			p.nowReady(w)
		}
	}
	close(w.gone)
	slow := time.AfterFunc(endTime, func() { w.cmd.Process.Kill() })
	err := w.cmd.Wait()
	slow.Stop()
	w.ch.close()
	p.died(w, err)
	in.Close()
	out.Close()
}

// endTime is how long a process may take to end after its last word.
const endTime = 10 * time.Second

func (p *Pool) nowReady(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.ready = true
	p.failures = 0
	ready := 0
	for _, w := range p.processes {
		if w != nil && w.ready && !w.stale && !w.leaving {
			ready++
		}
	}
	if ready < p.o.Min {
		return
	}
	for _, w := range p.processes {
		if w != nil && w.stale {
			w.leave()
		}
	}
}

func (w *process) leave() {
	if !w.leaving {
		w.leaving = true
		w.ch.put(message{kind: msgLeave, fd: -1})
	}
}

// Command changes how workers are started, from the next one on: see Reload.
func (p *Pool) Command(command []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Command = command
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
	p.poke()
	return nil
}

// died clears up after a worker.
func (p *Pool) died(w *process, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.processes[w.index] = nil
	p.facts.Requests += w.rec.served.Load()
	if !w.leaving {
		p.facts.Replaced++
	}
	p.salvage(w, err)
	for _, other := range p.processes {
		if other != nil {
			other.ch.put(message{kind: msgLook, fd: -1})
		}
	}
	switch {
	case !w.rec.ready.Load() && !p.dismissed:
		p.failures++
		wait := min(50*time.Millisecond<<min(p.failures, 8), 5*time.Second)
		p.resume = time.Now().Add(wait)
		p.log(fmt.Errorf("a worker ended before it was ready, the next one is started in %v: %w", wait, ended(err)))
	case err != nil && w.killed == "" && w.rec.phase.Load() == phaseFree:
		p.log(fmt.Errorf("worker %d ended by itself: %w", w.cmd.Process.Pid, err))
	}
	p.checkDone()
	p.poke()
}

func ended(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// checkDone tells Shutdown when the last process is gone.
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

func (p *Pool) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Shutdown takes no more connections, lets the workers answer what has come,
// and ends them. When ctx ends first they are killed, and its error returned.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.closing, p.needed = true, true
	p.checkDone()
	p.broadcast(message{kind: msgDeaf, fd: -1})
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
	p.dismiss()
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

func (p *Pool) dismiss() {
	p.dismissed = true
	for _, w := range p.processes {
		if w != nil {
			w.leave()
		}
	}
}

// drain waits until nothing is left to answer.
func (p *Pool) drain(ctx context.Context) {
	for quiet := 0; quiet < 3 && ctx.Err() == nil; {
		time.Sleep(drainLook)
		if quiet++; p.atWork() {
			quiet = 0
		}
	}
}

const (
	drainLook = 10 * time.Millisecond
	// drainGrace is how long a connection may still be idle: its next request
	// may be under way.
	drainGrace = 100 * time.Millisecond
)

// atWork reports whether a worker has a request or a connection has one to
// read. Idle connections it closes.
func (p *Pool) atWork() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := p.o.Drain && p.takeNew() || len(p.spools) > 0
	for _, w := range p.processes {
		busy = busy || w != nil && w.ready && w.rec.phase.Load() != phaseFree
	}
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		fresh := now()-p.mem.slots[slot].since.Load() < int64(drainGrace)
		if fresh || readable(c.fd) || !p.closeIdle(int32(slot), c) {
			busy = true
		}
	}
	p.needed = busy
	return busy
}

// Worker says what a worker is doing.
type WorkerFacts struct {
	Pid     int
	State   string // "starting", "idle", "reading", "running" or "leaving"
	Since   time.Time
	Served  int64
	Running time.Duration // of the present request; 0 when there is none
	Memory  int64         // bytes of it that are in memory
}

// Status returns what the workers are doing and what was counted.
func (p *Pool) Status() (ws []WorkerFacts, facts Facts, conns, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	facts = p.facts
	facts.Lost = map[Reason]int{}
	for r, n := range p.facts.Lost {
		facts.Lost[r] = n
	}
	for _, w := range p.processes {
		if w != nil {
			ws = append(ws, w.facts())
		}
	}
	for _, c := range p.conns {
		if c != nil && c.waiting != 0 {
			waiting++
		}
	}
	return ws, facts, p.count, waiting
}

func (w *process) facts() WorkerFacts {
	f := WorkerFacts{Pid: w.cmd.Process.Pid, State: "starting", Since: w.started, Served: w.rec.served.Load(), Memory: resident(w.cmd.Process.Pid)}
	if began := w.rec.began.Load(); began != 0 {
		f.Running = time.Duration(now() - began)
	}
	switch {
	case w.leaving:
		f.State = "leaving"
	case !w.ready:
	case w.rec.phase.Load() == phaseRunning:
		f.State = "running"
	case w.rec.phase.Load() == phaseReading:
		f.State = "reading"
	default:
		f.State = "idle"
	}
	return f
}

// Ask makes all workers report, and returns when those that can have done so, or
// when ctx ends. A worker at work reports as well.
func (p *Pool) Ask(ctx context.Context) {
	p.mu.Lock()
	var asked []*process
	for _, w := range p.processes {
		if w != nil && w.ready && !w.leaving {
			select {
			case <-w.told:
			default:
			}
			w.ch.put(message{kind: msgReport, fd: -1})
			asked = append(asked, w)
		}
	}
	p.mu.Unlock()
	for _, w := range asked {
		select {
		case <-w.told:
		case <-w.gone:
		case <-ctx.Done():
		}
	}
}

// Resize changes how many workers there are at most, how many requests wait, and
// how much of one is read ahead.
func (p *Pool) Resize(max, waiting int, body int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.o
	o.Max, o.Waiting, o.Body = max, waiting, body
	o = o.withDefaults()
	p.o.Min, p.o.Max, p.o.Waiting, p.o.Conns, p.o.Body = o.Min, o.Max, o.Waiting, o.Conns, o.Body
	p.poke()
}
