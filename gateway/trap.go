package gateway

import (
	"scripter/objectdb"
	"scripter/script"
)

// trap gives the request to the script at system.verbs.traps.<serverId>.sdoc
// when Use Script-Based Trap is on (specification, 4.3.5 and 6.1). The
// supplied one calls webserver.handler, which is [call.handle].
func (c *call) trap() (script.Value, error) {
	if c.settings.flag(flScriptTrap) {
		a := c.trapAddress()
		if n, err := c.tx.Find(a); err == nil && n.Kind() == objectdb.KindScript {
			c.r.trace("trap %s", a)
			return c.thread.Run(a, c.params)
		}
		c.r.trace("there is no trap at %s: the built-in route is taken", a)
	}
	return c.handle(c.params)
}

func (c *call) trapAddress() objectdb.Address {
	return objectdb.Address{"system", "verbs", "traps", c.settings.string(serverID), "sdoc"}
}

// handle runs the action of a parameter table, which a trap may have
// changed: the script at user.webserver.actions.<action>, else the object
// that the path names below suites.webserverScripts (specification, 4.3.6).
func (c *call) handle(params *script.Table) (script.Value, error) {
	action := tableText(params, "action")
	if n := c.settings.node("actions", action); n != nil {
		c.r.trace("action script user.webserver.actions.%s", n.Name())
		return c.serve(n, params)
	}
	return c.scripter(params)
}

// tableText gives a text cell of a Lua table, "" when it holds none.
func tableText(t *script.Table, name string) string {
	s, _ := t.Get(name).(string)
	return s
}
