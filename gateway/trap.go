package gateway

import (
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// The actions of the specification (1.2): SCRIPTER runs the script that the path names,
// MACRO expands the markers of a page.
const (
	scripterAction = "SCRIPTER"
	macroAction    = "MACRO"
)

// trap runs the trap if Use Script-Based Trap is on (specification, 4.3.5 and 6.1), else the
// handler. The supplied trap calls webserver.handler, which is [attempt.handle].
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

// handle runs the callbacks, and between them the action of a parameter table, which a trap
// may have changed.
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

// runAction runs the action of a parameter table: the script at
// user.webserver.actions.<action>, else what the route names, else the object that the path
// names below suites.webserverScripts (specification, 4.3.6).
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
	switch {
	case a != nil:
		return c.runActionObject(a, params)
	case strings.EqualFold(action, routeAction):
		return c.runRoute(params)
	}
	return c.scripter(params)
}

// runMacro runs the script of the action MACRO, or what it does if there is none.
func (c *attempt) runMacro(params *script.Table) (script.Value, error) {
	if a := c.actionObject(macroAction); a != nil {
		return c.runActionObject(a, params)
	}
	return c.macroPage(params)
}

// runActionObject runs the object in user.webserver.actions that answers for an action.
func (c *attempt) runActionObject(a objectdb.Address, params *script.Table) (script.Value, error) {
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

// tableText returns the text in a cell of a Lua table, or "" if the cell holds no text.
func tableText(t *script.Table, name string) string {
	s, _ := t.Get(name).(string)
	return s
}

// callbacks are the scripts in the tables of user.webserver.callbacks, which have the names of
// the CGI Framework. The scripts of a table run in the order of their names. An address in
// such a table stands for the script at this address.
//
//   - filterRequest (params) may change the parameters. Its result is ignored. If it fails,
//     the error is logged and the request goes on.
//   - handleRequest (params) may answer the request in place of the action: the first result
//     that is neither nil nor "" is the answer.
//   - filterPage (params, page) gets the complete response as text and may return another
//     one.
//
// Only the outermost webserver.handler of a request runs callbacks, so a callback may call
// webserver.handler.
type callbacks struct {
	c    *attempt
	home *objectdb.Node // the table of their tables; nil: there are no callbacks
}

// nextCallbacks returns the callbacks of a call of the handler: none if another call of it is
// running.
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

// before runs filterRequest and handleRequest. If done is true, v is the reply.
func (b callbacks) before(params *script.Table) (v script.Value, done bool, err error) {
	if b.home == nil {
		return nil, false, nil
	}
	for _, a := range b.scripts("filterRequest") {
		if _, err := b.c.Thread.Run(a, params); err != nil {
			if isFatal(err) {
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

// after passes the reply through the filterPage scripts, as the text of a complete response.
// A reply that is empty, or of which a part was sent, is not changed.
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

// scripts returns the addresses of the scripts of one table, in the order of their names.
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

// responseText returns the complete response that is made of what a script wrote and
// returned, as text; "" if there is none.
func (c *attempt) responseText(v script.Value) (string, error) {
	written := c.Output()
	resp, err := c.response(v)
	if err != nil || resp == nil {
		return "", err
	}
	if err := c.completeType(resp, written, false); err != nil {
		return "", err
	}
	c.ownType, c.page = false, "" // the type is complete now; a filter may change it
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
