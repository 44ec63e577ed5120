package gateway

import (
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// The two actions of the specification (1.2): scripterAction runs the script that
// the path names, macroAction is the one whose script is supplied.
const (
	scripterAction = "SCRIPTER"
	macroAction    = "MACRO"
)

// trap gives the request to the trap of the event, when Use Script-Based Trap
// is on (specification, 4.3.5 and 6.1). The supplied one calls
// webserver.handler, which is [attempt.handle].
func (c *attempt) trap() (script.Value, error) {
	if c.Site().Flag(site.FlScriptTrap) {
		if a, ok := c.Site().Trap(); ok {
			if c.request.Trace != nil {
				c.request.trace("trap %s", a)
			}
			if c.supplied().trap {
				return c.handle(c.params)
			}
			return c.Thread.Run(a, c.params)
		}
		c.request.trace("there is no trap at %s: the built-in route is taken", c.Site().TrapAddress())
	}
	return c.handle(c.params)
}

// handle runs the action of a parameter table, which a trap may have
// changed: the script at user.webserver.actions.<action>, else the object
// that the path names below suites.webserverScripts (specification, 4.3.6).
// The callbacks of user.webserver stand around it.
func (c *attempt) handle(params *script.Table) (script.Value, error) {
	around, err := c.nextCallbacks()
	if err != nil {
		return nil, err
	}
	if v, done, err := around.before(params); done || err != nil {
		return v, err
	}
	v, err := c.runAction(params)
	if err != nil {
		return nil, err
	}
	return around.after(params, v)
}

func (c *attempt) runAction(params *script.Table) (script.Value, error) {
	action := tableText(params, "action")
	c.acting++
	defer func() { c.acting-- }()
	if c.acting == 1 {
		c.ownType, c.page = false, ""
		if strings.EqualFold(action, macroAction) {
			c.ownType, c.page = true, tableText(params, "scriptName")
		}
	}
	a := c.actionObject(action)
	if a == nil {
		return c.scripter(params)
	}
	c.request.trace("action script %s", a)
	if err := c.require(a); err != nil {
		return nil, err
	}
	if a.Name() == macroAction && c.supplied().macro {
		return c.macroPage(params)
	}
	n, err := c.Tx.Find(a)
	if err != nil {
		return nil, err
	}
	return c.serve(n, a, params)
}

// actionObject returns the address of the object that answers for an action, or nil.
func (c *attempt) actionObject(name string) objectdb.Address {
	a, _ := c.Site().Action(name)
	return a.Object
}

// tableText gives a text cell of a Lua table, "" when it holds none.
func tableText(t *script.Table, name string) string {
	s, _ := t.Get(name).(string)
	return s
}
