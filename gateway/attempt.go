package gateway

import (
	"net/http"
	"time"

	"scripter/httpheader"
	"scripter/login"
	"scripter/outbox"
	"scripter/purge"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// attempt is one run of the scripts of a request, in one transaction. A request that is
// run again gets a new one.
type attempt struct {
	*exchange
	*runner.Run
	target Target
	params *script.Table
	cells  parameters // of params

	waited   time.Duration      // for the writer's lock, before the first piece of sendPartial
	markers  int                // expanded so far
	depth    int                // of pages within pages
	nested   int                // depth of calls of webserver.handler
	fetches  int64              // calls of http.fetch
	ended    bool               // sendPartial has sent the last piece
	private  bool               // only some visitors may have the answer
	around   bool               // callbacks are run around a call of the handler
	fields   []httpheader.Field // added to the response whatever the script returns
	acting   int                // depth of nested actions
	ranged   bool               // the response is a binary, of which the request may want a part
	ownType  bool               // the gateway completes the type of the response
	page     string             // path of the page that is the response; "" = not a page
	routed   routedPage         // the page of a route that is being answered
	problems []problem          // failed markers, logged after the commit
	unlogged int                // failed markers beyond maxProblems
	purges   purge.List         // what is purged from caches after the commit
	visit    *visit             // the session of the visitor; nil: nobody has asked for it
	newVisit bool               // the session was begun now
	tries    []login.Try        // that have failed; counted again if the transaction is undone
	warnings []string           // of log-ins; logged after the commit
	admitted login.Account      // whose password was right, for an object that requires a user
	readOnly bool               // the transaction cannot write
	command  bool               // a command runs scripts, and there is no visitor
	traced   *MarkerTrace       // nil: markers are not traced
	batch    outbox.Batch       // what is done after the commit
}

func (x *exchange) newAttempt(r *runner.Run) *attempt {
	c := &attempt{exchange: x, Run: r}
	if x.replay != nil && x.replay.Markers != nil {
		c.traced = &MarkerTrace{}
	}
	return c
}

// answer finds the action, makes the parameters, runs the trap and the action script, and holds
// the response (specification, 4.3). done is false if it has only made the plan, because the
// request is not ready.
func (c *attempt) answer() (done bool, err error) {
	if err := c.makePlan(); err != nil {
		return true, err
	}
	if c.isAdmin() {
		return false, nil
	}
	if to := c.mapURL(); to != "" {
		return true, c.redirect(to)
	}
	if c.plan.closed && !c.developer() {
		return true, c.refuse()
	}
	if c.out.cors.isPreflight(c.request) {
		return true, c.answerPreflight()
	}
	if c.request.bodyArrived() {
		if err := c.readBody(); err != nil {
			return true, err
		}
	}
	if !c.isReady() {
		return false, nil
	}
	if c.target.Action == "" {
		if c.isFolder() {
			return true, c.redirectAs(http.StatusMovedPermanently, c.withQuery(c.target.Path+"/"))
		}
		return true, &Error{Status: 404, Message: "nothing binds " + quote(c.target.Path) + " to an action"}
	}
	if done, err := c.answerRoute(); done {
		return true, err
	}
	if err := c.begin(); err != nil {
		return true, err
	}
	if err := c.checkForm(); err != nil {
		return true, err
	}
	if err := c.requirePath(); err != nil {
		return true, c.orLogin(err)
	}
	v, err := c.trap()
	if err != nil {
		return true, c.orLogin(err)
	}
	return true, c.reply(v)
}

// begin makes the parameters and starts the thread.
func (c *attempt) begin() error {
	if err := c.makeParams(); err != nil {
		return err
	}
	c.watchSlow()
	c.Start(c.params, c)
	return nil
}

func (c *attempt) makeParams() (err error) {
	c.cells = newParameters(c.exchange, c.target, c.Site(), c.Limits())
	c.params, err = c.cells.table()
	return err
}

// server returns the name in the Server field (specification, 2.2: Set Server Name must equal
// what the web server shows as its name).
func (c *attempt) server() string {
	if s := c.Site().String(site.ServerName); s != "" {
		return s
	}
	if s := c.request.Params["SERVER_SOFTWARE"]; s != "" {
		return s
	}
	return "Scripter"
}
