//go:build linux

package workers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// process is a worker in the records of the master.
type process struct {
	index      int
	cmd        *exec.Cmd
	ch         *channel
	parking    parking
	state      *workerState
	started    time.Time
	ready      bool
	stale      bool // to be replaced
	leaving    bool
	killedFor  Reason
	killAt     time.Time // the latest time to kill it; zero: it was killed, or need not be
	idleMemory int64     // memory when it was last idle, bytes
	served     int64     // requests at the last check
	measured   int64     // served when idleMemory was measured
	freedAt    int64     // served when freeIfGrown last looked
	baseMemory int64     // memory after it was last returned, bytes
	freeing    bool      // it was told to return memory
	checks     int
	silent     int // checks since it was asked for a report; 0: it has sent one
	active     time.Time
	reported   chan struct{} // it has sent a report
	gone       chan struct{} // closed when its channel is
}

// spawn starts a worker. The caller holds p.mu.
func (p *Pool) spawn() error {
	index := slices.Index(p.processes[:], nil)
	if index < 0 {
		return nil // too many are being replaced: supervise tries again
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "channel"), os.NewFile(uintptr(fds[1]), "channel")
	defer theirs.Close()
	park, err := newParking()
	if err != nil {
		ours.Close()
		return fmt.Errorf("start a worker: %w", err)
	}
	in, out := os.NewFile(uintptr(park.in), "parking"), os.NewFile(uintptr(park.out), "parking")
	w := &process{
		index: index, state: &p.mem.workers[index], parking: park, started: time.Now(), active: time.Now(),
		reported: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	w.state.reset()
	w.cmd = exec.Command(p.o.Command[0], p.o.Command[1:]...)
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", environment, index, len(p.listeners)))
	w.cmd.Stderr = os.Stderr
	w.cmd.ExtraFiles = append([]*os.File{theirs, p.memFile, in, out}, p.listeners...)
	err = startWithSlack(w.cmd)
	if err == nil {
		if w.ch, err = newChannel(ours, p.descriptor); err != nil {
			w.cmd.Process.Kill()
			go w.cmd.Wait()
		}
	}
	if err != nil {
		ours.Close()
		in.Close()
		out.Close()
		return fmt.Errorf("start a worker: %w", err)
	}
	p.processes[index] = w
	for slot, c := range p.conns {
		if c != nil {
			w.ch.enqueue(message{kind: msgOpen, slot: int32(slot), gen: c.gen})
		}
	}
	if p.closing {
		w.ch.enqueue(message{kind: msgStopAccepting})
	}
	go p.receiveReports(w, in, out)
	return nil
}

// descriptor returns duplicates of a connection's descriptor and of its file's, which is 0
// if there is none. It returns connectionGone if the connection has ended, and noDescriptor
// if no descriptor is left.
func (p *Pool) descriptor(slot int32, gen uint32) (fd, file int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conns[slot]
	if c == nil || c.gen != gen {
		return connectionGone, 0
	}
	if fd = duplicate(c.fd); fd > 0 && c.file != nil {
		if file = duplicate(int(c.file.Fd())); file == 0 {
			unix.Close(fd)
			fd = 0
		}
	}
	if fd == 0 {
		p.evict()
		return noDescriptor, 0
	}
	return fd, file
}

// Returned instead of a descriptor.
const (
	connectionGone = -1
	noDescriptor   = -2
)

// openAgain sends w a connection again, for which w had no descriptor.
func (p *Pool) openAgain(w *process, m message) {
	p.mu.Lock()
	p.evict()
	p.mu.Unlock()
	again := message{kind: msgOpen, slot: m.slot, gen: m.gen}
	time.AfterFunc(descriptorRetry, func() { w.ch.enqueue(again) })
}

// descriptorRetry is how long a process waits for a descriptor before it tries again.
const descriptorRetry = 20 * time.Millisecond

// duplicate returns another descriptor of the same file, or 0 if there is none left.
func duplicate(fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	return n
}

// receiveReports handles the messages of the worker w, until w is gone.
func (p *Pool) receiveReports(w *process, in, out *os.File) {
	buf := make([]byte, maxMessage)
	for {
		m, err := w.ch.receive(buf)
		if err != nil {
			break
		}
		switch m.kind {
		case msgNew:
			p.share(m.fd, m.slot == spoolRequest)
		case msgGone:
			p.forget(m.slot, m.gen)
		case msgSpool:
			p.spoolFor(m.slot, m.gen)
		case msgFileRead:
			p.fileRead(m.slot, m.gen)
		case msgReopen:
			p.openAgain(w, m)
		case msgNoDescriptor:
			p.mu.Lock()
			p.evict()
			p.mu.Unlock()
		case msgWake:
			p.wakeSupervisor()
		case msgReported:
			if p.o.Report != nil {
				p.o.Report(m.text)
			}
			p.mu.Lock()
			w.silent = 0
			p.mu.Unlock()
			select {
			case w.reported <- struct{}{}:
			default:
			}
		case msgReady:
			p.nowReady(w)
		case msgFreeMemory:
			p.memoryFreed(w)
		}
	}
	close(w.gone)
	slow := time.AfterFunc(endTime, func() { w.cmd.Process.Kill() })
	err := w.cmd.Wait()
	slow.Stop()
	w.ch.close()
	p.died(w, err)
	in.Close()
	out.Close()
}

// endTime is how long a worker may take to end after it closed its channel.
const endTime = 10 * time.Second

func (p *Pool) nowReady(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.ready = true
	p.failures = 0
	ready := 0
	for _, w := range p.processes {
		if w != nil && w.ready && !w.stale && !w.leaving {
			ready++
		}
	}
	if ready < p.o.Min {
		return
	}
	for _, w := range p.processes {
		if w != nil && w.stale {
			w.leave()
		}
	}
}

func (w *process) leave() {
	if !w.leaving {
		w.leaving = true
		w.ch.enqueue(message{kind: msgLeave})
	}
}

// died cleans up after a worker.
func (p *Pool) died(w *process, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.processes[w.index] = nil
	if !w.leaving {
		p.replaced++
	}
	p.answerFor(w, err)
	for _, other := range p.processes {
		if other != nil {
			other.ch.enqueue(message{kind: msgRecheck})
		}
	}
	switch {
	case !w.state.ready.Load() && !p.dismissed:
		p.failures++
		wait := min(50*time.Millisecond<<min(p.failures, 8), 5*time.Second)
		p.retryAt = time.Now().Add(wait)
		p.log(fmt.Errorf("a worker ended before it was ready, the next one is started in %v: %w", wait, ended(err)))
	case err != nil && w.killedFor == "" && w.state.idle():
		p.log(fmt.Errorf("worker %d ended by itself: %w", w.cmd.Process.Pid, err))
	}
	p.checkDone()
	p.wakeSupervisor()
}

func ended(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
