package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"scripter/runner"
)

// DurationBounds are the upper bounds, in seconds, of the classes in which the
// durations of requests are counted; one more class holds what is longer.
var DurationBounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// metrics counts what a gateway does. A finished request costs it a few atomic additions and
// no memory; [Gateway.TakeCounts] takes the counts.
type metrics struct {
	actions   counters[actionMetrics]
	limits    counters[atomic.Uint64]
	incidents atomic.Uint64
	again     atomic.Uint64
	waited    atomic.Uint64
	slow      atomic.Uint64
	saves     atomic.Uint64
	unsaved   atomic.Uint64
	bytes     atomic.Uint64

	mu    sync.Mutex            // held while counts are taken
	taken map[string]CacheCount // what was taken of the caches before
}

// actionMetrics counts the requests of one action.
type actionMetrics struct {
	statuses [maxStatus + 1]atomic.Uint64 // [0]: nothing was sent
	classes  [len(DurationBounds) + 1]atomic.Uint64
	nanos    atomic.Int64
}

// maxStatus is the greatest status that a response can have.
const maxStatus = 599

// noAction stands for the action of a request that was refused before it had one.
const noAction = "-"

// maxCounters limits how many names are counted separately: names come from the root.
// Further names are counted together.
const maxCounters = 64

// otherNames is where the names beyond maxCounters are counted.
const otherNames = "(others)"

// counters are counts by name. Finding one takes no lock; a new one is put into a copy of
// the map.
type counters[T any] struct {
	m  atomic.Pointer[map[string]*T]
	mu sync.Mutex
}

func (c *counters[T]) get(name string) *T {
	if m := c.m.Load(); m != nil {
		if t := (*m)[name]; t != nil {
			return t
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := map[string]*T{}
	if m := c.m.Load(); m != nil {
		next = maps.Clone(*m)
	}
	if len(next) >= maxCounters && next[name] == nil {
		name = otherNames
	}
	t := next[name]
	if t == nil {
		t = new(T)
		next[name] = t
		c.m.Store(&next)
	}
	return t
}

// all returns all counts; the map must not be changed.
func (c *counters[T]) all() map[string]*T {
	if m := c.m.Load(); m != nil {
		return *m
	}
	return nil
}

// countRequest counts a request that was answered or abandoned.
func (w *metrics) countRequest(action string, out Outcome, took time.Duration, sent int64) {
	if action == "" {
		action = noAction
	}
	a := w.actions.get(action)
	status := out.Status
	if status < 0 || status > maxStatus {
		status = 0
	}
	a.statuses[status].Add(1)
	a.nanos.Add(int64(took))
	a.classes[durationClass(took)].Add(1)
	if sent > 0 {
		w.bytes.Add(uint64(sent))
	}
	if out.Incident != "" {
		w.incidents.Add(1)
	}
	if out.Err != nil {
		if name := runner.LimitOf(out.Err); name != "" {
			w.limits.get(name).Add(1)
		}
	}
}

// CountSave counts a copy that the auto-save agent has saved, or could not save.
func (g *Gateway) CountSave(err error) {
	if err != nil {
		g.metrics.unsaved.Add(1)
		return
	}
	g.metrics.saves.Add(1)
}

// durationClass returns the index of the class of a duration.
func durationClass(d time.Duration) int {
	s := d.Seconds()
	for i, bound := range DurationBounds {
		if s <= bound {
			return i
		}
	}
	return len(DurationBounds)
}
