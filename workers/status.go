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
	Running time.Duration // of the present request; 0 if there is none
}

// Facts are counts since Start.
type Facts struct {
	Replaced int // workers started in place of one that died or was killed
	Lost     map[Reason]int
}

// Status returns what the workers are doing, the counts, and the numbers of connections and
// of waiting requests.
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

// Ask makes all workers send a report, and waits until they have done so, or until ctx ends.
// A busy worker reports too.
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
