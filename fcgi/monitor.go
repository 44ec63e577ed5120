package fcgi

import "time"

// monitorInterval is how often the monitor checks the connections.
const monitorInterval = 50 * time.Millisecond

// startMonitor starts the monitor unless it runs. It is called when a request begins.
func (s *Server) startMonitor() {
	if !s.monitored.Load() && s.monitored.CompareAndSwap(false, true) {
		go s.monitor()
	}
}

// monitor finds out whether the web servers still wait for the requests that run. It ends
// when no request is open.
func (s *Server) monitor() {
	var conns []*conn
	for {
		time.Sleep(monitorInterval)
		conns = s.snapshot(conns[:0])
		for _, c := range conns {
			c.check()
		}
		clear(conns)
		if s.requests.Load() > 0 {
			continue
		}
		s.monitored.Store(false)
		// A request that has begun meanwhile may have found the monitor running.
		if s.requests.Load() == 0 || !s.monitored.CompareAndSwap(false, true) {
			return
		}
	}
}

// check polls the connection if its request ran at the last check, too.
func (c *conn) check() {
	req := c.running.Load()
	if req != nil && req == c.seen {
		c.poll(req)
	}
	c.seen = req
}
