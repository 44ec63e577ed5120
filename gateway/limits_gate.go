package gateway

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// DefaultRunning is how many requests run at one time in one process while the
// setting maxRunning is 0.
const DefaultRunning = 64

// gate lets so many requests run at a time. Who comes beyond waits, in the
// order of coming, and who finds the queue full is turned away. The zero
// gate has the defaults; the settings are read once in a while.
type gate struct {
	mu      sync.Mutex
	running int
	queue   list.List // of *turn, the first to come in front
	bounds  gateBounds
	turned  int       // away since it was logged last
	logged  time.Time // when that was

	read atomic.Int64 // when the settings were read, in nanoseconds
}

// gateReads is how often the settings of the gate are read, at most.
const gateReads = time.Second

// gateBounds are what the settings say of the gate.
type gateBounds struct {
	known    bool
	running  int           // requests at one time
	waiting  int           // requests that wait
	patience time.Duration // how long one waits at most
}

// turn is a request that waits; its channel is closed when it may run.
type turn struct {
	let chan struct{}
	in  bool // let in, under the gate's lock
}

// crowded says why a request was turned away.
type crowded struct{ text, setting string }

func (e *crowded) Error() string { return e.text }

// set tells the gate what the settings are. Who waits may be let in by it.
func (q *gate) set(b gateBounds) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bounds = b
	q.admit()
}

// limits gives the bounds: the defaults until a request has read the settings.
func (q *gate) limits() gateBounds {
	if !q.bounds.known {
		number := func(set *site.Setting) float64 { return float64(set.Default.(objectdb.Number)) }
		return gateBounds{running: DefaultRunning, waiting: int(number(site.MaxWaiting)), patience: secondsOf(number(site.MaxTime))}
	}
	return q.bounds
}

// enter waits until the request may run, and reports whether it had to. A
// request that was in before and has left for a moment is not turned away. Each
// enter without an error wants a leave. The error is a *crowded, or why ctx ended.
func (q *gate) enter(ctx context.Context, again bool) (waited bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	q.mu.Lock()
	b := q.limits()
	if q.running < b.running && q.queue.Len() == 0 {
		q.running++
		q.mu.Unlock()
		return false, nil
	}
	if q.queue.Len() >= b.waiting && !again {
		q.turned++
		q.mu.Unlock()
		return false, &crowded{fmt.Sprintf("%d requests run and %d wait, which is all that may (user.webserver.%s, user.webserver.%s)",
			b.running, b.waiting, site.MaxRunning.Name, site.MaxWaiting.Name), site.MaxWaiting.Name}
	}
	t := &turn{let: make(chan struct{})}
	place := q.put(t, again)
	q.mu.Unlock()

	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	select {
	case <-t.let:
		return true, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		q.count()
		err = &crowded{fmt.Sprintf("its turn did not come within %v (user.webserver.%s, user.webserver.%s)", b.patience, site.MaxRunning.Name, site.MaxTime.Name), site.MaxRunning.Name}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.in { // at the same moment
		q.running--
		q.admit()
	} else {
		q.queue.Remove(place)
	}
	return true, err
}

func (q *gate) put(t *turn, front bool) *list.Element {
	if front {
		return q.queue.PushFront(t)
	}
	return q.queue.PushBack(t)
}

func (q *gate) count() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turned++
}

// leave makes room for the next request.
func (q *gate) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.admit()
}

// admit lets in who may. The lock is held.
func (q *gate) admit() {
	for b := q.limits(); q.running < b.running && q.queue.Len() > 0; {
		t := q.queue.Remove(q.queue.Front()).(*turn)
		t.in = true
		q.running++
		close(t.let)
	}
}

// load gives how many requests run and wait.
func (q *gate) load() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.queue.Len()
}

// turnedAway gives how many requests were turned away since it said so before;
// 0 when that was less than a second ago: a crowd must not flood the log.
func (q *gate) turnedAway(now time.Time) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.logged) < time.Second {
		return 0
	}
	n := q.turned
	q.turned, q.logged = 0, now
	return n
}

// gateBoundsOf returns what the settings say of the gate.
func gateBoundsOf(s *site.Snapshot) gateBounds {
	b := gateBounds{known: true, running: int(s.Number(site.MaxRunning)), waiting: int(s.Number(site.MaxWaiting)), patience: secondsOf(s.Number(site.MaxTime))}
	if b.running == 0 {
		b.running = DefaultRunning
	}
	return b
}

// stale tells, once in a while, that the settings are to be read.
func (q *gate) stale(now time.Time) bool {
	before := q.read.Load()
	return now.UnixNano()-before >= int64(gateReads) && q.read.CompareAndSwap(before, now.UnixNano())
}

// enter waits for the turn of a request. The function that it returns ends the turn.
func (g *Gateway) enter(ctx context.Context, again bool) (leave func(), err error) {
	if running, _ := g.gate.load(); running > 0 && g.gate.stale(time.Now()) {
		// Where all turns are taken for long, no request reads them.
		if err := g.db.View(ctx, func(tx *objectdb.Tx) error {
			s, err := g.site.Snapshot(tx)
			if err == nil {
				g.gate.set(gateBoundsOf(s))
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	waited, err := g.gate.enter(ctx, again)
	if waited {
		g.watch.waited.Add(1)
	}
	return g.gate.leave, err
}

// Load is what a gateway has to do at one moment.
type Load struct {
	Running int // requests under way
	Waiting int // requests that wait for their turn
}

// Load tells how many requests run and wait.
func (g *Gateway) Load() Load {
	_, waiting := g.gate.load()
	return Load{Running: int(g.counts.running.Load()) - waiting, Waiting: waiting}
}

// Bounds are what an owner sets of requests at one time: see the settings
// maxRunning, 0 for what the program finds right, and maxWaiting. Body is how
// many bytes that of a request may have, for the script that may have most.
type Bounds struct {
	Running, Waiting int
	Body             int64
}

// ReadBounds reads them, for a program that has a queue of its own.
func ReadBounds(tx *objectdb.Tx) (Bounds, error) {
	s, err := site.Read(tx)
	if err != nil {
		return Bounds{}, err
	}
	return Bounds{Running: int(s.Number(site.MaxRunning)), Waiting: int(s.Number(site.MaxWaiting)), Body: int64(s.Most(site.MaxBody) * (1 << 20))}, nil
}
