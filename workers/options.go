//go:build linux

package workers

import (
	"cmp"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Options configure a pool. Command, Listeners and Lost are required. A zero field means the
// default.
type Options struct {
	// Command starts a worker: the program and its arguments. The program must
	// call Inherited, and Serve on the result.
	Command []string
	// Listeners are the listening sockets. Shutdown accepts the connections that
	// wait there if Drain is set. Else it leaves them to the next listener.
	Listeners []*os.File
	Drain     bool

	// Adopted are connections that another process has handed over. Start takes them.
	Adopted []*os.File
	// HandOver, if it is not nil, gives an open connection to the next process. Shutdown calls it for each
	// connection as soon as no request of it is served, instead of closing it; a request that has arrived
	// stays in its socket. HandOver must not keep fd.
	HandOver func(fd int) error

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
	o.Max = min(cmp.Or(o.Max, 16), maxWorkers, maxProcessesAffordable())
	o.Min = min(cmp.Or(o.Min, 2), o.Max)
	o.Waiting = cmp.Or(o.Waiting, 200)
	o.Wait = cmp.Or(o.Wait, 10*time.Second)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.RequestIdle = cmp.Or(o.RequestIdle, 15*time.Second)
	o.RequestTotal = cmp.Or(o.RequestTotal, time.Minute)
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.Spare = cmp.Or(o.Spare, 10*time.Second)
	o.Hung = cmp.Or(o.Hung, 2*time.Minute)
	spare := descriptorLimit() - perProcess*o.Max
	o.refusals = min(256, max(8, spare/16))
	o.descriptors = max(8, spare-2*o.refusals) // a connection that has sent nothing yet needs two
	o.Conns = min(cmp.Or(o.Conns, 1000), maxConns, o.descriptors)
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

// maxProcessesAffordable returns the number of workers for which there are enough
// descriptors, if half of them are for connections.
func maxProcessesAffordable() int { return max(1, descriptorLimit()/(2*perProcess)) }
