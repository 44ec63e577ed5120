package script

import (
	"errors"

	"scripter/lua"
	"scripter/objectdb"
)

// RootTable returns argument i, a table of the root or the address of one. If nothing is there, it returns nil, or
// makes the table if makes is true. It raises an error for anything else.
func (c *Call) RootTable(i int, makes bool) *Object {
	if _, ok := c.arg(i).(*lua.LTable); ok {
		c.Bad(i, "table of the root expected, got a Lua table")
	}
	a := c.Address(i)
	if len(a) == 0 {
		c.Bad(i, "the root itself cannot be used here")
	}
	var o *Object
	var err error
	if makes {
		o, err = c.TableAt(a)
	} else {
		o, err = c.thread.at(a)
	}
	if errors.Is(err, ErrNotScript) || errors.Is(err, objectdb.ErrNotTable) || o != nil && o.Kind() != objectdb.KindTable {
		c.Bad(i, "%s is no table", a)
	}
	if err == nil && o != nil && o.node == nil {
		c.Bad(i, "%s is a table of verbs", a)
	}
	if err != nil {
		c.thread.raise(c.state, c.verb.Name+": ", err)
	}
	return o
}

// Address returns argument i, an address: a string, an address value, or the table or script itself.
func (c *Call) Address(i int) objectdb.Address {
	switch v := c.Value(i).(type) {
	case string:
		a, err := objectdb.ParseAddress(v)
		if err != nil {
			c.thread.raise(c.state, c.verb.Name+": ", err)
		}
		return a
	case objectdb.Address:
		return v
	case *Object:
		return v.Address()
	}
	c.wrong(i, "address")
	return nil
}

// AddressBelow returns argument i as Address does, with the arguments after it, if any, as names below it,
// whatever characters they have.
func (c *Call) AddressBelow(i int) objectdb.Address {
	a := c.Address(i)
	for i++; i <= c.NArgs(); i++ {
		a = a.Child(checkName(c.state, i, c.arg(i)))
	}
	return a
}

// TableAt returns the table at an address, which is made if there is nothing.
func (c *Call) TableAt(a objectdb.Address) (*Object, error) { return c.thread.tableAt(a) }

// Store stores a value under name in a table of the root, as an assignment in a script does. nil deletes.
func (c *Call) Store(o *Object, name string, v Value) error {
	if err := o.assign(c.state, name, c.thread.toLua(v)); err != nil {
		return o.because("set", lua.LString(name), err)
	}
	return nil
}

// Child returns the object of a node that was found in the table.
func (o *Object) Child(n *objectdb.Node) *Object { return o.thread.object(o, n, nil) }

// Changed tells the thread that a verb has written to the root by the transaction, so that it looks names up anew.
func (t *Thread) Changed() { t.forget() }
