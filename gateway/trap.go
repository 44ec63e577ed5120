package gateway

import (
	"fmt"
	"slices"
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

// callbacks are the tables of scripts at user.webserver.callbacks, under the
// names of the CGI Framework. Scripts run in the order of their names; an
// address in such a table stands for the script that lies there.
//
//   - filterRequest (params) may change the parameters. What it returns does
//     not matter, and one that fails is logged and passed over.
//   - handleRequest (params): the first that returns something other than
//     nothing answers the request, in place of the action.
//   - filterPage (params, page) gets the complete response as text and may
//     return another one.
//
// They stand around the outermost webserver.handler of a request only: a
// script that calls the handler again does not meet itself.
type callbacks struct {
	c    *attempt
	home *objectdb.Node // nil: there are none
}

func (c *attempt) nextCallbacks() (callbacks, error) {
	if c.around {
		return callbacks{}, nil
	}
	c.around = true
	if !c.Site().HasCallbacks() {
		return callbacks{}, nil
	}
	home, err := c.Tx.Find(callbackTables)
	return callbacks{c, home}, err
}

// callbackTables is the table of the tables of callbacks.
var callbackTables = objectdb.Address{"user", "webserver", "callbacks"}

// before runs filterRequest and handleRequest. done tells that v is the reply.
func (b callbacks) before(params *script.Table) (v script.Value, done bool, err error) {
	if b.home == nil {
		return nil, false, nil
	}
	for _, a := range b.scripts("filterRequest") {
		if _, err := b.c.Thread.Run(a, params); err != nil {
			if fatal(err) {
				return nil, false, err
			}
			b.c.problems = append(b.c.problems, problem{page: a.String(), err: err})
		}
	}
	for _, a := range b.scripts("handleRequest") {
		v, err := b.c.Thread.Run(a, params)
		if err != nil {
			return nil, false, err
		}
		if v != nil && v != "" {
			b.c.request.trace("answered by %s", a)
			v, err = b.after(params, v)
			return v, true, err
		}
	}
	return nil, false, nil
}

// after gives the reply to filterPage, as the text of a complete response. An
// empty reply, and one of which a part was sent, stays as it is.
func (b callbacks) after(params *script.Table, v script.Value) (script.Value, error) {
	if b.home == nil || b.c.out.started {
		return v, nil
	}
	scripts := b.scripts("filterPage")
	if len(scripts) == 0 {
		return v, nil
	}
	page, err := b.c.responseText(v)
	if err != nil || page == "" {
		return v, err
	}
	for _, a := range scripts {
		v, err := b.c.Thread.Run(a, params, page)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case nil:
		case string:
			page = v
		default:
			return nil, fmt.Errorf("%s returned a %T: it returns the page, or nothing", a, v)
		}
	}
	return page, nil
}

// scripts lists the scripts of one table, in order.
func (b callbacks) scripts(name string) []objectdb.Address {
	table, err := b.c.Tx.Child(b.home, name)
	if err != nil || table.Kind() != objectdb.KindTable {
		return nil
	}
	nodes, err := b.c.Tx.Children(table)
	if err != nil {
		return nil
	}
	var list []objectdb.Address
	for _, n := range nodes {
		switch n.Kind() {
		case objectdb.KindScript:
			list = append(list, callbackTables.Child(table.Name()).Child(n.Name()))
		case objectdb.KindAddress:
			if v, err := b.c.Tx.Value(n); err == nil {
				list = append(list, slices.Clone(v.(objectdb.Address)))
			}
		}
	}
	return list
}

// responseText makes the text of a complete response of what a script wrote
// and returned; "" when there is none.
func (c *attempt) responseText(v script.Value) (string, error) {
	written := c.Output()
	resp, err := c.response(v)
	if err != nil || resp == nil {
		return "", err
	}
	if err := c.completeType(resp, written, false); err != nil {
		return "", err
	}
	c.ownType, c.page = false, "" // the header is complete; the filter may change it
	text, err := nphText(resp)
	if err != nil || written == nil {
		return text, err
	}
	more, err := written.RestText()
	if err != nil {
		return "", err
	}
	return text + more, c.TakeOutput().Close()
}
