//go:build linux

package workers

import "time"

const (
	// lookBusy is how often the master looks at its workers while they work,
	// lookIdle how often else.
	lookBusy = 5 * time.Millisecond
	lookIdle = 50 * time.Millisecond
	// calmAfter is when the master stops looking: workers tell it.
	calmAfter = time.Second
	// stuckAfter is how long a request may run before its worker is no longer
	// counted among those that take new ones soon. An ordinary request on a
	// crowded machine should not make the pool grow.
	stuckAfter = 20 * time.Millisecond
	// overrun is the part of its time limit by which a script may overrun it, and
	// margin how much its process may grow beyond its memory limit, before the
	// process is killed: the language measures the same more exactly, but cannot
	// stop a single operation. What is promised is a quarter and 64 MB; the rest is
	// for what happens between two looks.
	overrun = 5
	margin  = 48 << 20
)

// watch looks after everything that must happen in time.
func (p *Pool) watch() {
	timer := time.NewTimer(lookIdle)
	defer timer.Stop()
	swept := time.Now()
	for {
		select {
		case <-p.done:
			return
		case <-p.changed:
		case <-timer.C:
		}
		p.mu.Lock()
		p.mem.asleep.Store(false)
		t := time.Now()
		if t.Sub(swept) >= sweepEvery {
			swept = t
			p.sweep()
		}
		next := p.pause(t, p.lookAround())
		p.mu.Unlock()
		timer.Reset(next)
	}
}

// pause returns how long the master may look away.
func (p *Pool) pause(t time.Time, busy bool) time.Duration {
	if busy {
		p.since = t
		return lookBusy
	}
	if t.Sub(p.since) < calmAfter {
		return lookIdle
	}
	p.restMaster()
	// Who begins something from now on wakes the master; what was begun before
	// is seen here.
	p.mem.asleep.Store(true)
	for _, w := range p.processes {
		if w != nil && (!w.ready || !w.rec.idle()) {
			p.mem.asleep.Store(false)
			return lookIdle
		}
	}
	return sweepEvery
}

// lookAround enforces the limits of the workers and sees that there are enough
// of them. It reports whether anything is at work. p.mu is held.
func (p *Pool) lookAround() (busy bool) {
	t, clock := now(), time.Now()
	total, available := 0, 0
	var spare *process
	for _, w := range p.processes {
		if w == nil {
			continue
		}
		begun, served := w.rec.current().busy.Load(), w.rec.served.Load()
		took := time.Duration(0)
		if begun != 0 {
			took = time.Duration(t - begun)
		}
		if begun != 0 || served != w.served {
			w.served, w.active, busy = served, clock, true
		}
		p.enforce(w, t, took)
		if begun == 0 && w.ready && clock.Sub(w.active) >= restAfter {
			w.restIfWorth()
		}
		if w.leaving || w.stale || w.killed != "" {
			continue
		}
		if !w.sending(took) {
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
	case p.closing && p.needed:
		wanted = 1
	case p.closing:
		wanted = 0
	}
	switch {
	case available < wanted && total < p.o.Max && clock.After(p.resume):
		if err := p.spawn(); err != nil {
			p.resume = clock.Add(time.Second)
			p.log(err)
		}
	case p.closing:
	case available > p.o.Min && spare != nil && total > p.o.Min:
		spare.leave()
	}
	return p.queue(t, available == 0 && total >= p.o.Max) || busy
}

// sending tells whether w is held up by a peer that does not take its answer.
// Its script has ended, so another process may run one in its place.
func (w *process) sending(ran time.Duration) bool {
	return ran >= stuckAfter && w.rec.current().sent.Load() && w.rec.script.Load() != scriptRuns
}

// enforce kills w when its script has overrun a limit that the language should
// have kept, or when it does nothing any more. Took is how long it has been at
// its present connection. p.mu is held.
func (p *Pool) enforce(w *process, t int64, took time.Duration) {
	if w.killed != "" {
		w.finish()
		return
	}
	script := w.rec.script.Load() == scriptRuns
	deadline, bytes := w.rec.deadline.Load(), w.rec.bytes.Load()
	switch {
	case script && deadline != 0 && t > deadline:
		w.killScript(TooLong, 20*lookBusy)
	case script && bytes > 0 && took >= stuckAfter && resident(w.cmd.Process.Pid) > w.idle+bytes+margin:
		w.killScript(TooLarge, lookBusy)
	case w.hangs(t, !script, p.o.Hung):
		w.kill(Hung)
	case took == 0 && w.ready && (w.idle == 0 || w.measured != w.rec.served.Load()):
		w.idle, w.measured = resident(w.cmd.Process.Pid), w.rec.served.Load()
	}
}

// hangs tells whether a loop of w has done nothing for so long, where no script
// runs; the one that takes events is only asked where alone is true.
func (w *process) hangs(t int64, alone bool, so time.Duration) bool {
	for i := range w.rec.turns {
		turn := &w.rec.turns[i]
		if int32(i) == w.rec.loop.Load() && !alone {
			continue
		}
		busy := turn.busy.Load()
		if busy != 0 && time.Duration(t-busy) > so && time.Duration(t-turn.progress.Load()) > so {
			return true
		}
	}
	return false
}

// killScript kills w unless its script ends at this moment. Requests that have
// stepped aside are given so long to be answered first.
func (w *process) killScript(reason Reason, patience time.Duration) {
	if w.rec.script.CompareAndSwap(scriptRuns, scriptDoomed) {
		w.killed, w.killBy = reason, time.Now().Add(patience)
		w.finish()
	}
}

// finish kills w, which is doomed, when it is time.
func (w *process) finish() {
	if !w.killBy.IsZero() && (w.rec.others() == 0 || !time.Now().Before(w.killBy)) {
		w.killBy = time.Time{}
		w.cmd.Process.Kill()
	}
}

func (w *process) kill(reason Reason) {
	w.killed = reason
	w.cmd.Process.Kill()
}
