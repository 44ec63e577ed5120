//go:build linux

package workers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// environment is the variable that makes a program a worker. It holds the index of the
// worker and the number of its listening sockets.
const environment = "SCRIPTER_WORKER"

// The descriptors that a worker is started with.
const (
	fdChannel = 3 + iota
	fdMemory
	fdParkIn
	fdParkOut
	fdListeners
)

// Worker is this process in the pool that started it.
type Worker struct {
	// Report, if set, returns a report for Options.Report of the pool. It is called on its
	// own goroutine.
	Report func() []byte

	owner        int
	memoryLimit  int64 // the bytes of the last Begin
	mem          *sharedMemory
	state        *workerState
	ch           *channel
	parking      parking
	parkMu       sync.Mutex // guards parking and parkedYields
	parkedYields int        // parked sockets of loops that have yielded
	listenMu     sync.Mutex // guards listeners
	listeners    []int      // -1: closed
	ep           int
	firstEp      int // an epoll set for the first request of a new connection
	wake         int // an eventfd
	conns        [maxConns]atomic.Pointer[sharedConn]
	server       *fcgi.Server
	handler      fcgi.Handler
	spooled      chan *sharedConn
	peekBuf      [peekSize]byte // of the active loop
	leaving      atomic.Bool

	active    *loop // handles events; only the active loop reads and changes this field
	idleLoops []*loop
	idleMu    sync.Mutex // guards idleLoops
	yielded   sync.WaitGroup
	ended     chan error // how the active loop ended
}

// Inherited returns the Worker that this process was started as, or nil if no Pool started
// it.
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
	mem, err := mapSharedMemory(os.NewFile(fdMemory, "memory"))
	if err != nil {
		return nil, err
	}
	ch, err := newChannel(os.NewFile(fdChannel, "channel"), nil)
	if err != nil {
		return nil, err
	}
	w := &Worker{owner: index + 1, mem: mem, state: &mem.workers[index], ch: ch,
		parking: parking{fdParkIn, fdParkOut}, spooled: make(chan *sharedConn, maxConns), ended: make(chan error, 1)}
	for fd := range fdListeners + listeners {
		unix.CloseOnExec(fd)
		if fd >= fdListeners {
			w.listeners = append(w.listeners, fd)
		}
	}
	if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("create an epoll set: %w", err)
	}
	if w.firstEp, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("create an epoll set: %w", err)
	}
	if w.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("create an event descriptor: %w", err)
	}
	return w, nil
}

func parseSpec(spec string) (index, listeners int, err error) {
	a, b, _ := strings.Cut(spec, "/")
	index, err1 := strconv.Atoi(a)
	listeners, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || index < 0 || index >= maxProcesses || listeners < 0 || listeners > 16 {
		return 0, 0, fmt.Errorf("%s is %q: it is set for the processes of a pool only", environment, spec)
	}
	return index, listeners, nil
}

// Serve answers requests until the master tells the worker to end, or is gone.
func (w *Worker) Serve(s *fcgi.Server) error {
	w.server, w.handler = s, s.Handler
	s.Handler = w.handle
	if err := w.add(w.wake, unix.EPOLLIN, eventWake, 0); err != nil {
		return err
	}
	for i, fd := range w.listeners {
		unix.SetNonblock(fd, true)
		if err := w.add(fd, unix.EPOLLIN|unix.EPOLLEXCLUSIVE, int32(eventListener-i), 0); err != nil {
			return err
		}
	}
	w.state.ready.Store(true)
	w.ch.send(message{kind: msgReady})
	go w.receiveCommands()
	w.startLoops()
	err := <-w.ended
	w.yielded.Wait()
	w.report()
	return err
}

func (w *Worker) add(fd int, events uint32, slot int32, gen uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: slot, Pad: int32(gen)}
	if err := unix.EpollCtl(w.ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return fmt.Errorf("add a socket to an epoll set: %w", err)
	}
	return nil
}
