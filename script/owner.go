package script

import "scripter/lua"

// owner is a Thread as its Lua state sees it.
type owner Thread

// FunctionName returns the name of a verb.
func (o *owner) FunctionName(f *lua.LFunction) string { return (*Thread)(o).nameOf(f) }

// TypeName returns the name of a table of the root in messages about wrong arguments.
func (o *owner) TypeName(v lua.LValue) string {
	if o := objectOf(v); o != nil {
		return "the table " + o.Label() + " of the root; pairs, next, # and assignment work on it, and odb"
	}
	return ""
}

// Describe returns which object an operand is, or was read from: "a missing object: user.x",
// "a number: user.n".
func (o *owner) Describe(v lua.LValue, from *lua.Source) string {
	t := (*Thread)(o)
	if fn, ok := v.(*lua.LFunction); ok && t.scripts[fn] != nil {
		return "a script: " + t.scripts[fn].Label()
	}
	if from == nil || from.Table == nil {
		return ""
	}
	table := objectOf(t.valueOf(from.Table))
	key, ok := t.valueOf(from.Key).(lua.LString)
	if table == nil || !ok {
		return ""
	}
	what := "a " + v.Type().String()
	if v == lua.LNil {
		what = "a missing object"
	}
	return what + ": " + table.Address().Child(string(key)).String()
}

// valueOf returns the value at a source, nil if it is not known. It reads the
// root and runs nothing.
func (t *Thread) valueOf(s *lua.Source) lua.LValue {
	var v lua.LValue
	var err error
	switch {
	case s.Value != nil:
		return s.Value
	case s.Table != nil:
		o, key := objectOf(t.valueOf(s.Table)), t.valueOf(s.Key)
		if o == nil || key == nil {
			return nil
		}
		v, err = o.cell(key.String())
	default:
		if v = t.rawGlobal(s.Global); v == lua.LNil {
			v, err = t.global(s.Global)
		}
	}
	if err != nil {
		return nil
	}
	return v
}
