package gateway

import (
	"time"
)

// plan is what the site says of a request before anything is run for it.
type plan struct {
	site    *rules // the snapshot that the plan was made of; nil: none
	target  Target
	chunk   int   // bytes; 0 = in one piece
	maxBody bound // bytes
	closed  bool  // connections are refused
	debug   bool  // requests are recorded
	quiet   bool  // nothing is logged of the request
	verbose bool  // one line is logged of the request
}

// makePlan takes over the plan of the exchange if it was made of the snapshot that the
// transaction sees, and makes a new one otherwise.
func (c *attempt) makePlan() error {
	if site := c.settings.known(); c.plan == nil || site == nil || c.plan.site != site {
		target, err := dispatch(c.request, c.tables)
		if err != nil {
			return err
		}
		s := c.settings
		c.plan = &plan{
			site: site, target: target,
			maxBody: s.limitsFor(target).size(maxBody), chunk: int(s.number(chunkSize) * 1024),
			closed: s.flag(flRefuseConnections), debug: s.flag(flDebug), quiet: s.flag(flSuspendLogging), verbose: s.flag(flVerboseMessages),
		}
		c.out.chunk = c.plan.chunk
		if c.g.gate.stale(time.Now()) {
			c.g.gate.set(s.gate())
		}
	}
	c.target = c.plan.target
	c.limits = c.settings.limitsFor(c.target)
	return nil
}

// isReady reports whether nothing is to be done before scripts run: no body to be read
// and no request to be recorded, neither of which happens inside a transaction.
func (x *exchange) isReady() bool {
	return (x.bodyRead || !hasBody(x.request)) && (x.recorded || !x.plan.debug)
}
