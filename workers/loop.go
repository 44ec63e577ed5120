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
	w     *Worker
	index int32
	turn  *turn // in shared memory

	begun chan struct{} // it is to go on; nil: it has never run
	sock  *socket       // that is served
	own   bool          // no other process holds its connection
	may   bool          // its request may step aside
	away  bool          // it has: another loop takes events

	stepAside func()
}

// begin starts the first loop.
func (w *Worker) begin() {
	for i := range w.rec.turns {
		l := &loop{w: w, index: int32(i), turn: &w.rec.turns[i]}
		l.stepAside = l.aside
		w.spare = append(w.spare, l)
	}
	w.next(w.take())
}

// take gives a loop that has nothing to do; nil: there is none.
func (w *Worker) take() *loop {
	w.smu.Lock()
	defer w.smu.Unlock()
	last := len(w.spare) - 1
	if last < 0 {
		return nil
	}
	l := w.spare[last]
	w.spare = w.spare[:last]
	return l
}

func (w *Worker) giveBack(l *loop) {
	w.smu.Lock()
	defer w.smu.Unlock()
	w.spare = append(w.spare, l)
}

// next makes l the one that takes events.
func (w *Worker) next(l *loop) {
	w.active = l
	w.rec.loop.Store(l.index)
	if l.begun == nil {
		l.begun = make(chan struct{}, 1)
		go l.run()
	}
	l.begun <- struct{}{}
}

// aside lets another loop go on, when there is one, and when nothing is left to be
// done on the connection but to answer.
func (l *loop) aside() {
	w := l.w
	if !l.may || l.away {
		return
	}
	other := w.take()
	if other == nil {
		return
	}
	if l.own && !w.staysDeposited() {
		w.giveBack(other)
		return
	}
	l.away = true
	w.End()
	w.aside.Add(1)
	w.next(other)
}

// run takes events until the worker leaves, or the loop has stepped aside and is to
// go on again. It keeps its stack, which would have to grow anew each time.
func (l *loop) run() {
	w := l.w
	for range l.begun {
		err := l.takeEvents()
		if !l.away {
			w.ended <- err
			return
		}
		l.away = false
		w.giveBack(l)
		w.aside.Done()
	}
}

// What an event of the epoll set is for: a slot, or one of these.
const (
	eventWake     = -1
	eventListener = -2 // and below
)

func (l *loop) takeEvents() error {
	w := l.w
	// One event at a time: what this worker does not get to, another one does.
	var ev [1]unix.EpollEvent
	for !l.away && !w.leaving.Load() {
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
			l.serveOffers()
		default:
			l.accept(eventListener - int(slot))
		}
	}
	return nil
}
