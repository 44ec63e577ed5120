// Package sql has the verbs for the databases that scripter.conf lists.
package sql

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"scripter/database"
	"scripter/objectdb"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "sql.open",
		Doc: "A database that scripter.conf lists (database), by its name there. db:query (statement, …) gives a list of " +
			"rows, db:row (statement, …) the first one or nil, db:exec (statement, …) how many rows it has changed. A ? in " +
			"the statement stands for an argument.",
		Params:  []script.Param{script.Arg("name", "string", "")},
		Results: script.Returns("database", "a table with query, row and exec"),
		Errors: "a name that scripter.conf does not list; PostgreSQL under CGI without a resident server. The functions " +
			"fail for what the database refuses, more than one statement, exec where the line does not say write, and " +
			"more than maxSqlRows, maxSqlSize or maxSqlTime",
		Example: `local ok, why = pcall (function () sql.open ("shop") end)
return (why:match ("scripter.conf lists no database [^:]*"))`,
		Gives: `scripter.conf lists no database "shop"`,
		Func:  open,
	},
}

// A Host is what runs the statements of a thread: its Host must be one.
type Host interface {
	// OpenSQL returns an error if the database is not listed or cannot be opened here.
	OpenSQL(name string) error
	// RunSQL runs a statement on it.
	RunSQL(t *script.Thread, name string, s database.Statement) (*database.Result, error)
}

func open(v *script.Call) error {
	host, ok := v.Thread().Host().(Host)
	if !ok {
		return errors.New("there are no databases here")
	}
	name := v.String(1)
	if err := host.OpenSQL(name); err != nil {
		return err
	}
	db := script.NewTable()
	method := func(method string, write bool, give func(*script.Call, *database.Result) error) {
		verb := script.Verb{Name: name + ":" + method, Func: func(v *script.Call) error {
			if !v.Thread().IsSame(v.Value(1), db) {
				return fmt.Errorf("call it with a colon: db:%s (statement, …)", method)
			}
			s, err := statement(v, write)
			if err != nil {
				return err
			}
			result, err := host.RunSQL(v.Thread(), name, s)
			if err != nil {
				return err
			}
			return give(v, result)
		}}
		db.Set(method, verb.Function())
	}
	db.Set("name", name)
	method("query", false, giveRows)
	method("row", false, giveRow)
	method("exec", true, giveChanged)
	v.Return(db)
	return nil
}

// statement reads the statement and its arguments.
func statement(v *script.Call, write bool) (database.Statement, error) {
	text, ok := v.Value(2).(string)
	if !ok {
		return database.Statement{}, errors.New("the statement must be a string")
	}
	s := database.Statement{Text: text, Write: write}
	for i := 3; i <= v.NArgs(); i++ {
		arg, err := argument(v.Value(i))
		if err != nil {
			return s, fmt.Errorf("argument %d of the statement: %w", i-2, err)
		}
		s.Args = append(s.Args, arg)
	}
	return s, nil
}

// exact is the largest number up to which Lua has all integers.
const exact = 1 << 53

// argument returns a value of a script as databases have it.
func argument(v script.Value) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= exact {
			return int64(v), nil
		}
		return v, nil
	case objectdb.Null:
		return nil, nil
	case objectdb.Date:
		return v.Time, nil
	case objectdb.Binary:
		return []byte(v.Data), nil
	case objectdb.Text:
		return string(v), nil
	case objectdb.Outline:
		return string(v), nil
	case *script.Object:
		return nil, errors.New("it is an object of the root that is no value, such as a table")
	case *script.Table:
		return nil, errors.New("it is a table; each value is an argument of its own")
	}
	return nil, errors.New("it is no value that a database can have")
}

// value returns a value of a database as scripts have it. A whole number that Lua does not have exactly is a string.
func value(v any) script.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return v
	case int64:
		if v > exact || v < -exact {
			return strconv.FormatInt(v, 10)
		}
		return float64(v)
	case float64:
		return v
	case string:
		return v
	case []byte:
		return string(v)
	case time.Time:
		return objectdb.Date{Time: v.UTC()}
	}
	return fmt.Sprint(v)
}

// row returns a row as a table. NULL is a missing cell.
func row(v *script.Call, r *database.Result, i int) *script.Table {
	t := script.NewTableFor(len(r.Columns))
	for j, name := range r.Columns {
		v.Charge(valueCharge)
		if s, ok := r.Rows[i][j].(string); ok {
			v.Charge(len(s) >> 6)
		}
		t.Set(name, value(r.Rows[i][j]))
	}
	return t
}

// valueCharge is what one value counts, in instructions.
const valueCharge = 8

func rows(v *script.Call, r *database.Result) *script.Table {
	list := script.NewList()
	for i := range r.Rows {
		list.Append(row(v, r, i))
	}
	return list
}

func giveRows(v *script.Call, r *database.Result) error {
	v.Return(rows(v, r))
	return nil
}

func giveRow(v *script.Call, r *database.Result) error {
	if len(r.Rows) > 0 {
		v.Return(row(v, r, 0))
	} else {
		v.Return(nil)
	}
	return nil
}

// giveChanged returns the number of changed rows, and the rows of a RETURNING clause or the id of the last new row.
func giveChanged(v *script.Call, r *database.Result) error {
	switch {
	case r.Columns != nil:
		v.Return(float64(r.Changed), rows(v, r))
	case r.LastID != 0:
		v.Return(float64(r.Changed), value(r.LastID))
	default:
		v.Return(float64(r.Changed))
	}
	return nil
}
