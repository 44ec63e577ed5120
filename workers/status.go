//go:build linux

package workers

import (
	"context"
	"maps"
	"time"
)

// Status says what the workers are doing, and counts what has happened since Start.
type Status struct {
	Workers  []WorkerStatus
	Conns    int // open connections
	Waiting  int // requests that wait for a worker
	Replaced int // workers started in place of one that died or was killed
	Lost     map[Reason]int
}

// WorkerStatus says what a worker is doing.
type WorkerStatus struct {
	Pid     int
	State   string // "starting", "idle", "reading", "running" or "leaving"
	Since   time.Time
	Served  int64
	Running time.Duration // of the present request; 0 if there is none
}

// Status returns the present status.
func (p *Pool) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{Conns: p.connCount, Replaced: p.replaced, Lost: maps.Clone(p.lost)}
	for _, w := range p.processes {
		if w != nil {
			s.Workers = append(s.Workers, w.status())
		}
	}
	for _, c := range p.conns {
		if c != nil && c.waiting != 0 {
			s.Waiting++
		}
	}
	return s
}

func (w *process) status() WorkerStatus {
	s := WorkerStatus{Pid: w.cmd.Process.Pid, State: "starting", Since: w.started, Served: w.state.served.Load()}
	current := w.state.activeLoop()
	if began := current.began.Load(); began != 0 {
		s.Running = time.Duration(now() - began)
	}
	switch {
	case w.leaving:
		s.State = "leaving"
	case !w.ready:
	case current.phase.Load() == phaseRunning:
		s.State = "running"
	case current.phase.Load() == phaseReading:
		s.State = "reading"
	default:
		s.State = "idle"
	}
	return s
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
			w.ch.enqueue(message{kind: msgReport})
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
