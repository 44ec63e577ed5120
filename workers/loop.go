//go:build linux

package workers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// loop handles events of the epoll set, one at a time, and serves the connections
// that they name. One loop of a worker, the active one, does so. When its request
// only waits for the disk, the loop yields, and another one becomes active. So a
// worker runs one script at a time, and one fsync serves many commits.
type loop struct {
	w        *Worker
	index    int32
	activity *activity // in shared memory

	resume   chan struct{} // tells the loop to become active; nil: it has never run
	sock     *socket       // of the connection that it serves
	unshared bool          // no other process holds the connection
	mayYield bool          // the present request may yield
	yielded  bool          // it has: another loop is active

	yieldFunc func()
}

// startLoops starts the first loop.
func (w *Worker) startLoops() {
	for i := range w.state.loops {
		l := &loop{w: w, index: int32(i), activity: &w.state.loops[i]}
		l.yieldFunc = l.yield
		w.idleLoops = append(w.idleLoops, l)
	}
	w.activate(w.acquireLoop())
}

// acquireLoop returns an idle loop, or nil.
func (w *Worker) acquireLoop() *loop {
	w.idleMu.Lock()
	defer w.idleMu.Unlock()
	last := len(w.idleLoops) - 1
	if last < 0 {
		return nil
	}
	l := w.idleLoops[last]
	w.idleLoops = w.idleLoops[:last]
	return l
}

// releaseLoop makes l idle.
func (w *Worker) releaseLoop(l *loop) {
	w.idleMu.Lock()
	defer w.idleMu.Unlock()
	w.idleLoops = append(w.idleLoops, l)
}

// activate makes l the active loop.
func (w *Worker) activate(l *loop) {
	w.active = l
	w.state.active.Store(l.index)
	if l.resume == nil {
		l.resume = make(chan struct{}, 1)
		go l.run()
	}
	l.resume <- struct{}{}
}

// yield makes another loop active. It does nothing if there is no idle loop, or if
// the connection needs more than the response: the other requests then wait.
func (l *loop) yield() {
	w := l.w
	if !l.mayYield || l.yielded {
		return
	}
	other := w.acquireLoop()
	if other == nil {
		return
	}
	if l.unshared && !w.reserveParking() {
		w.releaseLoop(other)
		return
	}
	l.yielded = true
	w.End()
	w.yielded.Add(1)
	w.activate(other)
}

// run handles events whenever the loop is active, until the worker leaves. A loop
// keeps its goroutine while it is idle: the stack of a new one would have to grow.
func (l *loop) run() {
	w := l.w
	for range l.resume {
		err := l.handleEvents()
		if !l.yielded {
			w.ended <- err
			return
		}
		l.yielded = false
		w.releaseLoop(l)
		w.yielded.Done()
	}
}

// What an event of the epoll set is for: a shared connection, or one of these.
const (
	eventWake     = -1
	eventListener = -2 // and below
)

func (l *loop) handleEvents() error {
	w := l.w
	// One event at a time, so that other workers can handle the others.
	var ev [1]unix.EpollEvent
	for !l.yielded && !w.leaving.Load() {
		n, err := unix.EpollWait(w.ep, ev[:], -1)
		switch {
		case err == unix.EINTR || n == 0:
			continue
		case err != nil:
			return fmt.Errorf("wait for requests: %w", err)
		}
		switch slot := ev[0].Fd; {
		case slot >= 0:
			l.serveShared(slot, uint32(ev[0].Pad))
		case slot == eventWake:
			var b [8]byte
			unix.Read(w.wake, b[:])
			l.serveSpooled()
		default:
			l.accept(eventListener - int(slot))
		}
	}
	return nil
}
