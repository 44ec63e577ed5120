//go:build linux

package workers

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Options of a pool. Command, Listeners and Lost are needed, the rest has
// defaults.
type Options struct {
	// Command starts a worker: the program and its arguments. It must call
	// Inherited and Serve what that returns.
	Command []string
	// Listeners are the listening sockets. Shutdown empties their queues if
	// Drain is set; else these are left to whoever listens next.
	Listeners []*os.File
	Drain     bool

	Min int // workers that are free or about to be; default 2
	Max int // workers at most, so many scripts run at once; default 16, at most 64. Those that wait for a peer to take its answer do not count

	// Waiting is how many requests may wait while Max scripts run; default 200.
	// Wait is how long one may; default 10 s. Beyond either it is refused.
	Waiting int
	Wait    time.Duration

	Conns        int           // open connections; default 1000. Above it the longest idle one is closed
	Idle         time.Duration // a kept connection without a request; default 60 s
	RequestIdle  time.Duration // until a request that has begun is there, without progress; default 15 s
	RequestTotal time.Duration // until it is there in any case; default 60 s
	MaxBody      int64         // bytes of a request's body at most; default 16 MB. One with more is refused
	Spare        time.Duration // a worker more than Min without work; default 10 s
	Hung         time.Duration // a process that does nothing where it should; default 2 min

	// Largest is asked what Body is by now, before a request is refused for what
	// it says of its length. Nil means that it stays, until Resize.
	CurrentMaxBody func() int64

	// Lost makes the page, a CGI header with a body, that is sent in place of
	// an answer that a worker did not live to give, and to who is refused.
	Lost func(Loss) []byte
	// Told gets what a worker reports, when it is asked and when it leaves. Nil
	// means nobody does.
	Report func(text []byte)
	// Log is told of what concerns no request. Nil means nobody.
	Log func(err error)

	refusals    int // connections that are refused at a time
	descriptors int // for connections that are not refused, and their files
}

func (o Options) withDefaults() Options {
	number := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	duration := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	number(&o.Min, 2)
	number(&o.Max, 16)
	o.Max = min(o.Max, maxWorkers, maxProcessesAffordable())
	o.Min = min(o.Min, o.Max)
	number(&o.Waiting, 200)
	number(&o.Conns, 1000)
	o.Conns = min(o.Conns, maxConns)
	duration(&o.Wait, 10*time.Second)
	duration(&o.Idle, time.Minute)
	duration(&o.RequestIdle, 15*time.Second)
	duration(&o.RequestTotal, time.Minute)
	duration(&o.Spare, 10*time.Second)
	duration(&o.Hung, 2*time.Minute)
	if o.MaxBody <= 0 {
		o.MaxBody = 16 << 20
	}
	spare := descriptorLimit() - perProcess*o.Max
	o.refusals = min(256, max(8, spare/16))
	o.descriptors = max(8, spare-2*o.refusals) // one that has sent nothing yet takes two
	o.Conns = min(o.Conns, o.descriptors)
	return o
}

// perProcess is how many descriptors this process needs for a worker.
const perProcess = 6

// descriptors returns how many there are for workers and connections, beside
// those that this process and a worker need for themselves.
func descriptorLimit() int {
	const own, plenty = 32, 8 * maxConns
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > plenty {
		return plenty
	}
	return max(0, int(limit.Cur)-own)
}

// mostProcesses is how many workers there are descriptors for, if half of them
// are for connections.
func maxProcessesAffordable() int { return max(1, descriptorLimit()/(2*perProcess)) }
