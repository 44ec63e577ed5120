package gateway

import (
	"time"

	"scripter/runner"
	"scripter/site"
)

// plan is what the settings and tables of the site say of a request.
type plan struct {
	site    *site.Snapshot // that the plan was made of
	target  Target
	chunk   int          // bytes; 0 = in one piece
	maxBody runner.Bound // bytes
	form    formBounds
	closed  bool // connections are refused
	debug   bool // requests are recorded
	quiet   bool // nothing is logged of the request
	verbose bool // one line is logged of the request
}

// makePlan makes the plan of the exchange, unless it was made of the snapshot that the
// transaction sees.
func (c *attempt) makePlan() (err error) {
	s := c.Site()
	if c.plan != nil && c.plan.site == s {
		c.target = c.plan.target
		return nil
	}
	if c.target, err = dispatch(c.request, s); err != nil {
		return err
	}
	c.plan = &plan{
		site: s, target: c.target, maxBody: c.Size(site.MaxBody), form: formBoundsOf(c.Limits()),
		chunk:  int(s.Number(site.ChunkSize) * 1024),
		closed: s.Flag(site.FlRefuseConnections), debug: s.Flag(site.FlDebug),
		quiet: s.Flag(site.FlSuspendLogging), verbose: s.Flag(site.FlVerboseMessages),
	}
	c.out.chunk, c.out.cors = c.plan.chunk, corsOf(c.request, c.target, s)
	if c.g.slots.limitsDue(time.Now()) {
		c.g.slots.setLimits(slotLimitsOf(s))
	}
	return nil
}

// isReady reports whether scripts can run in this transaction: the body has been read, and the
// request recorded if it is to be recorded.
func (x *exchange) isReady() bool {
	return (x.bodyRead || !hasBody(x.request)) && (x.recorded || !x.plan.debug)
}
