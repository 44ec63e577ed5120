//go:build linux

package workers

import (
	"context"
	"time"
)

// WorkerFacts say what a worker is doing.
type WorkerFacts struct {
	Pid     int
	State   string // "starting", "idle", "reading", "running" or "leaving"
	Since   time.Time
	Served  int64
	Running time.Duration // of the present request; 0 when there is none
}

// Facts are counts of a pool since its start.
type Facts struct {
	Replaced int // processes in the place of one that had died or was killed
	Lost     map[Reason]int
}

// Status returns what the workers are doing and what was counted.
func (p *Pool) Status() (ws []WorkerFacts, facts Facts, conns, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	facts = p.counts
	facts.Lost = map[Reason]int{}
	for r, n := range p.counts.Lost {
		facts.Lost[r] = n
	}
	for _, w := range p.processes {
		if w != nil {
			ws = append(ws, w.facts())
		}
	}
	for _, c := range p.conns {
		if c != nil && c.waiting != 0 {
			waiting++
		}
	}
	return ws, facts, p.connCount, waiting
}

func (w *process) facts() WorkerFacts {
	f := WorkerFacts{Pid: w.cmd.Process.Pid, State: "starting", Since: w.started, Served: w.state.served.Load()}
	current := w.state.activeLoop()
	if began := current.began.Load(); began != 0 {
		f.Running = time.Duration(now() - began)
	}
	switch {
	case w.leaving:
		f.State = "leaving"
	case !w.ready:
	case current.phase.Load() == phaseRunning:
		f.State = "running"
	case current.phase.Load() == phaseReading:
		f.State = "reading"
	default:
		f.State = "idle"
	}
	return f
}

// Ask makes all workers report, and returns when those that can have done so, or
// when ctx ends. A worker at work reports as well.
func (p *Pool) Ask(ctx context.Context) {
	p.mu.Lock()
	var asked []*process
	for _, w := range p.processes {
		if w != nil && w.ready && !w.leaving {
			select {
			case <-w.reported:
			default:
			}
			w.ch.enqueue(message{kind: msgReport, fd: -1})
			asked = append(asked, w)
		}
	}
	p.mu.Unlock()
	for _, w := range asked {
		select {
		case <-w.reported:
		case <-w.gone:
		case <-ctx.Done():
		}
	}
}
