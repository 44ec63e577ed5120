// Package metrics counts what a process of Scripter does, for its status.
//
//	metrics.go   the live counters
//	counts.go    counts taken from them, which can be added and sent as JSON
package metrics

import (
	"cmp"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// DurationBounds are the upper bounds, in seconds, of the classes in which the
// durations of requests are counted. One more class counts longer ones.
var DurationBounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// Metrics counts what a process does. A finished request costs it a few atomic additions and
// no memory; [Metrics.Take] takes the counts, except for the first three. The zero Metrics is
// ready for use, by many goroutines at once.
type Metrics struct {
	Running  atomic.Int64  // requests under way
	answered atomic.Uint64 // requests since the process began
	failed   atomic.Uint64 // those of them that ended with an error

	Again  atomic.Uint64 // requests that lost a race and were run again
	Waited atomic.Uint64 // requests that had to wait for a slot
	Slow   atomic.Uint64 // requests in the slow log

	actions   counters[actionMetrics]
	limits    counters[atomic.Uint64]
	incidents atomic.Uint64
	saves     atomic.Uint64
	unsaved   atomic.Uint64
	bytes     atomic.Uint64

	mu    sync.Mutex            // held while counts are taken
	taken map[string]CacheCount // counts of the caches at the last Take
}

// actionMetrics counts the requests of one action.
type actionMetrics struct {
	statuses [maxStatus + 1]atomic.Uint64 // [0]: nothing was sent
	classes  [len(DurationBounds) + 1]atomic.Uint64
	nanos    atomic.Int64
}

// maxStatus is the greatest status that a response can have.
const maxStatus = 599

// noAction is counted as the action of a request that was refused before it had one.
const noAction = "-"

// maxCounters limits how many names are counted separately: names come from the root.
// Further names are counted together.
const maxCounters = 64

// otherNames is the name under which names beyond maxCounters are counted.
const otherNames = "(others)"

// counters holds counters by name. Finding one takes no lock. A new one is added to a copy
// of the map.
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

// Request describes a request that was answered or abandoned, for [Metrics.CountRequest].
type Request struct {
	Action   string // "" if it was refused before it had one
	Status   int    // of the response; 0 if nothing was sent
	Duration time.Duration
	Bytes    int64  // of the response
	Failed   bool   // it ended with an error
	Incident bool   // the error has a number in the log
	Limit    string // name of the setting that ended it, or ""
}

// CountRequest counts a request.
func (m *Metrics) CountRequest(r Request) {
	m.answered.Add(1)
	if r.Failed {
		m.failed.Add(1)
	}
	action := cmp.Or(r.Action, noAction)
	a := m.actions.get(action)
	status := r.Status
	if status < 0 || status > maxStatus {
		status = 0
	}
	a.statuses[status].Add(1)
	a.nanos.Add(int64(r.Duration))
	a.classes[durationClass(r.Duration)].Add(1)
	if r.Bytes > 0 {
		m.bytes.Add(uint64(r.Bytes))
	}
	if r.Incident {
		m.incidents.Add(1)
	}
	if r.Limit != "" {
		m.limits.get(r.Limit).Add(1)
	}
}

// Requests returns how many requests the process has answered or abandoned, and how many of
// them have failed.
func (m *Metrics) Requests() (answered, failed uint64) { return m.answered.Load(), m.failed.Load() }

// CountSave counts a copy that the auto-save agent has saved, or could not save.
func (m *Metrics) CountSave(err error) {
	if err != nil {
		m.unsaved.Add(1)
		return
	}
	m.saves.Add(1)
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
