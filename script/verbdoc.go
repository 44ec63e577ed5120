package script

import "scripter/lua"

import "strings"

// A Param is one argument or result of a verb, for everything that tells
// people and editors about verbs. Nothing is checked by it: that is done by
// the accessors of Call.
type Param struct {
	Name string // "text"; "…" for any number of arguments; a result may have none
	// Type is written as lua-language-server reads it: string, number,
	// integer, boolean, table, any, string[], date, binary, address,
	// "date|nil".
	Type     string
	Optional bool
	Default  string // what an optional argument is when it is not given, as Lua; "" for nil
	Doc      string // what the name and the type do not tell; may be empty
}

// Arg returns an argument that must be given.
func Arg(name, kind, doc string) Param { return Param{Name: name, Type: kind, Doc: doc} }

// Opt returns an argument that may be left out; def is what it is then.
func Opt(name, kind, def, doc string) Param {
	return Param{Name: name, Type: kind, Optional: true, Default: def, Doc: doc}
}

// Returns describes a verb that has one result, without a name.
func Returns(kind, doc string) []Param { return []Param{{Type: kind, Doc: doc}} }

// Usage is how the verb is called: `text.pad (text, width [, side = "right"])`.
func (v *Verb) Usage() string {
	var b strings.Builder
	b.WriteString(v.Name + " (")
	open := 0
	for i, p := range v.Params {
		comma := ", "
		if i == 0 {
			comma = ""
		}
		switch {
		case p.Optional && i > 0:
			b.WriteString(" [" + comma)
			open++
		case p.Optional:
			b.WriteString("[")
			open++
		default:
			b.WriteString(comma)
		}
		b.WriteString(p.Name)
		if p.Default != "" {
			b.WriteString(" = " + p.Default)
		}
	}
	b.WriteString(strings.Repeat("]", open) + ")")
	return b.String()
}

// Source is the verb's example as a script: an expression is returned, if the
// verb returns anything.
func (v *Verb) Source() string {
	if source := "return " + v.Example; len(v.Results) > 0 && lua.Check(v.Name, source, 0) == nil {
		return source
	}
	return v.Example
}
