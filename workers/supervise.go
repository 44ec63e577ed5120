//go:build linux

package workers

import "time"

const (
	// busyInterval is how often the master checks its workers while they work, idleInterval
	// how often it does otherwise.
	busyInterval = 5 * time.Millisecond
	idleInterval = 50 * time.Millisecond
	// quietAfter is when the master stops checking: a worker that begins something wakes it.
	quietAfter = time.Second
	// stuckAfter is how long a request may run before its worker no longer counts as free. An
	// ordinary request on a busy machine must not make the pool grow.
	stuckAfter = 20 * time.Millisecond
	// overrun is the part of its time limit by which a script may exceed it, and margin how
	// much its process may grow beyond its memory limit, before the master kills the process.
	// The language measures both more exactly, but cannot stop a single operation. The promise
	// is a quarter and 64 MB, which leaves room for what happens between two checks.
	overrun = 5
	margin  = 48 << 20
)

// supervise checks workers and connections at intervals, until the pool has ended.
func (p *Pool) supervise() {
	timer := time.NewTimer(idleInterval)
	defer timer.Stop()
	swept := time.Now()
	for {
		select {
		case <-p.done:
			return
		case <-p.wake:
		case <-timer.C:
		}
		p.mu.Lock()
		p.mem.masterIdle.Store(false)
		t := time.Now()
		if t.Sub(swept) >= timeoutInterval {
			swept = t
			p.checkTimeouts()
		}
		next := p.nextCheck(t, p.checkWorkers())
		p.mu.Unlock()
		timer.Reset(next)
	}
}

// nextCheck returns how long the master may wait until its next check.
func (p *Pool) nextCheck(t time.Time, busy bool) time.Duration {
	if busy {
		p.lastBusy = t
		return busyInterval
	}
	if t.Sub(p.lastBusy) < quietAfter {
		return idleInterval
	}
	p.freeMasterMemory()
	// A worker that begins something from now on wakes the master. The loop
	// below finds what was begun before.
	p.mem.masterIdle.Store(true)
	for _, w := range p.processes {
		if w != nil && (!w.ready || !w.state.idle()) {
			p.mem.masterIdle.Store(false)
			return idleInterval
		}
	}
	return timeoutInterval
}

// checkWorkers enforces the limits of the workers and adapts their number. It reports
// whether any is busy. The caller holds p.mu.
func (p *Pool) checkWorkers() (busy bool) {
	t, clock := now(), time.Now()
	total, available := 0, 0
	var spare *process
	for _, w := range p.processes {
		if w == nil {
			continue
		}
		begun, served := w.state.activeLoop().since.Load(), w.state.served.Load()
		took := time.Duration(0)
		if begun != 0 {
			took = time.Duration(t - begun)
		}
		if begun != 0 || served != w.served {
			w.served, w.active, busy = served, clock, true
		}
		p.enforce(w, t, took)
		if begun == 0 && w.ready && clock.Sub(w.active) >= freeAfter {
			w.freeIfGrown()
		}
		if w.leaving || w.stale || w.killedFor != "" {
			continue
		}
		if !w.blockedByPeer(took) {
			total++
		}
		if took < stuckAfter {
			available++
		}
		if w.ready && clock.Sub(w.active) > p.o.Spare && (spare == nil || w.started.After(spare.started)) {
			spare = w
		}
	}
	wanted := p.o.Min
	switch {
	case p.dismissed:
		return busy
	case p.closing && p.draining:
		wanted = 1
	case p.closing:
		wanted = 0
	}
	switch {
	case available < wanted && total < p.o.Max && clock.After(p.retryAt):
		if err := p.spawn(); err != nil {
			p.retryAt = clock.Add(time.Second)
			p.log(err)
		}
	case p.closing:
	case available > p.o.Min && spare != nil && total > p.o.Min:
		spare.leave()
	}
	return p.checkQueue(t, available == 0 && total >= p.o.Max) || busy
}

// blockedByPeer reports whether w waits for a web server to read a response. Its script has
// ended, so another process may run one.
func (w *process) blockedByPeer(ran time.Duration) bool {
	return ran >= stuckAfter && w.state.activeLoop().sent.Load() && w.state.script.Load() != scriptRuns
}

// enforce kills w if its script exceeds a limit that the language should have enforced, or
// if w makes no progress. took is how long w has had its present connection. The caller
// holds p.mu.
func (p *Pool) enforce(w *process, t int64, took time.Duration) {
	if w.killedFor != "" {
		w.killDoomed()
		return
	}
	script := w.state.script.Load() == scriptRuns
	deadline, bytes := w.state.deadline.Load(), w.state.bytes.Load()
	switch {
	case script && deadline != 0 && t > deadline:
		w.killScript(TooLong, 20*busyInterval)
	case script && bytes > 0 && took >= stuckAfter && resident(w.cmd.Process.Pid) > w.idleMemory+bytes+margin:
		w.killScript(TooLarge, busyInterval)
	case w.stuck(t, !script, p.o.Hung):
		w.kill(Hung)
	case took == 0 && w.ready && (w.idleMemory == 0 || w.measured != w.state.served.Load()):
		w.idleMemory, w.measured = resident(w.cmd.Process.Pid), w.state.served.Load()
	}
}

// stuck reports whether a loop of w has made no progress for so long while no script ran. It
// checks the active loop only if active is true.
func (w *process) stuck(t int64, active bool, limit time.Duration) bool {
	for i := range w.state.loops {
		a := &w.state.loops[i]
		if int32(i) == w.state.active.Load() && !active {
			continue
		}
		busy := a.since.Load()
		if busy != 0 && time.Duration(t-busy) > limit && time.Duration(t-a.progress.Load()) > limit {
			return true
		}
	}
	return false
}

// killScript kills w unless its script ends at this moment. Requests that have yielded get
// the time patience to finish first.
func (w *process) killScript(reason Reason, patience time.Duration) {
	if w.state.script.CompareAndSwap(scriptRuns, scriptDoomed) {
		w.killedFor, w.killAt = reason, time.Now().Add(patience)
		w.killDoomed()
	}
}

// killDoomed kills w, whose script is doomed, when it is time.
func (w *process) killDoomed() {
	if !w.killAt.IsZero() && (w.state.yielded() == 0 || !time.Now().Before(w.killAt)) {
		w.killAt = time.Time{}
		w.cmd.Process.Kill()
	}
}

func (w *process) kill(reason Reason) {
	w.killedFor = reason
	w.cmd.Process.Kill()
}
