// Package records has the verbs that keep records in tables of the root: they add, find, check and change them.
package records

import (
	"fmt"
	"maps"
	"slices"

	"scripter/objectdb"
	"scripter/records"
	"scripter/script"
)

const tableDoc = "a table of the root, or its address"

var tableArg = script.Arg("table", "table|string", tableDoc)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "records.add",
		Doc: "Adds a record, a table of fields, and returns its key. Keys are in the order of time. The table is made " +
			"if it does not exist. If the table has a shape (records.shape) that the fields do not have, nothing is " +
			"added: then the results are nil and a table with a message for each wrong field.",
		Params: []script.Param{tableArg, script.Arg("fields", "table", "name to value")},
		Results: []script.Param{
			{Name: "key", Type: "string|nil"},
			{Name: "problems", Type: "table<string, string>|nil"},
		},
		Example: `records.add ("scratchpad.added", {name = "Ada", age = 36})
return records.count ("scratchpad.added")`,
		Gives: "1",
		Func:  add,
	},
	{
		Name: "records.get",
		Doc: "The record with a key, as a table with its fields, and the key as the field key; nil if there is none. " +
			"It is a copy: records.update changes the record.",
		Params:  []script.Param{tableArg, script.Arg("key", "string", "")},
		Results: script.Returns("table|nil", ""),
		Example: `local key = records.add ("scratchpad.got", {name = "Ada"})
return records.get ("scratchpad.got", key).name`,
		Gives: "Ada",
		Func:  get,
	},
	{
		Name: "records.find",
		Doc: "The records for which all conditions hold, as a list of tables with their fields and key, and the cursor " +
			"of the next page, or nil. where has a value for a field, or a comparison: {\">\", 18}, {\">=\", a, \"<\", b}, " +
			"{\"~=\", v}, {\"in\", {a, b}}, {\"begins\", \"A\"}, {\"contains\", \"x\"}, {\"is\", \"ada\"} (without regard to " +
			"case); json.null stands for a missing field. order is a field, \"-added\" for the reverse, or more: " +
			"\"name, -added\". Without one, records are in the order of their keys. after is a cursor; one that does not " +
			"belong to this order begins with the first page.",
		Params: []script.Param{tableArg, script.Opt("query", "table", "", "where, order, limit (100), after")},
		Results: []script.Param{
			{Name: "list", Type: "table[]"},
			{Name: "cursor", Type: "string|nil"},
		},
		Errors: "a name that the query does not have, a limit above 10000",
		Example: `for i, name in ipairs {"Ada", "Tom", "Eve"} do
	records.add ("scratchpad.found", {name = name, age = 10 * i})
end
local list = records.find ("scratchpad.found", {where = {age = {">", 10}}, order = "name"})
return list [1].name .. " " .. list [2].name`,
		Gives: "Eve Tom",
		Func:  find,
	},
	{
		Name:    "records.count",
		Doc:     "The number of records, or of those for which all conditions hold: see records.find.",
		Params:  []script.Param{tableArg, script.Opt("query", "table", "", "where")},
		Results: script.Returns("integer", ""),
		Errors:  "a name that the query does not have",
		Example: `records.add ("scratchpad.counted", {name = "Ada"})
return records.count ("scratchpad.counted", {where = {name = "Tom"}})`,
		Gives: "0",
		Func:  count,
	},
	{
		Name: "records.update",
		Doc: "Changes some fields of a record; json.null deletes a field. The results are true; false if there is no " +
			"such record; nil and the messages as in records.add, if the shape does not allow it.",
		Params: []script.Param{
			tableArg, script.Arg("key", "string", ""), script.Arg("fields", "table", "name to value"),
		},
		Results: []script.Param{
			{Name: "changed", Type: "boolean|nil"},
			{Name: "problems", Type: "table<string, string>|nil"},
		},
		Example: `local key = records.add ("scratchpad.changed", {name = "Ada", age = 36})
records.update ("scratchpad.changed", key, {age = 37})
return records.get ("scratchpad.changed", key).age`,
		Gives: "37",
		Func:  update,
	},
	{
		Name:    "records.explain",
		Doc:     "How records.find would find the records of a query: which index helps, or that it looks at all of them.",
		Params:  []script.Param{tableArg, script.Opt("query", "table", "", "as for records.find")},
		Results: script.Returns("string", ""),
		Errors:  "a name that the query does not have",
		Example: `records.add ("scratchpad.explained", {name = "Ada"})
return records.explain ("scratchpad.explained", {where = {name = "Ada"}})`,
		Gives: "looks at all records, in the order of their keys; no index helps",
		Func:  explain,
	},
	{
		Name: "records.index",
		Doc: "Declares the indexes of a table, in place of those before: a list of texts, each with one field or with " +
			"several, such as \"state, -added\". records.find reads them, and every transaction that writes records keeps " +
			"them right. search has the fields in which records.search searches. The indexes of a large table are built " +
			"little by little, and used when they are complete. With one argument, the declared ones and the search fields.",
		Params: []script.Param{
			tableArg, script.Opt("indexes", "string[]", "", ""), script.Opt("search", "string[]", "", ""),
		},
		Results: []script.Param{{Name: "indexes", Type: "string[]"}, {Name: "search", Type: "string[]"}},
		Errors:  "more than 16 indexes, an index of more than 4 fields, more than 8 fields to search",
		Example: `records.index ("scratchpad.indexed", {"name", "state, -added"})
return table.concat (records.index ("scratchpad.indexed"), "; ")`,
		Gives: "name; state, -added",
		Func:  index,
	},
	{
		Name:    "records.remove",
		Doc:     "Deletes a record. The result is false if there is none.",
		Params:  []script.Param{tableArg, script.Arg("key", "string", "")},
		Results: script.Returns("boolean", ""),
		Example: `local key = records.add ("scratchpad.removed", {name = "Ada"})
return tostring (records.remove ("scratchpad.removed", key)) .. records.count ("scratchpad.removed")`,
		Gives: "true0",
		Func:  remove,
	},
	{
		Name: "records.search",
		Doc: "The records that have all words, the best first, and how many there are, up to 1000. Case and accents do not " +
			"matter. \"two words\" in quotes follow each other, word* is the beginning of a word, -word must not be there. " +
			"Each result is a table with key, record (its fields) and snippet: a part of the text as HTML, in which the words " +
			"are in <mark>. Declare the searched fields with records.index; without that, a search looks at all texts of all " +
			"records. No text of a visitor is an error.",
		Params: []script.Param{
			tableArg, script.Arg("words", "string", ""), script.Opt("options", "table", "", "fields (a list), limit (20)"),
		},
		Results: []script.Param{{Name: "list", Type: "table[]"}, {Name: "total", Type: "integer"}},
		Errors:  "a name that the options do not have, a limit above 1000",
		Example: `records.add ("scratchpad.searched", {text = "Die Straße ist <lang>"})
return records.search ("scratchpad.searched", "strasse lang*") [1].snippet`,
		Gives: "Die <mark>Straße</mark> ist &lt;<mark>lang</mark>&gt;",
		Func:  search,
	},
	{
		Name: "records.shape",
		Doc: "Declares what the records of a table must be, which records.add and records.update check; it stays until " +
			"another one is declared, or false. Each field has a table of rules: kind (\"string\" if it is not given, " +
			"\"text\", \"number\", \"boolean\", \"date\", \"list\", \"table\", \"any\" …), required, min and max (of numbers " +
			"and dates; of texts the number of characters), trim, integer, unique, format (\"email\", \"url\"), values, " +
			"default (\"now\" for a date), message. With one argument, the declared shape or nil.",
		Params:  []script.Param{tableArg, script.Opt("shape", "table|false", "", "field to rules")},
		Results: script.Returns("table|nil", "the shape that the table has now"),
		Errors:  "a rule that does not exist or has a wrong value",
		Example: `records.shape ("scratchpad.members", {name = {required = true, max = 5}})
local key, problems = records.add ("scratchpad.members", {name = "Augusta"})
return problems.name`,
		Gives: "must have 5 characters or less",
		Func:  shape,
	},
}

// tableOf returns argument 1 as a table of records, nil if there is nothing.
func tableOf(c *script.Call, makes bool) (*script.Object, records.Table) {
	o := c.RootTable(1, makes)
	if o == nil {
		return nil, records.Table{}
	}
	return o, records.Table{
		Tx: c.Thread().Tx(), Node: o.Node(),
		Charge: func(n int) { c.Charge(valueCharge * n) },
	}
}

// valueCharge is the number of instructions that reading a value counts as.
const valueCharge = 20

// scalar returns a value that can be compared; ok is false for tables and functions.
func scalar(v script.Value) (value objectdb.Value, ok bool) {
	switch v := v.(type) {
	case bool:
		return objectdb.Boolean(v), true
	case float64:
		return objectdb.Number(v), true
	case string:
		return objectdb.String(v), true
	case objectdb.Null:
		return nil, true
	case objectdb.Value:
		return v, true
	}
	return nil, false
}

// given returns the fields of argument i in the order of their names, as the shape checks them: of a list and a table
// only what they are.
func given(c *script.Call, i int) []records.Given {
	t := c.Table(i)
	if t.Len() > 0 {
		c.Bad(i, "the fields of a record have names")
	}
	names := t.Names()
	c.Charge(valueCharge * len(names))
	list := make([]records.Given, 0, len(names))
	for _, name := range names {
		if err := objectdb.CheckName(name); err != nil {
			c.Bad(i, "%v", err)
		}
		v, ok := scalar(t.Get(name))
		if !ok {
			v = objectdb.Record{}
			if of, ok := t.Get(name).(*script.Table); ok && of.IsList() {
				v = slices.Repeat(objectdb.List{objectdb.Null{}}, of.Len())
			}
		}
		list = append(list, records.Given{Name: name, Value: v})
	}
	return list
}

// checked is what add and update store: the checked values, and what is no scalar as it was given.
func checked(c *script.Call, i int, fields map[string]objectdb.Value) map[string]script.Value {
	t := c.Table(i)
	values := make(map[string]script.Value, len(fields))
	for name, v := range fields {
		switch given := t.Get(name).(type) {
		case *script.Table, *script.Object, *script.Function:
			values[name] = given
		default:
			if v != nil {
				values[name] = v
			} else {
				values[name] = nil
			}
		}
	}
	return values
}

// check checks argument i for a table. If something is wrong, it returns the messages.
func check(c *script.Call, o *script.Object, t records.Table, i int, key string) (
	fields map[string]script.Value, problems *script.Table, err error,
) {
	tx := c.Thread().Tx()
	s, err := records.ReadShape(tx, c.Address(1))
	if err != nil {
		return nil, nil, err
	}
	r := s.Check(given(c, i), key == "", c.Thread().Now())
	if o != nil {
		taken, err := s.Taken(t, r.Fields, key)
		if err != nil {
			return nil, nil, err
		}
		r.Problems = append(r.Problems, taken...)
	}
	if len(r.Problems) == 0 {
		return checked(c, i, r.Fields), nil, nil
	}
	messages, err := records.ReadMessages(tx)
	if err != nil {
		return nil, nil, err
	}
	problems = script.NewTable()
	for _, p := range r.Problems {
		problems.Set(p.Field, p.Text(messages))
	}
	return nil, problems, nil
}

func add(c *script.Call) error {
	o, t := tableOf(c, false)
	fields, problems, err := check(c, o, t, 2, "")
	if err != nil {
		return err
	}
	if problems != nil {
		c.Return(nil, problems)
		return nil
	}
	if o == nil {
		o, t = tableOf(c, true)
	}
	key := records.NewKey(c.Thread().Now())
	for n, err := t.Get(key); n != nil || err != nil; n, err = t.Get(key) { // of another host's clock
		if err != nil {
			return err
		}
		key = records.NewKey(c.Thread().Now())
	}
	record := script.NewTableFor(len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		record.Set(name, fields[name])
	}
	if err := c.Store(o, key, record); err != nil {
		return err
	}
	c.Return(key)
	return nil
}

func update(c *script.Call) error {
	o, t := tableOf(c, false)
	key := c.String(2)
	given(c, 3)
	record, err := recordOf(c, o, t, key)
	if err != nil {
		return err
	}
	if record == nil {
		c.Return(false)
		return nil
	}
	fields, problems, err := check(c, o, t, 3, record.Node().Name())
	if err != nil {
		return err
	}
	if problems != nil {
		c.Return(nil, problems)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := c.Store(record, name, fields[name]); err != nil {
			return err
		}
	}
	c.Return(true)
	return nil
}

func remove(c *script.Call) error {
	o, t := tableOf(c, false)
	record, err := recordOf(c, o, t, c.String(2))
	if err != nil {
		return err
	}
	if record != nil {
		err = c.Store(o, record.Node().Name(), nil)
	}
	c.Return(record != nil)
	return err
}

// recordOf returns the record with a key, or nil.
func recordOf(c *script.Call, o *script.Object, t records.Table, key string) (*script.Object, error) {
	c.Charge(valueCharge)
	if o == nil {
		return nil, nil
	}
	n, err := t.Get(key)
	if err != nil || n == nil {
		return nil, err
	}
	return o.Child(n), nil
}

func get(c *script.Call) error {
	o, t := tableOf(c, false)
	record, err := recordOf(c, o, t, c.String(2))
	if err != nil {
		return err
	}
	if record == nil {
		c.Return(nil)
		return nil
	}
	fields, err := fieldsOf(c, record)
	c.Return(fields)
	return err
}

// fieldsOf returns a copy of a record: its fields, and its key.
func fieldsOf(c *script.Call, record *script.Object) (*script.Table, error) {
	const some = 100
	t := script.NewTable()
	from := ""
	for {
		cells, err := record.Cells(from, false, some)
		if err != nil {
			return nil, err
		}
		c.Charge(valueCharge * (1 + len(cells)))
		for _, cell := range cells {
			t.Set(cell.Name, cell.Value)
			from = cell.Name
		}
		if len(cells) < some {
			t.Set(records.KeyField, record.Node().Name())
			return t, nil
		}
	}
}

func find(c *script.Call) error {
	o, t := tableOf(c, false)
	q := queryOf(c, 2, true)
	list := script.NewList()
	if o == nil {
		c.Return(list, nil)
		return nil
	}
	found, err := t.Find(q)
	if err != nil {
		return err
	}
	for _, n := range found.Records {
		fields, err := fieldsOf(c, o.Child(n))
		if err != nil {
			return err
		}
		list.Append(fields)
	}
	c.Return(list, next(found.Next))
	return nil
}

// next returns a cursor for a script, nil if there is none.
func next(cursor string) script.Value {
	if cursor == "" {
		return nil
	}
	return cursor
}

func count(c *script.Call) error {
	o, t := tableOf(c, false)
	q := queryOf(c, 2, false)
	n := 0
	if o != nil {
		var err error
		if n, err = t.Count(q.Where); err != nil {
			return err
		}
	}
	c.Return(n)
	return nil
}

func shape(c *script.Call) error {
	a := c.Address(1)
	if len(a) == 0 {
		c.Bad(1, "the root itself cannot be used here")
	}
	tx := c.Thread().Tx()
	at := records.Declaration(a, "shape")
	if c.NArgs() < 2 || c.Value(2) == nil {
		return returnShape(c, at)
	}
	if v, ok := c.Value(2).(bool); ok && !v {
		if err := tx.Delete(at); err != nil && !isNotFound(err) {
			return err
		}
		c.Return(nil)
		return nil
	}
	shape := c.Table(2)
	if shape.Len() > 0 {
		c.Bad(2, "a shape has fields by their names")
	}
	for _, name := range shape.Names() {
		if err := checkField(name, shape.Get(name)); err != nil {
			c.Bad(2, "%v", err)
		}
	}
	o, err := c.TableAt(at.Parent())
	if err != nil {
		return err
	}
	if err := c.Store(o, "shape", shape); err != nil {
		return err
	}
	if err := indexUnique(c, a, shape); err != nil {
		return err
	}
	return returnShape(c, at)
}

// checkField checks the rules of a field.
func checkField(name string, rules script.Value) error {
	t, ok := rules.(*script.Table)
	if !ok || t.Len() > 0 {
		return fmt.Errorf("%s: a table of rules is wanted, such as {kind = \"string\", required = true}", name)
	}
	declared := map[string]objectdb.Value{}
	for _, rule := range t.Names() {
		v, ok := scalar(t.Get(rule))
		if list, isTable := t.Get(rule).(*script.Table); isTable {
			l := objectdb.List{}
			for i := 1; i <= list.Len(); i++ {
				item, ok := scalar(list.Index(i))
				if !ok {
					return fmt.Errorf("%s: %s: a list of values is wanted", name, rule)
				}
				l = append(l, item)
			}
			v, ok = l, true
		}
		if !ok {
			return fmt.Errorf("%s: %s has a wrong value", name, rule)
		}
		declared[objectdb.Fold(rule)] = v
	}
	_, err := records.NewField(name, declared)
	return err
}

func returnShape(c *script.Call, at objectdb.Address) error {
	n, err := c.Thread().Tx().Find(at)
	switch {
	case isNotFound(err):
		c.Return(nil)
		return nil
	case err != nil:
		return err
	case n.Kind() != objectdb.KindTable:
		return fmt.Errorf("%s is no table", at)
	}
	o, err := c.TableAt(at)
	if err == nil {
		c.Return(o)
	}
	return err
}
