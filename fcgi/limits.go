package fcgi

import "time"

// Limits limit what a peer can occupy. A zero field means the default.
type Limits struct {
	Conns      int // open connections; default 1000. Above it the longest idle one is closed
	Requests   int // requests open at a time; default Conns. Above it: FCGI_OVERLOADED
	ParamBytes int // bytes of parameters; default 256 kB. Above it: status 431
	ParamCount int // number of parameters; default 1000. Above it: status 431

	Idle     time.Duration // a kept connection without a request; default 60 s
	Params   time.Duration // from FCGI_BEGIN_REQUEST to the last parameter; default 30 s
	BodyIdle time.Duration // between two pieces of a body; default 15 s
	Body     time.Duration // until the end of a body; default 60 s
	Write    time.Duration // until the web server has read a piece of a response; default 30 s
}

func (l Limits) withDefaults() Limits {
	l.Conns = orInt(l.Conns, 1000)
	l.Requests = orInt(l.Requests, l.Conns)
	l.ParamBytes = orInt(l.ParamBytes, 256<<10)
	l.ParamCount = orInt(l.ParamCount, 1000)
	l.Idle = orTime(l.Idle, 60*time.Second)
	l.Params = orTime(l.Params, 30*time.Second)
	l.BodyIdle = orTime(l.BodyIdle, 15*time.Second)
	l.Body = orTime(l.Body, 60*time.Second)
	l.Write = orTime(l.Write, 30*time.Second)
	return l
}

func orInt(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

func orTime(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
