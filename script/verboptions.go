package script

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Options are the named cells of the table that is the last argument of a verb. The accessors raise an
// error that names the cell when it is of a wrong kind.
type Options struct {
	call  *Call
	i     int
	table *Table // nil for none
}

// Options returns argument i, a table that may be left out. It raises an error for a cell whose name is
// not one of those given, so that a misspelt name is not passed over.
func (c *Call) Options(i int, names ...string) Options {
	o := Options{c, i, c.OptTable(i)}
	if o.table == nil {
		return o
	}
	o.table.Each(func(k, _ Value) bool {
		if name, ok := k.(string); !ok || !slices.Contains(names, name) {
			c.Bad(i, "there is no option %v; the options are %s", k, strings.Join(names, ", "))
		}
		return true
	})
	return o
}

// get returns the value of an option, nil if it is not given.
func (o Options) get(name string) Value {
	if o.table == nil {
		return nil
	}
	return o.table.Get(name)
}

func (o Options) wrong(name, want string, got Value) {
	o.call.Bad(o.i, "%s expected for %s, got %s", want, name, kindName(got))
}

// Bool returns an option that is true or false, and def if it is not given.
func (o Options) Bool(name string, def bool) bool {
	switch v := o.get(name).(type) {
	case nil:
		return def
	case bool:
		return v
	default:
		o.wrong(name, "boolean", v)
	}
	return def
}

// String returns an option that is a string, and def if it is not given.
func (o Options) String(name, def string) string {
	switch v := o.get(name).(type) {
	case nil:
		return def
	case string:
		return v
	default:
		o.wrong(name, "string", v)
	}
	return def
}

// Int returns an option that is a whole number from least to most, and def if it is not given.
func (o Options) Int(name string, def, least, most int) int {
	switch v := o.get(name).(type) {
	case nil:
	case float64:
		if v != math.Trunc(v) || v < float64(least) || v > float64(most) {
			o.call.Bad(o.i, "%s is a whole number from %d to %d", name, least, most)
		}
		return int(v)
	default:
		o.wrong(name, "number", v)
	}
	return def
}

// Strings returns an option that is a list of strings, and nil if it is not given.
func (o Options) Strings(name string) []string {
	v := o.get(name)
	if v == nil {
		return nil
	}
	list, ok := v.(*Table)
	if !ok {
		o.wrong(name, "list of strings", v)
	}
	texts := make([]string, list.Len())
	for i := range texts {
		if texts[i], ok = list.Index(i + 1).(string); !ok {
			o.wrong(fmt.Sprintf("%s [%d]", name, i+1), "string", list.Index(i+1))
		}
	}
	return texts
}
