package gateway

import (
	"bytes"
	"time"
)

// Guard is told when a script begins and ends, by a process in which one runs
// at a time. Somebody else watches that process, and kills it when the script
// has not kept its limits: a single operation can take long, or memory, before
// the language sees it. The time that a script waits for the visitor to take a
// part of its answer does not count.
type Guard interface {
	Begin(limit time.Duration, bytes int64)
	End()
}

// guard tells the Guard that the scripts of c begin.
func (c *call) guard() {
	if g := c.g.guard; g != nil && c.thread != nil {
		g.Begin(c.bounds.Time-c.bounds.Spent, c.bounds.MemoryBytes)
	}
}

// unguard tells the Guard that no script of c runs now.
func (c *call) unguard() {
	if g := c.g.guard; g != nil {
		g.End()
	}
}

// LostAnswer is the answer to a FastCGI request that a process did not live to
// answer (500), that took too long to arrive (408), or that there is no room
// for (503): a plain page, with the number of an incident for the log.
func LostAnswer(status int) (answer []byte, incident string) {
	r := &Request{Params: map[string]string{}, Form: Parsed}
	if status >= 500 {
		incident = newIncident()
	}
	resp := plainPage(r, status, visitorMessage(status), incident)
	if status == 503 {
		resp.Set("Retry-After", "1")
	}
	complete(r, resp)
	var b bytes.Buffer
	a := newAnswer(&b, r)
	defer a.close()
	a.hold(resp, nil)
	a.send(r) // into memory
	return b.Bytes(), incident
}
