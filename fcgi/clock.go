package fcgi

import (
	"sync/atomic"
	"time"
)

// clock is the server's time: nanoseconds since its start, renewed once in a tick. A
// deadline costs a request an atomic store instead of a timer, and is kept to within three
// ticks. Time in which the process stood still does not count: if the machine was suspended,
// or too busy, no peer is too late because of it.
type clock struct {
	base    time.Time
	tick    int64
	now     atomic.Int64
	skipped atomic.Int64 // time that does not count
	asleep  atomic.Bool  // the monitor waits: whoever starts something wakes it
	woken   chan struct{}
}

func (k *clock) init(tick time.Duration) {
	k.base = time.Now().Add(-time.Second) // so that 0 is never a time
	k.tick = int64(tick)
	k.woken = make(chan struct{}, 1)
	k.refresh()
}

func (k *clock) refresh() int64 {
	now := int64(time.Since(k.base)) - k.skipped.Load()
	k.now.Store(now)
	return now
}

// sleep waits for the next check.
func (k *clock) sleep() {
	begun := time.Now()
	time.Sleep(time.Duration(k.tick))
	k.discount(time.Since(begun))
}

// discount removes the time by which a sleep took too long.
func (k *clock) discount(took time.Duration) {
	if late := int64(took) - 2*k.tick; late > 0 {
		k.skipped.Add(late)
	}
}

// time returns the present time, or up to two ticks less.
func (k *clock) time() int64 {
	if k.asleep.Load() {
		return k.refresh()
	}
	return k.now.Load()
}

// after returns a time that is at least d from now.
func (k *clock) after(d time.Duration) int64 { return k.time() + int64(d) + 2*k.tick }

// nudge is called after a deadline was set or a request began.
func (k *clock) nudge() {
	if k.asleep.Load() {
		k.wake()
	}
}

func (k *clock) wake() {
	select {
	case k.woken <- struct{}{}:
	default:
	}
}
