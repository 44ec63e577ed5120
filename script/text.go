package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// dateLayout is the text of a date.
const dateLayout = "2006-01-02 15:04:05"

// maxTextDepth bounds how deep tables and lists nest in a text.
const maxTextDepth = 16

// errLongText ends the writing of a text.
var errLongText = errors.New("the text is longer than the limit allows")

// kindName returns the name of a value's kind for messages: the root's word if it
// has one, else Lua's.
func kindName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case float64, int, int64:
		return "number"
	case string:
		return "string"
	case *Table, []string:
		return "table"
	case *Function:
		return "function"
	case *Object:
		return v.Kind().String()
	case objectdb.Value:
		return v.Kind().String()
	case foreign:
		return v.lv.Type().String()
	}
	return fmt.Sprintf("%T", v)
}

// Text returns the text of a value, as Frontier's string () did: a string as it is, "" for nil,
// a number with 14 digits, a date as "2006-01-02 15:04:05" in UTC, a binary as its bytes, an
// outline as lines indented by tabs, a list as "{1, 2}", an address with dots, a script as its
// source. A table gives a line "name<TAB>kind: value" for each cell in order, and below it the
// cells of a table in it, one tab deeper. Text fails if the text would be longer than
// Limits.StringBytes.
func (t *Thread) Text(v Value) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	w := textWriter{t: t, limit: t.state.Limits().StringBytes}
	if err := w.value(v, 0); err != nil {
		return "", err
	}
	return w.b.String(), nil
}

// A textWriter writes the text of a value.
type textWriter struct {
	t     *Thread
	b     strings.Builder
	limit int           // of b, in bytes
	lists int           // lists around the value that is being written
	open  []*lua.LTable // tables being written, to stop at one that contains itself
}

func (w *textWriter) write(s string) error {
	if w.b.Len()+len(s) > w.limit {
		return errLongText
	}
	w.b.WriteString(s)
	return nil
}

func (w *textWriter) value(v Value, depth int) error {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return w.write(fmt.Sprint(v))
	case float64:
		return w.write(lua.NumberText(v))
	case string:
		return w.write(v)
	case int, int64, []string:
		return w.value(w.t.fromLua(w.t.toLua(v)), depth)
	case *Table:
		return w.table(v, depth)
	case *Object:
		return w.object(v, depth)
	case objectdb.Value:
		return w.stored(v, depth)
	}
	return w.write(kindName(v))
}

func (w *textWriter) stored(v objectdb.Value, depth int) error {
	switch v := v.(type) {
	case objectdb.Script:
		return w.write(string(v))
	case objectdb.Date:
		return w.write(v.UTC().Format(dateLayout))
	case objectdb.Binary:
		return w.write(v.Data)
	case objectdb.Address:
		return w.write(v.String())
	case objectdb.List:
		return w.list(len(v), func(i int) Value { return v[i] }, depth)
	case objectdb.Record:
		names := make([]string, len(v))
		for i, f := range v {
			names[i] = f.Name
		}
		return w.record(names, func(i int) Value { return v[i].Value }, depth)
	case objectdb.Null:
		return w.write("null")
	}
	return w.value(w.t.fromLua(fromRoot(v)), depth) // a boolean, number or string
}

// list writes "{1, 2}".
func (w *textWriter) list(n int, item func(int) Value, depth int) error {
	return w.braces(n, depth, func(i int) error { return w.value(item(i), depth+1) })
}

// record writes a table within a list, as "{a = 1, b = 2}".
func (w *textWriter) record(names []string, field func(int) Value, depth int) error {
	return w.braces(len(names), depth, func(i int) error {
		if err := w.write(names[i] + " = "); err != nil {
			return err
		}
		return w.value(field(i), depth+1)
	})
}

// braces writes n items on one line, with commas between them.
func (w *textWriter) braces(n, depth int, item func(int) error) error {
	if depth > maxTextDepth {
		return w.write("{…}")
	}
	if err := w.write("{"); err != nil {
		return err
	}
	w.lists++
	defer func() { w.lists-- }()
	for i := range n {
		if i > 0 {
			if err := w.write(", "); err != nil {
				return err
			}
		}
		if err := item(i); err != nil {
			return err
		}
	}
	return w.write("}")
}

// table writes a Lua table: as a list if it has items only, else by cells.
func (w *textWriter) table(tb *Table, depth int) error {
	lt := tb.expose(w.t)
	if slices.Contains(w.open, lt) {
		return w.write("…")
	}
	tb.materialise()
	w.open = append(w.open, lt)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	keys := sortedKeys(lt)
	if w.isList(tb) {
		return w.list(len(keys), func(i int) Value { return w.t.fromLua(lua.RawGet(lt, keys[i])) }, depth)
	}
	if w.lists > 0 {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.String()
		}
		return w.record(names, func(i int) Value { return w.t.fromLua(lua.RawGet(lt, keys[i])) }, depth)
	}
	for _, k := range keys {
		if err := w.cell(k.String(), w.t.fromLua(lua.RawGet(lt, k)), depth); err != nil {
			return err
		}
	}
	return nil
}

// isList reports whether a table is written as a list: it has items and nothing
// else, or is an empty list.
func (w *textWriter) isList(tb *Table) bool {
	lt := tb.expose(w.t)
	tb.materialise()
	return tb.IsList() && keyCount(lt, lt.Len()) == lt.Len()
}

func (w *textWriter) object(o *Object, depth int) error {
	if o.Kind() == objectdb.KindScript {
		source, err := o.source()
		if err != nil {
			return err
		}
		return w.write(source)
	}
	if err := o.thread.writeLists(); err != nil {
		return err
	}
	list, err := o.entries()
	if err != nil {
		return err
	}
	if w.lists > 0 {
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.name
		}
		var failed error
		err := w.record(names, func(i int) Value {
			v, err := o.stored(list[i])
			failed = errors.Join(failed, err)
			return v
		}, depth)
		return errors.Join(failed, err)
	}
	for _, e := range list {
		v, err := o.stored(e)
		if err != nil {
			return err
		}
		if err := w.cell(e.name, v, depth); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the value of an entry. Text and outlines keep their kind.
func (o *Object) stored(e entry) (Value, error) {
	if e.node == nil || e.node.Kind() == objectdb.KindTable {
		lv, err := o.value(e)
		return o.thread.fromLua(lv), err
	}
	return o.thread.tx.Value(e.node)
}

// cell writes a line "name<TAB>kind: value" and below it the cells of a table.
func (w *textWriter) cell(name string, v Value, depth int) error {
	if err := w.write(strings.Repeat("\t", depth) + name + "\t" + kindName(v) + ":"); err != nil {
		return err
	}
	switch v := v.(type) {
	case *Object:
		if v.Kind() == objectdb.KindTable {
			return w.nested(v, depth)
		}
	case *Table:
		if !w.isList(v) {
			return w.nested(v, depth)
		}
	}
	if err := w.write(" "); err != nil {
		return err
	}
	if err := w.value(v, depth+1); err != nil {
		return err
	}
	return w.write("\n")
}

// nested writes the cells of a table in a table.
func (w *textWriter) nested(v Value, depth int) error {
	tb, isTable := v.(*Table)
	if depth >= maxTextDepth || isTable && slices.Contains(w.open, tb.expose(w.t)) {
		return w.write(" …\n")
	}
	if err := w.write("\n"); err != nil {
		return err
	}
	return w.value(v, depth+1)
}
