//go:build linux

package workers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// loop takes events, one at a time, and serves what they tell of. One loop of a
// worker does so; when its request needs nothing any more but the disk, it steps
// aside, and another one goes on in its place: so a worker that runs one script at
// a time has many commits reach the disk at once.
type loop struct {
	w        *Worker
	index    int32
	activity *activity // in shared memory

	resume   chan struct{} // it is to go on; nil: it has never run
	sock     *socket       // that is served
	unshared bool          // no other process holds its connection
	mayYield bool          // its request may step aside
	yielded  bool          // it has: another loop takes events

	yieldFunc func()
}

// begin starts the first loop.
func (w *Worker) startLoops() {
	for i := range w.state.loops {
		l := &loop{w: w, index: int32(i), activity: &w.state.loops[i]}
		l.yieldFunc = l.yield
		w.idleLoops = append(w.idleLoops, l)
	}
	w.activate(w.acquireLoop())
}

// take gives a loop that has nothing to do; nil: there is none.
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

func (w *Worker) releaseLoop(l *loop) {
	w.idleMu.Lock()
	defer w.idleMu.Unlock()
	w.idleLoops = append(w.idleLoops, l)
}

// next makes l the one that takes events.
func (w *Worker) activate(l *loop) {
	w.active = l
	w.state.active.Store(l.index)
	if l.resume == nil {
		l.resume = make(chan struct{}, 1)
		go l.run()
	}
	l.resume <- struct{}{}
}

// aside lets another loop go on, when there is one, and when nothing is left to be
// done on the connection but to answer.
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

// run takes events until the worker leaves, or the loop has stepped aside and is to
// go on again. It keeps its stack, which would have to grow anew each time.
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

// What an event of the epoll set is for: a slot, or one of these.
const (
	eventWake     = -1
	eventListener = -2 // and below
)

func (l *loop) handleEvents() error {
	w := l.w
	// One event at a time: what this worker does not get to, another one does.
	var ev [1]unix.EpollEvent
	for !l.yielded && !w.leaving.Load() {
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
