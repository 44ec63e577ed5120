package fcgi

import (
	"cmp"
	"time"
)

// Limits limit what a peer can occupy. A zero field means the default.
type Limits struct {
	Conns      int // open connections; default 1000. Above it the longest idle one is closed
	Requests   int // requests open at a time; default Conns. Above it: FCGI_OVERLOADED
	ParamBytes int // bytes of parameters; default 256 kB. Above it: status 431
	ParamCount int // number of parameters; default 1000. Above it: status 431

	Idle     time.Duration // an open connection without a request; default 60 s
	Params   time.Duration // from FCGI_BEGIN_REQUEST to the last parameter; default 30 s
	BodyIdle time.Duration // between two pieces of a body; default 15 s
	Body     time.Duration // until the end of a body; default 60 s
	Write    time.Duration // until the web server has read a piece of a response; default 30 s
}

func (l Limits) withDefaults() Limits {
	l.Conns = cmp.Or(l.Conns, 1000)
	l.Requests = cmp.Or(l.Requests, l.Conns)
	l.ParamBytes = cmp.Or(l.ParamBytes, 256<<10)
	l.ParamCount = cmp.Or(l.ParamCount, 1000)
	l.Idle = cmp.Or(l.Idle, 60*time.Second)
	l.Params = cmp.Or(l.Params, 30*time.Second)
	l.BodyIdle = cmp.Or(l.BodyIdle, 15*time.Second)
	l.Body = cmp.Or(l.Body, 60*time.Second)
	l.Write = cmp.Or(l.Write, 30*time.Second)
	return l
}
