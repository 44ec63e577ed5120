package gateway

import (
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/script"
)

// The event that a request is (specification, 6.1), by the names that the
// original gave it: class and id.
const (
	eventClass = "WWWΩ"
	eventID    = "sdoc"
)

// The two actions of the specification (1.2): scripterAction runs the script that
// the path names, macroAction is the one whose script is supplied.
const (
	scripterAction = "SCRIPTER"
	macroAction    = "MACRO"
)

// traps is where the scripts lie that get events.
var traps = objectdb.Address{"system", "verbs", "traps"}

// trap gives the request to the trap of the event, when Use Script-Based Trap
// is on (specification, 4.3.5 and 6.1). The supplied one calls
// webserver.handler, which is [attempt.handle].
func (c *attempt) trap() (script.Value, error) {
	if c.settings.flag(flScriptTrap) {
		if a, ok := c.findTrap(); ok {
			if c.request.Trace != nil {
				c.request.trace("trap %s", a)
			}
			if c.plain().trap {
				return c.handle(c.params)
			}
			return c.Thread.Run(a, c.params)
		}
		c.request.trace("there is no trap at %s: the built-in route is taken", traps.Child(c.settings.serverTable()).Child(eventID))
	}
	return c.handle(c.params)
}

// findTrap looks for the trap as the original did: a script with the event's
// id at the top of the traps; then one in a table of its own, that of the
// server's id (where the specification has it, 2.3), and that of the event's
// class. Names of four letters may be filled up with blanks.
func (c *attempt) findTrap() (a objectdb.Address, ok bool) {
	if r := c.settings.known(); r != nil {
		return r.trap, r.trap != nil
	}
	return findTrap(c.Tx, c.settings)
}

func findTrap(tx *objectdb.Tx, s settings) (a objectdb.Address, ok bool) {
	home, err := tx.Find(traps)
	if err != nil {
		s.note(err)
		return nil, false
	}
	if s.isScript(home, eventID) {
		return traps.Child(eventID), true
	}
	for _, name := range [...]string{s.serverTable(), eventClass} {
		table, err := tx.Child(home, name)
		if n := 4 - utf8.RuneCountInString(name); err != nil && n > 0 {
			name += strings.Repeat(" ", n)
			table, err = tx.Child(home, name)
		}
		if err == nil && table.Kind() == objectdb.KindTable && s.isScript(table, eventID) {
			return objectdb.Address{traps[0], traps[1], traps[2], name, eventID}, true
		}
	}
	return nil, false
}

func (s settings) serverTable() string { return strings.TrimRight(s.string(serverID), " ") }

func (s settings) isScript(table *objectdb.Node, name string) bool {
	n, err := s.tx.Child(table, name)
	s.note(err)
	return err == nil && n.Kind() == objectdb.KindScript
}

// handle runs the action of a parameter table, which a trap may have
// changed: the script at user.webserver.actions.<action>, else the object
// that the path names below suites.webserverScripts (specification, 4.3.6).
// The callbacks of user.webserver stand around it.
func (c *attempt) handle(params *script.Table) (script.Value, error) {
	around := c.nextCallbacks()
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
	if r := c.settings.known(); r != nil {
		switch row, _ := r.action(action); {
		case !row.object:
			return c.scripter(params)
		case row.name == macroAction && c.plain().macro:
			c.request.trace("action script user.webserver.actions.MACRO")
			if err := c.require(actionScripts.Child(row.name)); err != nil {
				return nil, err
			}
			return c.macroPage(params)
		}
	}
	if n := c.settings.node("actions", action); n != nil {
		c.request.trace("action script user.webserver.actions.%s", n.Name())
		a := actionScripts.Child(n.Name())
		if err := c.require(a); err != nil {
			return nil, err
		}
		return c.serve(n, a, params)
	}
	return c.scripter(params)
}

// tableText gives a text cell of a Lua table, "" when it holds none.
func tableText(t *script.Table, name string) string {
	s, _ := t.Get(name).(string)
	return s
}
