package runner

import (
	"sync"
	"time"
)

// conflicts remembers which keys lost a race a moment ago. Their next runs take the
// writer's lock at once instead of running twice.
type conflicts struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	conflictMemory = time.Second
	maxConflicts   = 1000 // beyond it all are forgotten
)

func (c *conflicts) add(key string, now time.Time) {
	if key == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || len(c.last) > maxConflicts {
		c.last = make(map[string]time.Time)
	}
	c.last[key] = now
}

// recent reports whether a run with this key lost a race within the last second.
func (c *conflicts) recent(key string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.last[key]
	return ok && now.Sub(t) < conflictMemory
}
