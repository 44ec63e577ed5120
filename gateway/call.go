package gateway

import (
	"context"
	"time"

	"scripter/httpheader"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// call is one run of a request inside one transaction. A request that is
// run again gets a new one.
type call struct {
	g        *Gateway
	r        *Request
	a        *answer
	tx       *objectdb.Tx
	settings settings
	tables   actionTables
	target   Target
	limits   limits
	spent    time.Duration // of the time limit, before this run
	bounds   lua.Limits    // what the scripts of this run may use
	ctx      context.Context

	thread *script.Thread
	params *script.Table
	cells  parameters // of params

	waited   time.Duration // for the writer's lock, before the first piece of sendPartial
	written  *spool        // what write has added; nil before
	bodySize bound         // for a body that is still to be read

	markers  int                // expanded so far
	depth    int                // of pages within pages
	nested   int                // calls of webserver.handler within one another
	ended    bool               // sendPartial said that no more follows
	private  bool               // only some visitors may have the answer
	around   bool               // the callbacks stand around a handler already
	fields   []httpheader.Field // added to the response whatever the script returns
	acting   int                // depth of nested actions
	ownType  bool               // the gateway completes the type of the response
	page     string             // path of the page that is the response; "" = not a page
	problems []problem          // failed markers, logged after the commit
	flushes  flushes            // what caches are to forget after the commit
}

func (g *Gateway) newCall(ctx context.Context, tx *objectdb.Tx, r *Request, a *answer) *call {
	s := g.settingsOf(tx)
	c := &call{g: g, r: r, a: a, tx: tx, settings: s, tables: actionTables{s}, ctx: ctx, limits: limits{settings: s}}
	a.chunk = int(s.number(chunkSize) * 1024)
	return c
}

func (c *call) close() {
	if c.thread != nil {
		c.thread.Close()
		c.unguard()
	}
	c.written.close()
}

// run answers the request: parameters, action table, trap, action script,
// response (specification, 4.3).
func (c *call) run() error {
	if c.g.gate.stale(time.Now()) {
		c.g.gate.set(c.settings.gate())
	}
	var err error
	if c.target, err = dispatch(c.r, c.tables); err != nil {
		return err
	}
	c.a.quiet, c.a.verbose = c.settings.flag(flSuspendLogging), c.settings.flag(flVerboseMessages)
	c.a.action = c.target.Action
	c.limits = c.settings.limitsOf(c.answering())
	if c.settings.flag(flRefuseConnections) && !c.developer() {
		return c.refuse()
	}
	if !c.r.bodyRead && hasBody(c.r) {
		c.bodySize = c.limits.size(maxBody)
		if !c.r.bodyArrived() {
			return errNeedBody
		}
		if err := c.r.readBody(c.bodySize); err != nil {
			return err
		}
	}
	if !c.r.kept && c.settings.flag(flDebug) {
		return errNeedKeep
	}
	if c.target.Action == "" {
		return &Error{Status: 404, Message: "nothing binds " + quote(c.target.Path) + " to an action"}
	}
	if err := c.begin(); err != nil {
		return err
	}
	v, err := c.trap()
	if err != nil {
		return err
	}
	return c.reply(v)
}

// begin makes the parameters and the Lua state.
func (c *call) begin() error {
	var err error
	if c.params, err = c.buildParams(); err != nil {
		return err
	}
	c.bounds = c.limits.script()
	c.bounds.Spent, c.bounds.From = c.spent, c.limitFrom
	o := script.ThreadOptions{Tx: c.tx, Limits: c.bounds, Names: c.params, Host: c, Now: c.g.now, Seed: c.r.seed}
	c.watchSlow(&o)
	c.thread = c.g.engine.NewThread(c.ctx, o)
	c.guard()
	return nil
}

func hasBody(r *Request) bool {
	n, err := contentLength(r.Params)
	return n != 0 || err != nil
}

// server is the name in the Server field (specification, 2.2: Set Server
// Name must equal what the web server shows as its name).
func (c *call) server() string {
	if s := c.settings.string(serverName); s != "" {
		return s
	}
	if s := c.r.Params["SERVER_SOFTWARE"]; s != "" {
		return s
	}
	return "Scripter"
}
