package script

import (
	"strings"

	"scripter/lua"
)

// A Param describes one argument or result of a verb to people and editors. It
// checks nothing: the accessors of Call do.
type Param struct {
	Name string // "text"; "…" for any number of arguments; a result may have none
	// Type is written as lua-language-server reads it: string, number,
	// integer, boolean, table, any, string[], date, binary, address,
	// "date|nil".
	Type     string
	Optional bool
	Default  string // the value of an optional argument that is not given, as Lua; "" for nil
	Doc      string // what the name and the type do not say; may be empty
}

// Arg returns an argument that must be given.
func Arg(name, kind, doc string) Param { return Param{Name: name, Type: kind, Doc: doc} }

// Opt returns an argument that may be left out; def is its value then.
func Opt(name, kind, def, doc string) Param {
	return Param{Name: name, Type: kind, Optional: true, Default: def, Doc: doc}
}

// Returns describes a verb that has one result, without a name.
func Returns(kind, doc string) []Param { return []Param{{Type: kind, Doc: doc}} }

// Usage returns how the verb is called: `text.pad (text, width [, side = "right"])`.
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

// Source returns the verb's example as a script, which returns the value of an
// expression if the verb has results.
func (v *Verb) Source() string {
	if source := "return " + v.Example; len(v.Results) > 0 && lua.Check(v.Name, source, 0) == nil {
		return source
	}
	return v.Example
}
