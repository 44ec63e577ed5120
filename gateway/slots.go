package gateway

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"scripter/objectdb"
	"scripter/runner"
	"scripter/site"
)

// DefaultRunning is how many requests run at the same time in one process if the setting
// maxRunning is 0.
const DefaultRunning = 64

// slots limits how many requests run at the same time in one process. A request acquires a
// slot; if there is none it waits, in the order of arrival, and if too many wait it is
// refused. The zero value has the defaults. A pool of workers has its own queue (package
// workers).
type slots struct {
	mu            sync.Mutex
	running       int
	waiters       list.List // of *waiter, the first to arrive in front
	limits        slotLimits
	refused       int       // since it was logged last
	refusedLogged time.Time // when that was

	limitsRead atomic.Int64 // when the settings were read, in nanoseconds
}

// slotsRead is how often the settings are read at most.
const slotsRead = time.Second

// slotLimits are what the settings say about slots.
type slotLimits struct {
	set     bool
	running int           // requests at the same time
	waiting int           // requests that wait
	wait    time.Duration // how long one waits at most
}

// waiter is a request that waits; granted is closed when it gets a slot.
type waiter struct {
	granted chan struct{}
	hasSlot bool // guarded by slots.mu
}

// busyError says why a request was refused.
type busyError struct{ *runner.LimitError }

func (e *busyError) Unwrap() error { return e.LimitError }

func newBusyError(set *site.Setting, format string, args ...any) error {
	return &busyError{&runner.LimitError{Setting: set, Message: fmt.Sprintf(format, args...)}}
}

// setLimits sets the limits, and gives slots that become free to requests that wait.
func (q *slots) setLimits(b slotLimits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limits = b
	q.grant()
}

// current returns the limits: the defaults until a request has read the settings.
func (q *slots) current() slotLimits {
	if !q.limits.set {
		number := func(set *site.Setting) float64 { return float64(set.Default.(objectdb.Number)) }
		waiting, wait := int(number(site.MaxWaiting)), secondsOf(number(site.MaxTime))
		return slotLimits{running: DefaultRunning, waiting: waiting, wait: wait}
	}
	return q.limits
}

// acquire waits for a slot, and reports whether it had to wait. A request that had a slot
// before (again) is not refused because of the others that wait. After each acquire without
// an error, release must be called. The error is a *busyError, or the cause why ctx ended.
func (q *slots) acquire(ctx context.Context, again bool) (waited bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	q.mu.Lock()
	b := q.current()
	if q.running < b.running && q.waiters.Len() == 0 {
		q.running++
		q.mu.Unlock()
		return false, nil
	}
	if q.waiters.Len() >= b.waiting && !again {
		q.refused++
		q.mu.Unlock()
		return false, newBusyError(site.MaxWaiting, "%d requests run and %d wait, and no more are allowed "+
			"(user.webserver.%s, user.webserver.%s)",
			b.running, b.waiting, site.MaxRunning.Name, site.MaxWaiting.Name)
	}
	t := &waiter{granted: make(chan struct{})}
	place := q.enqueue(t, again)
	q.mu.Unlock()

	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case <-t.granted:
		return true, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		q.countRefused()
		err = newBusyError(site.MaxRunning, "no slot became free within %v (user.webserver.%s, user.webserver.%s)",
			b.wait, site.MaxRunning.Name, site.MaxTime.Name)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.hasSlot { // it was granted at the same moment
		q.running--
		q.grant()
	} else {
		q.waiters.Remove(place)
	}
	return true, err
}

// enqueue adds a request to those that wait.
func (q *slots) enqueue(t *waiter, front bool) *list.Element {
	if front {
		return q.waiters.PushFront(t)
	}
	return q.waiters.PushBack(t)
}

// countRefused counts a request that is refused.
func (q *slots) countRefused() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused++
}

// release gives the slot to the next request.
func (q *slots) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.grant()
}

// grant gives free slots to requests that wait. The caller holds q.mu.
func (q *slots) grant() {
	for b := q.current(); q.running < b.running && q.waiters.Len() > 0; {
		t := q.waiters.Remove(q.waiters.Front()).(*waiter)
		t.hasSlot = true
		q.running++
		close(t.granted)
	}
}

// load returns how many requests run and wait.
func (q *slots) load() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiters.Len()
}

// takeRefused returns how many requests were refused since its last call; 0 if that was less
// than a second ago, so that many requests do not flood the log.
func (q *slots) takeRefused(now time.Time) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.refusedLogged) < time.Second {
		return 0
	}
	n := q.refused
	q.refused, q.refusedLogged = 0, now
	return n
}

// slotLimitsOf returns what the settings say about slots.
func slotLimitsOf(s *site.Snapshot) slotLimits {
	b := slotLimits{
		set:     true,
		running: int(s.Number(site.MaxRunning)),
		waiting: int(s.Number(site.MaxWaiting)),
		wait:    secondsOf(s.Number(site.MaxTime)),
	}
	if b.running == 0 {
		b.running = DefaultRunning
	}
	return b
}

// limitsDue reports whether the settings are to be read, which is true once in slotsRead.
func (q *slots) limitsDue(now time.Time) bool {
	before := q.limitsRead.Load()
	return now.UnixNano()-before >= int64(slotsRead) && q.limitsRead.CompareAndSwap(before, now.UnixNano())
}

// acquireSlot waits for a slot.
func (g *Gateway) acquireSlot(ctx context.Context, again bool) (release func(), err error) {
	if running, _ := g.slots.load(); running > 0 && g.slots.limitsDue(time.Now()) {
		// While all slots are in use, no request reads the settings.
		s, err := g.siteNow(ctx)
		if err != nil {
			return nil, err
		}
		g.slots.setLimits(slotLimitsOf(s))
	}
	waited, err := g.slots.acquire(ctx, again)
	if waited {
		g.metrics.Waited.Add(1)
	}
	return g.slots.release, err
}

// Load says how many requests there are at one moment.
type Load struct {
	Running int // requests under way
	Waiting int // requests that wait for a slot
}

// Load returns how many requests run and wait.
func (g *Gateway) Load() Load {
	_, waiting := g.slots.load()
	return Load{Running: int(g.metrics.Running.Load()) - waiting, Waiting: waiting}
}

// Bounds are limits for a program that has its own queue: the settings maxRunning, 0 for the
// program's choice, and maxWaiting. Body is how many bytes a body may have, for the script with
// the largest limit.
type Bounds struct {
	Running, Waiting int
	Body             int64
}

// ReadBounds returns the Bounds that the root has.
func ReadBounds(tx *objectdb.Tx) (Bounds, error) {
	s, err := site.Read(tx)
	if err != nil {
		return Bounds{}, err
	}
	return Bounds{
		Running: int(s.Number(site.MaxRunning)),
		Waiting: int(s.Number(site.MaxWaiting)),
		Body:    int64(s.Most(site.MaxBody) * (1 << 20)),
	}, nil
}
