//go:build linux

package workers

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Options configure a pool. Command, Listeners and Lost are required.
type Options struct {
	// Command starts a worker: the program and its arguments. The program must
	// call Inherited, and Serve on the result.
	Command []string
	// Listeners are the listening sockets. Shutdown accepts the connections that
	// wait there if Drain is set. Else it leaves them to the next listener.
	Listeners []*os.File
	Drain     bool

	Min int // free workers to keep; default 2
	// Max is how many scripts run at a time; default 16, at most 64. Workers that
	// wait for a web server to read a response do not count.
	Max int

	// Waiting is how many requests may wait while Max scripts run; default 200.
	// Wait is how long a request may wait; default 10 s. The pool refuses others.
	Waiting int
	Wait    time.Duration

	Conns        int           // open connections; default 1000. The pool then closes the longest idle one
	Idle         time.Duration // how long a connection may be without a request; default 60 s
	RequestIdle  time.Duration // how long a request may arrive without progress; default 15 s
	RequestTotal time.Duration // how long a request may arrive in all; default 60 s
	MaxBody      int64         // bytes of a body; default 16 MB. The pool refuses longer ones
	Spare        time.Duration // how long a worker beyond Min may be without work; default 10 s
	Hung         time.Duration // how long a worker may make no progress; default 2 min

	// CurrentMaxBody returns the present MaxBody. The pool calls it before it
	// refuses a request for its length. Nil: MaxBody changes only by Resize.
	CurrentMaxBody func() int64

	// Lost returns the page, a CGI header and a body, that the pool sends if no
	// worker answers a request.
	Lost func(Loss) []byte
	// Report gets the reports of workers, after Ask and when they end. It may be nil.
	Report func(text []byte)
	// Log gets errors that concern no request. It may be nil.
	Log func(err error)

	refusals    int // connections that are refused at the same time
	descriptors int // for the other connections and their files
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
	o.descriptors = max(8, spare-2*o.refusals) // a connection that has sent nothing yet needs two
	o.Conns = min(o.Conns, o.descriptors)
	return o
}

// perProcess is how many descriptors the master needs for a worker.
const perProcess = 6

// descriptorLimit returns how many descriptors there are for workers and connections,
// without those that a process needs for itself.
func descriptorLimit() int {
	const own, enough = 32, 8 * maxConns
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > enough {
		return enough
	}
	return max(0, int(limit.Cur)-own)
}

// maxProcessesAffordable returns for how many workers there are descriptors, if half of them
// are for connections.
func maxProcessesAffordable() int { return max(1, descriptorLimit()/(2*perProcess)) }
