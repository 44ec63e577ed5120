package metrics

import (
	"maps"
	"time"
)

// Counts counts what a process has done since the last [Metrics.Take]. Counts of several
// processes and times can be added in any order. They are sent as JSON.
type Counts struct {
	// Actions counts the requests by action. "-" counts those that were refused
	// before they had an action, and those whose process was killed.
	Actions map[string]ActionCounts `json:"actions,omitempty"`
	// Limits counts the requests that a limit has ended, by the name of its setting.
	Limits map[string]uint64 `json:"limits,omitempty"`
	// Caches counts the lookups in the caches of "objects", "scripts" and "pages".
	Caches map[string]CacheCount `json:"caches,omitempty"`

	Incidents uint64 `json:"incidents,omitempty"` // failures with a number in the log
	Again     uint64 `json:"again,omitempty"`     // requests that lost a race and were run again
	Waited    uint64 `json:"waited,omitempty"`    // requests that had to wait for a slot
	Slow      uint64 `json:"slow,omitempty"`      // requests in the slow log
	Saves     uint64 `json:"saves,omitempty"`     // saved copies that the auto-save agent has made
	Unsaved   uint64 `json:"unsaved,omitempty"`   // saved copies that it could not make
	Bytes     uint64 `json:"bytes,omitempty"`     // of responses, heads included
}

// ActionCounts counts the requests of one action.
type ActionCounts struct {
	// Statuses counts the requests by the status of the response. 0 counts those
	// without a response, because the client was gone.
	Statuses map[int]uint64 `json:"statuses"`
	// Classes counts the requests by their duration: see [DurationBounds].
	Classes []uint64 `json:"classes"`
	// Seconds is the sum of the durations.
	Seconds float64 `json:"seconds"`
}

// CacheCount counts the lookups in a cache.
type CacheCount struct {
	Hits   uint64 `json:"hits"`
	Misses uint64 `json:"misses"`
}

// Requests returns the number of requests of an action.
func (a ActionCounts) Requests() (n uint64) {
	for _, of := range a.Statuses {
		n += of
	}
	return n
}

// Requests returns the number of requests of all actions.
func (c *Counts) Requests() (n uint64) {
	for _, a := range c.Actions {
		n += a.Requests()
	}
	return n
}

// Add adds more to c. It does not change more.
func (c *Counts) Add(more Counts) {
	for name, a := range more.Actions {
		if c.Actions == nil {
			c.Actions = map[string]ActionCounts{}
		}
		sum := c.Actions[name]
		sum.add(a)
		c.Actions[name] = sum
	}
	for name, n := range more.Limits {
		if c.Limits == nil {
			c.Limits = map[string]uint64{}
		}
		c.Limits[name] += n
	}
	for name, n := range more.Caches {
		if c.Caches == nil {
			c.Caches = map[string]CacheCount{}
		}
		sum := c.Caches[name]
		c.Caches[name] = CacheCount{sum.Hits + n.Hits, sum.Misses + n.Misses}
	}
	c.Incidents += more.Incidents
	c.Again += more.Again
	c.Waited += more.Waited
	c.Slow += more.Slow
	c.Saves += more.Saves
	c.Unsaved += more.Unsaved
	c.Bytes += more.Bytes
}

func (a *ActionCounts) add(more ActionCounts) {
	if a.Statuses == nil {
		a.Statuses = map[int]uint64{}
	}
	for status, n := range more.Statuses {
		a.Statuses[status] += n
	}
	classes := make([]uint64, max(len(a.Classes), len(more.Classes)))
	copy(classes, a.Classes)
	for i, n := range more.Classes {
		classes[i] += n
	}
	a.Classes = classes
	a.Seconds += more.Seconds
}

// LostCounts returns the counts of one request that no worker answered. status is that of the
// response that was sent instead, ran is how long the request ran, and limit is the name of
// the limit that ended it, or "".
func LostCounts(status int, ran time.Duration, limit string) Counts {
	classes := make([]uint64, len(DurationBounds)+1)
	a := ActionCounts{Statuses: map[int]uint64{status: 1}, Classes: classes, Seconds: ran.Seconds()}
	a.Classes[durationClass(ran)] = 1
	c := Counts{Actions: map[string]ActionCounts{noAction: a}}
	if limit != "" {
		c.Limits = map[string]uint64{limit: 1}
	}
	return c
}

// Copy returns a deep copy of c.
func (c *Counts) Copy() Counts {
	var sum Counts
	sum.Add(*c)
	return sum
}

// Take returns what was counted since the last call. caches holds the present counts of the
// caches, which only grow. Only one caller in a process takes the counts.
func (m *Metrics) Take(caches map[string]CacheCount) Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := Counts{
		Incidents: m.incidents.Swap(0), Again: m.Again.Swap(0), Waited: m.Waited.Swap(0), Slow: m.Slow.Swap(0),
		Saves: m.saves.Swap(0), Unsaved: m.unsaved.Swap(0), Bytes: m.bytes.Swap(0),
	}
	for name, a := range m.actions.all() {
		if taken, any := a.take(); any {
			if c.Actions == nil {
				c.Actions = map[string]ActionCounts{}
			}
			c.Actions[name] = taken
		}
	}
	for name, n := range m.limits.all() {
		if n := n.Swap(0); n > 0 {
			if c.Limits == nil {
				c.Limits = map[string]uint64{}
			}
			c.Limits[name] = n
		}
	}
	c.Caches = m.takeCaches(caches)
	return c
}

func (a *actionMetrics) take() (c ActionCounts, any bool) {
	for status := range a.statuses {
		if a.statuses[status].Load() == 0 {
			continue
		}
		if c.Statuses == nil {
			c.Statuses = map[int]uint64{}
		}
		c.Statuses[status] = a.statuses[status].Swap(0)
		any = true
	}
	c.Classes = make([]uint64, len(a.classes))
	for i := range a.classes {
		c.Classes[i] = a.classes[i].Swap(0)
		any = any || c.Classes[i] > 0
	}
	c.Seconds = float64(a.nanos.Swap(0)) / 1e9
	return c, any || c.Seconds > 0
}

// takeCaches returns by how much the counts of the caches have grown.
func (m *Metrics) takeCaches(now map[string]CacheCount) map[string]CacheCount {
	more := map[string]CacheCount{}
	for name, n := range now {
		before := m.taken[name]
		if d := (CacheCount{n.Hits - before.Hits, n.Misses - before.Misses}); d != (CacheCount{}) {
			more[name] = d
		}
	}
	m.taken = maps.Clone(now)
	if len(more) == 0 {
		return nil
	}
	return more
}
