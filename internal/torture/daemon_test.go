package torture

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// daemon is a scripter-fcgi that is killed, and started again, again and again.
type daemon struct {
	*place
	t     *testing.T
	count *counts

	// epoch is odd while the daemon is killed and started, and another number
	// after each time.
	epoch atomic.Int64

	mu  sync.Mutex
	now *responder
}

func newDaemon(t *testing.T, p *place, c *counts) *daemon {
	return &daemon{place: p, t: t, count: c, now: p.start(t, "unix")}
}

// current returns the daemon that was started last.
func (d *daemon) current() *responder {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// up waits until the daemon is started, and returns its epoch.
func (d *daemon) up(ctx context.Context) int64 {
	for {
		if epoch := d.epoch.Load(); epoch%2 == 0 || !sleep(ctx, 10*time.Millisecond) {
			return epoch
		}
	}
}

// killAgain kills the daemon every few seconds: all its processes at once, the
// first one alone, or one of its children.
func (d *daemon) killAgain(ctx context.Context) {
	random := rand.New(rand.NewSource(4000))
	for sleep(ctx, time.Second+time.Duration(random.Intn(3000))*time.Millisecond) {
		d.epoch.Add(1)
		d.kill(random)
		d.epoch.Add(1)
	}
}

func (d *daemon) kill(random *rand.Rand) {
	pid := d.current().Pid()
	d.count.add("kills of the daemon", 1)
	if workers := children(pid); len(workers) > 0 && random.Intn(2) == 0 {
		d.count.add("kills of a worker", 1)
		syscall.Kill(workers[random.Intn(len(workers))], syscall.SIGKILL)
		time.Sleep(200 * time.Millisecond) // its requests are answered meanwhile
		return
	}
	if random.Intn(2) == 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	} else {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	<-d.current().Done()
	d.check(d.current())
	r := d.start(d.t, "unix")
	d.mu.Lock()
	d.now = r
	d.mu.Unlock()
}

// stop ends the daemon in good order.
func (d *daemon) stop() {
	r := d.current()
	syscall.Kill(r.Pid(), syscall.SIGTERM)
	select {
	case <-r.Done():
	case <-time.After(2 * patience):
		d.count.fault(wrongAnswers, "the daemon does not end after SIGTERM")
	}
	d.check(r)
}

// check looks at what the daemon wrote to its log.
func (d *daemon) check(r *responder) {
	if at := crashes.FindStringIndex(r.Output()); at != nil {
		d.count.fault(wrongAnswers, "the daemon wrote: %.2000s", r.Output()[max(0, at[0]-500):])
	}
}

// children returns the processes that pid has started and that still run.
func children(pid int) []int {
	var list []int
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}
