//go:build linux

package workers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// environment names the variable that makes a program a worker: its number and
// how many listening sockets it was given.
const environment = "SCRIPTER_WORKER"

// The descriptors that a worker is started with.
const (
	fdChannel = 3 + iota
	fdMemory
	fdDepositIn
	fdDepositOut
	fdListeners
)

// Worker is this process's side of the pool that started it.
type Worker struct {
	// Report, when it is set, tells what Options.Told of the pool gets, as it
	// is. It is called on a goroutine of its own.
	Report func() []byte

	owner     int
	collects  int64 // the bytes of the last Begin
	mem       *memory
	rec       *record
	ch        *channel
	dep       deposit
	lmu       sync.Mutex // of listeners
	listeners []int      // -1: closed
	ep        int
	wake      int // an eventfd
	conns     [maxSlots]atomic.Pointer[shared]
	server    *fcgi.Server
	handler   fcgi.Handler
	offers    chan *shared
	current   *socket // the one whose turn it is
	look      [lookSize]byte
	leaving   atomic.Bool
}

// lookSize is how much of a request is looked at before it is read. A longer
// one is read ahead by the master before all of it has come: a sender on a unix socket that waits
// until poll lets it write is stopped when a quarter of its buffer is full, which
// can be as little as 26 kB in records of 1 kB.
const lookSize = 16 << 10

// shared is a connection that other workers hold, too.
type shared struct {
	slot int32
	gen  uint32
	sock *socket
}

// Inherited returns the Worker that this process was started as; nil when it
// was not started by a Pool.
func Inherited() (*Worker, error) {
	spec, ok := os.LookupEnv(environment)
	if !ok {
		return nil, nil
	}
	os.Unsetenv(environment)
	index, listeners, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	mem, err := mapMemory(os.NewFile(fdMemory, "memory"))
	if err != nil {
		return nil, err
	}
	ch, err := newChannel(os.NewFile(fdChannel, "channel"), nil)
	if err != nil {
		return nil, err
	}
	w := &Worker{owner: index + 1, mem: mem, rec: &mem.workers[index], ch: ch, dep: deposit{fdDepositIn, fdDepositOut}, offers: make(chan *shared, maxSlots)}
	for fd := range fdListeners + listeners {
		unix.CloseOnExec(fd)
		if fd >= fdListeners {
			w.listeners = append(w.listeners, fd)
		}
	}
	if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("making an epoll set: %w", err)
	}
	if w.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("making an event descriptor: %w", err)
	}
	return w, nil
}

func parseSpec(spec string) (index, listeners int, err error) {
	a, b, _ := strings.Cut(spec, "/")
	index, err1 := strconv.Atoi(a)
	listeners, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || index < 0 || index >= maxRecords || listeners < 0 || listeners > 16 {
		return 0, 0, fmt.Errorf("%s is %q: it is set for the processes of a pool only", environment, spec)
	}
	return index, listeners, nil
}

// Number is the worker's, from 0 on. A new process takes that of one which is
// gone.
func (w *Worker) Number() int { return w.owner - 1 }

// Begin tells the master that a script begins: when it has not ended by limit
// and a quarter more, or when the process has grown by more than bytes and
// 64 MB more, the process is killed. 0 means no limit.
func (w *Worker) Begin(limit time.Duration, bytes int64) {
	w.rec.bytes.Store(bytes)
	w.collectBefore(bytes)
	deadline := int64(0)
	if limit > 0 {
		deadline = now() + int64(limit) + int64(limit)/4
	}
	w.rec.deadline.Store(deadline)
	w.rec.script.Store(scriptRuns)
}

// collectBefore lets garbage be collected before the master takes it for what
// a script holds. To change that stops the process for a moment, so it is only
// done when the limit is another one.
func (w *Worker) collectBefore(bytes int64) {
	if bytes == w.collects {
		return
	}
	w.collects = bytes
	most := int64(math.MaxInt64)
	if bytes > 0 {
		most = bytes + margin
	}
	debug.SetMemoryLimit(most)
}

// End tells that the script has ended.
func (w *Worker) End() {
	if !w.rec.script.CompareAndSwap(scriptRuns, scriptNone) && w.rec.script.Load() == scriptDoomed {
		select {} // the process is being killed
	}
}

// What an event of the epoll set is for: a slot, or one of these.
const (
	eventWake     = -1
	eventListener = -2 // and below
)

// Serve answers requests until the master says that it is enough, or is gone.
func (w *Worker) Serve(s *fcgi.Server) error {
	// The loop waits in system calls of its own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w.server, w.handler = s, s.Handler
	s.Handler = w.handle
	s.Attend()
	if err := w.add(w.wake, unix.EPOLLIN, eventWake, 0); err != nil {
		return err
	}
	for i, fd := range w.listeners {
		unix.SetNonblock(fd, true)
		if err := w.add(fd, unix.EPOLLIN|unix.EPOLLEXCLUSIVE, int32(eventListener-i), 0); err != nil {
			return err
		}
	}
	w.rec.ready.Store(true)
	w.ch.tell(message{kind: msgReady, fd: -1})
	go w.listen()
	err := w.loop()
	w.report()
	return err
}

func (w *Worker) report() {
	var text []byte
	if w.Report != nil {
		text = w.Report()
	}
	w.ch.tell(message{kind: msgTold, text: text, fd: -1})
}

func (w *Worker) add(fd int, events uint32, slot int32, gen uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: slot, Pad: int32(gen)}
	if err := unix.EpollCtl(w.ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return fmt.Errorf("watching a socket: %w", err)
	}
	return nil
}

func (w *Worker) loop() error {
	// One event at a time: what this worker does not get to, another one does.
	var ev [1]unix.EpollEvent
	for !w.leaving.Load() {
		n, err := unix.EpollWait(w.ep, ev[:], 0)
		if n == 0 && err == nil {
			n, err = unix.EpollWait(w.ep, ev[:], -1)
		}
		switch {
		case err == unix.EINTR || n == 0:
			continue
		case err != nil:
			return fmt.Errorf("waiting for requests: %w", err)
		}
		switch slot := ev[0].Fd; {
		case slot >= 0:
			w.serveShared(slot, uint32(ev[0].Pad))
		case slot == eventWake:
			var b [8]byte
			unix.Read(w.wake, b[:])
			w.serveOffers()
		default:
			w.accept(eventListener - int(slot))
		}
	}
	return nil
}

// stopListening gives the listening sockets back, also while a script runs:
// whoever wants to listen there next shall not find anybody.
func (w *Worker) stopListening() {
	w.lmu.Lock()
	defer w.lmu.Unlock()
	for i, fd := range w.listeners {
		if fd >= 0 {
			unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, fd, nil)
			unix.Close(fd)
			w.listeners[i] = -1
		}
	}
}

func (w *Worker) acceptOne(listener int) (int, unix.Sockaddr, error) {
	w.lmu.Lock()
	defer w.lmu.Unlock()
	if w.listeners[listener] < 0 {
		return -1, nil, unix.EAGAIN
	}
	return unix.Accept4(w.listeners[listener], unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

// accept takes one new connection. A request that is there and wants the
// connection closed afterwards is answered at once; any other connection is
// given to the master, who shares it.
func (w *Worker) accept(listener int) {
	fd, sa, err := w.acceptOne(listener)
	switch err {
	case nil:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		w.ch.tell(message{kind: msgFull, fd: -1})
		time.Sleep(20 * time.Millisecond)
		return
	default:
		return // somebody else took it, or it is gone
	}
	if !w.server.Permits(netAddr(sa)) {
		unix.Close(fd)
		return
	}
	s := newSocket(fd, w.rec)
	ahead, long := w.ahead(s, firstWait)
	if !ahead.Whole() || ahead.Keep || ahead.ID == 0 {
		m := message{kind: msgNew, fd: fd}
		if long {
			m.slot = longRequest
		}
		w.ch.tell(m)
		return
	}
	w.take(-1, 0)
	if w.dep.leave(fd) != nil {
		w.rec.free()
		w.ch.tell(message{kind: msgNew, fd: fd})
		return
	}
	open := w.turn(s, ahead)
	if open { // it was no request after all
		w.ch.tell(message{kind: msgNew, fd: duplicate(fd)})
	}
	w.rec.free()
	closeFD(w.dep.take())
	s.free()
}

// firstWait is how long a worker waits for the first request of a connection,
// which follows at once where the web server is on the same machine.
const firstWait = time.Millisecond

// ahead looks at what has come on s, and reports whether it is longer than what
// can be looked at.
func (w *Worker) ahead(s *socket, patience time.Duration) (a fcgi.Ahead, long bool) {
	until := now() + int64(patience)
	for {
		n, err := s.peek(w.look[:])
		if n <= 0 && err != unix.EAGAIN {
			return fcgi.Ahead{}, false // the end, which is not urgent
		}
		a = fcgi.LookAhead(w.look[:max(n, 0)])
		left := time.Duration(until - now())
		if a.Whole() || n == len(w.look) || left <= 0 {
			return a, !a.Whole() && n == len(w.look)
		}
		if n > 0 {
			// Part of it is there already: poll would not wait.
			time.Sleep(50 * time.Microsecond)
			continue
		}
		p := [1]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		unix.Ppoll(p[:], &unix.Timespec{Nsec: int64(left)}, nil)
	}
}

// serveShared serves a shared connection, unless somebody else does.
func (w *Worker) serveShared(number int32, gen uint32) {
	c := w.conns[number].Load()
	slot := &w.mem.slots[number]
	if c == nil || c.gen != gen || !slot.claim(gen, w.owner) {
		return
	}
	for {
		w.take(number, gen)
		open := w.serveWhole(c, slot)
		w.rec.free()
		if !open || slot.release(gen, w.owner) {
			return
		}
	}
}

// serveOffers serves connections whose first request is in a file.
func (w *Worker) serveOffers() {
	for {
		select {
		case c := <-w.offers:
			w.serveShared(c.slot, c.gen)
		default:
			return
		}
	}
}

// take notes that there is something to do. The master is told when it does not
// expect that.
func (w *Worker) take(number int32, gen uint32) {
	w.rec.take(number, gen)
	if w.mem.asleep.Load() && w.mem.asleep.CompareAndSwap(true, false) {
		w.ch.tell(message{kind: msgWake, fd: -1})
	}
}

// serveWhole serves what is there as a whole and reports whether the connection
// is still this worker's. What is there in part stays where it is until the rest
// has come, unless it is too long for that: then the master reads it.
func (w *Worker) serveWhole(c *shared, slot *slot) (open bool) {
	for {
		ahead, n, spooled := fcgi.Ahead{}, 0, slot.spooled.Load() > 0
		if spooled {
			ahead = fcgi.Ahead{ID: uint16(slot.request.Load())}
			if slot.whole.Load() {
				ahead.Size = int(slot.spooled.Load())
			}
		} else {
			var err error
			c.sock.left.Store(0) // another worker may have read the file
			n, err = c.sock.peek(w.look[:])
			switch {
			case err == unix.EAGAIN:
				return true
			case n <= 0:
				ahead.Size = 1 // the end of the connection is read like something that came
			default:
				ahead = fcgi.LookAhead(w.look[:n])
			}
			if !ahead.Whole() && n == len(w.look) {
				slot.word.Store(word(c.gen, ownerMaster))
				w.ch.tell(message{kind: msgLong, slot: c.slot, gen: c.gen, fd: -1})
				return false
			}
			if !ahead.Whole() && !c.sock.ended() {
				slot.leave(n, ahead.Body)
				return true
			}
		}
		if !w.turn(c.sock, ahead) {
			slot.word.Store(word(c.gen, ownerGone))
			w.ch.tell(message{kind: msgGone, slot: c.slot, gen: c.gen, fd: -1})
			return false
		}
		slot.rest()
		if spooled {
			slot.spooled.Store(0)
			w.ch.tell(message{kind: msgSpent, slot: c.slot, gen: c.gen, fd: -1})
		} else if n == ahead.Size && n < len(w.look) {
			return true // for what came meanwhile there is an event
		}
	}
}

// turn serves what is there, or what is there in part and longer than what can
// be looked at.
func (w *Worker) turn(s *socket, a fcgi.Ahead) (open bool) {
	s.ahead.Store(int64(a.Size))
	s.handler.Store(!a.Whole())
	w.rec.request.Store(uint32(a.ID))
	w.rec.phase.Store(phaseReading)
	w.current = s
	defer func() { w.current = nil }()
	return w.server.Turn(s)
}

// handle is the server's handler.
func (w *Worker) handle(ctx context.Context, r *fcgi.Request) {
	s := w.current
	w.rec.sent.Store(false)
	w.rec.request.Store(uint32(r.ID))
	w.rec.began.Store(now())
	w.rec.served.Add(1)
	w.rec.phase.Store(phaseRunning)
	s.handler.Store(true)
	defer func() {
		w.End()
		w.rec.began.Store(0)
		s.handler.Store(false)
	}()
	w.handler(ctx, r)
}

// listen does what the master says.
func (w *Worker) listen() {
	buf := make([]byte, maxMessage)
	for {
		m, err := w.ch.receive(buf)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				w.orphaned()
			}
			return
		}
		switch m.kind {
		case msgOpen:
			w.open(m)
		case msgClose:
			w.close(m)
		case msgSpent:
			if c := w.conns[m.slot].Load(); c != nil && c.gen == m.gen {
				c.sock.spent()
			}
		case msgLook:
			w.lookAgain()
		case msgDeaf:
			w.stopListening()
			w.server.Leave()
		case msgLeave:
			w.leave()
		case msgReport:
			w.report()
		case msgPing:
			w.ch.tell(message{kind: msgPong, fd: -1})
		}
	}
}

// orphaned ends a worker without a master: the request under way is answered,
// if that does not take long.
func (w *Worker) orphaned() {
	w.stopListening()
	w.leave()
	wait := orphanTime
	if deadline := w.rec.deadline.Load(); deadline != 0 && w.rec.script.Load() != scriptNone {
		wait = min(wait, max(0, time.Duration(deadline-now())))
	}
	time.Sleep(wait)
	fmt.Fprintln(os.Stderr, "worker", os.Getpid(), "ends: its master is gone, and its request takes too long")
	syscall.Exit(1) // without waiting for anything
}

// orphanTime is how long a worker may go on without its master.
const orphanTime = 30 * time.Second

func (w *Worker) leave() {
	w.leaving.Store(true)
	w.rouse()
}

func (w *Worker) rouse() { unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

const watchFor = unix.EPOLLIN | unix.EPOLLET | unix.EPOLLEXCLUSIVE

func (w *Worker) open(m message) {
	if m.fd < 0 || m.slot < 0 || m.slot >= maxSlots {
		closeFD(m.fd)
		return
	}
	c := &shared{m.slot, m.gen, newSocket(m.fd, w.rec)}
	c.sock.spooled(m.file, &w.mem.slots[m.slot].spooled)
	w.conns[m.slot].Store(c)
	w.add(m.fd, watchFor, m.slot, m.gen)
	if m.file > 0 {
		w.offers <- c
		w.rouse()
	}
}

func (w *Worker) close(m message) {
	if c := w.conns[m.slot].Load(); c != nil && c.gen == m.gen {
		w.conns[m.slot].Store(nil)
		unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, c.sock.fd, nil)
		c.sock.free()
	}
}

// lookAgain makes sure that no event is lost that a dead worker was told of.
func (w *Worker) lookAgain() {
	for i := range w.conns {
		if c := w.conns[i].Load(); c != nil {
			unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, c.sock.fd, nil)
			w.add(c.sock.fd, watchFor, c.slot, c.gen)
			if w.mem.slots[i].spooled.Load() > 0 && len(w.offers) < cap(w.offers) {
				w.offers <- c
				w.rouse()
			}
		}
	}
}
