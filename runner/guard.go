package runner

import "time"

// A Guard learns when scripts begin and end, in a process that runs one at a time. It is
// outside of the process and kills it when scripts exceed their limits: a single operation
// can use much time or memory before Lua checks the limits.
type Guard interface {
	Begin(limit time.Duration, bytes int64)
	End()
}

// Suspend tells the Guard that no script of the run is running, because the run waits
// for something else. Resume ends that.
func (r *Run) Suspend() {
	if g := r.runner.config.Guard; g != nil && !r.options.Inner {
		g.End()
	}
}

// Resume tells the Guard that scripts of the run are running.
func (r *Run) Resume() {
	if g := r.runner.config.Guard; g != nil && !r.options.Inner && r.Thread != nil {
		g.Begin(r.bounds.Time-r.bounds.Spent, r.bounds.MemoryBytes)
	}
}
