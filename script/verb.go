package script

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// A Verb is a function for scripts that is written in Go. Scripts see it as
// system.verbs.builtins.<Name>, and so, through system.paths, by Name.
type Verb struct {
	Name    string  // "html.escape": group and name
	Doc     string  // one or two sentences
	Params  []Param // its arguments; the optional ones come last
	Results []Param // what it returns; nothing for none
	Errors  string  // why it may fail with right arguments, "" if it cannot
	Example string  // an expression, or a script
	Gives   string  // the text of what the example returns or writes

	// Page says that markers in pages may call the verb: it only returns a value that
	// depends on its arguments or the time.
	Page bool

	// Func does the work. An error becomes a Lua error that begins with the
	// verb's name. A panic ends the run, and pcall cannot catch it, because it may
	// have left work half done. Only the log gets its details.
	Func func(*Call) error
}

// A Call is one call of a verb: its arguments and results. It is valid until
// the verb returns. Arguments count from 1. An accessor that finds an argument
// of a wrong kind raises the Lua error that Lua's own functions raise, so a
// verb needs no checks: "bad argument #1 to 'escape' (string expected, got nil)".
type Call struct {
	thread *Thread
	state  *lua.LState
	verb   *Verb
	n      int
}

// verbFunction returns the Lua function of a verb.
func verbFunction(v *Verb) *lua.LFunction {
	return lua.GoFunction(func(L *lua.LState) int {
		t := threadOf(L)
		t.state.Charge(L, verbCharge)
		c, caller := t.call, t.caller
		if c == nil {
			c = new(Call)
		}
		*c = Call{thread: t, state: L, verb: v}
		t.call, t.caller = nil, L
		err := c.do()
		n := c.n
		t.call, t.caller = c, caller
		switch {
		case err == nil:
		case lua.IsPanic(err):
			t.state.Stop(fmt.Errorf("%s: %w", v.Name, err))
		default:
			t.raise(L, v.Name+": ", err)
		}
		if t.state.Err() != nil {
			t.state.RaiseStop(L)
		}
		return n
	})
}

// Function returns a function for scripts that is no verb of the engine: a value among the results of one.
func (v *Verb) Function() *Function { return &Function{fn: verbFunction(v)} }

// verbCharge is the number of instructions that a call of a verb counts as.
const verbCharge = 20

// do calls the verb's function. It returns a panic as an error, and lets Lua
// errors pass, which accessors raise.
func (c *Call) do() (err error) {
	caller := c.thread.caller
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		c.thread.caller = caller
		if e, ok := r.(*lua.ApiError); ok {
			panic(e)
		}
		err = &lua.PanicError{Value: r, Stack: debug.Stack()}
	}()
	return c.verb.Func(c)
}

// Thread returns the thread that calls.
func (c *Call) Thread() *Thread { return c.thread }

// NArgs returns the number of arguments given, nil ones included.
func (c *Call) NArgs() int {
	if c.n > 0 {
		return c.state.GetTop() - c.n
	}
	return c.state.GetTop()
}

func (c *Call) arg(i int) lua.LValue {
	if i > c.NArgs() {
		return lua.LNil
	}
	return c.state.Get(i)
}

// Value returns argument i, nil if it was not given.
func (c *Call) Value(i int) Value { return c.thread.fromLua(c.arg(i)) }

// Bad raises the error for an argument that has the right kind and a wrong
// value: "bad argument #2 to 'left' (length must not be negative)".
func (c *Call) Bad(i int, format string, args ...any) {
	name := c.verb.Name[strings.LastIndexByte(c.verb.Name, '.')+1:]
	c.state.Error(lua.LString(fmt.Sprintf("bad argument #%d to '%s' (%s)", i, name, fmt.Sprintf(format, args...))), 1)
}

func (c *Call) wrong(i int, want string) {
	got := "no value"
	if i <= c.NArgs() {
		got = kindName(c.Value(i))
	}
	c.Bad(i, "%s expected, got %s", want, got)
}

func (c *Call) absent(i int) bool { return c.arg(i) == lua.LNil }

// String returns argument i, a string. It converts a number, as everywhere in
// Lua, and a text or outline.
func (c *Call) String(i int) string {
	switch v := c.arg(i).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return lua.NumberText(float64(v))
	case *lua.LUserData:
		switch v := v.Value.(type) {
		case objectdb.Text:
			return string(v)
		case objectdb.Outline:
			return string(v)
		}
	}
	c.wrong(i, "string")
	return ""
}

// OptString returns argument i as String does, or def if it is nil.
func (c *Call) OptString(i int, def string) string {
	if c.absent(i) {
		return def
	}
	return c.String(i)
}

// Number returns argument i, a number or a string that Lua can convert to one.
func (c *Call) Number(i int) float64 {
	switch v := c.arg(i).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if n, ok := lua.ParseNumber(string(v)); ok {
			return n
		}
	}
	c.wrong(i, "number")
	return 0
}

// Int returns argument i, a number without a fraction.
func (c *Call) Int(i int) int {
	n := c.Number(i)
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		c.Bad(i, "number has no integer representation")
	}
	return int(n)
}

// OptInt returns argument i as Int does, or def if it is nil.
func (c *Call) OptInt(i, def int) int {
	if c.absent(i) {
		return def
	}
	return c.Int(i)
}

// Bool returns argument i, a boolean.
func (c *Call) Bool(i int) bool {
	b, ok := c.arg(i).(lua.LBool)
	if !ok {
		c.wrong(i, "boolean")
	}
	return bool(b)
}

// OptBool returns argument i as Bool does, or def if it is nil.
func (c *Call) OptBool(i int, def bool) bool {
	if c.absent(i) {
		return def
	}
	return c.Bool(i)
}

// Table returns argument i, a Lua table. A table of the root is an *Object:
// see Value.
func (c *Call) Table(i int) *Table {
	tb, ok := c.arg(i).(*lua.LTable)
	if !ok {
		c.wrong(i, "table")
	}
	return c.thread.table(tb)
}

// OptTable returns argument i as Table does, or nil if it is nil.
func (c *Call) OptTable(i int) *Table {
	if c.absent(i) {
		return nil
	}
	return c.Table(i)
}

// Text returns the text of argument i, whatever it is: see Thread.Text.
func (c *Call) Text(i int) string {
	if s, ok := c.arg(i).(lua.LString); ok {
		return string(s)
	}
	s, err := c.thread.Text(c.Value(i))
	if err != nil {
		c.thread.raise(c.state, c.verb.Name+": ", err)
	}
	return s
}

// IsString reports whether argument i is a Lua string, without making a Value of it.
func (c *Call) IsString(i int) bool {
	_, ok := c.arg(i).(lua.LString)
	return ok
}

// ReturnText is Return of one text, without making a Value of it.
func (c *Call) ReturnText(s string) {
	c.Return()
	c.thread.state.CheckLength(c.state, len(s))
	c.state.Push(lua.LString(s))
	c.n = 1
}

// Charge counts n steps of work as instructions of the script. It raises an error
// if the run has exceeded a limit: of instructions, time or memory. A verb that
// makes many values calls it with one step at least for each value, because nothing
// else stops the verb before it returns.
func (c *Call) Charge(n int) { c.thread.state.Charge(c.state, n) }

// Return sets the results of the call; a later Return replaces them. A string that
// is longer than its limit raises an error.
func (c *Call) Return(v ...Value) {
	if c.n > 0 {
		c.state.Pop(c.n)
		c.n = 0
	}
	for _, v := range v {
		if s, ok := v.(string); ok {
			c.thread.state.CheckLength(c.state, len(s))
		}
		c.state.Push(c.thread.toLua(v))
		c.n++
	}
}

// Item returns argument i as the item of a list of the root, in which tables are records. It raises
// an error for what cannot be stored.
func (c *Call) Item(i int) objectdb.Value {
	s := storing{t: c.thread, L: c.state}
	at := func() objectdb.Address { return objectdb.Address{fmt.Sprint("argument ", i)} }
	v, err := s.item(c.arg(i), at, 0)
	if refused := new(assignError); errors.As(err, &refused) {
		c.Bad(i, "%s", refused.reason)
	}
	if err != nil {
		c.thread.raise(c.state, c.verb.Name+": ", err)
	}
	return v
}
