// Package form has the verbs that read and write URL-encoded fields as tables.
package form

import (
	"strings"

	"scripter/httpform"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "form.parse",
		Doc:     "URL-encoded fields as a table. A name seen again makes a list of its values.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("table<string, string|string[]>", ""),
		Errors:  "more than 100000 fields",
		Example: `form.parse ("a=1&b=x+y&a=2").a [2]`,
		Gives:   "2",
		Page:    true,
		Func: func(v *script.Call) error {
			t, err := Parse(v.String(1), httpform.MaxFields)
			if err != nil {
				return err
			}
			v.Return(t)
			return nil
		},
	},
	{
		Name: "form.encode",
		Doc:  "The inverse of form.parse, in the order of the names.",
		Params: []script.Param{
			script.Arg("table", "table", "name to value; a list has the name once for each item"),
		},
		Results: script.Returns("string", ""),
		Example: `form.encode ({b = "x y", a = {1, 2}})`,
		Gives:   "a=1&a=2&b=x+y",
		Page:    true,
		Func:    Encode,
	},
}

// Parse parses URL-encoded text into a table. The values of a repeated name become a
// list. Parse returns a [httpform.LimitError] for more than most fields.
func Parse(text string, most int64) (*script.Table, error) {
	t := script.NewTableFor(strings.Count(text, "&") + 1)
	err := httpform.EachField(text, most, false, func(name, value string) { Add(t, name, value) })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Add adds a field to a table as the CGI Framework did: a second value of a name turns
// its cell into a list.
func Add(t *script.Table, name string, v script.Value) {
	old := t.Get(name)
	if old == nil {
		t.Set(name, v)
		return
	}
	if list, ok := old.(*script.Table); ok && list.Len() > 0 {
		list.Append(v)
		return
	}
	list := script.NewTable()
	list.Append(old)
	list.Append(v)
	t.Set(name, list)
}

// Encode is the verb form.encode: it returns the fields of a table as URL-encoded text.
func Encode(v *script.Call) error {
	var b []byte
	err := EachField(v.Thread(), v.Table(1), func(name, value string) {
		if len(b) > 0 {
			b = append(b, '&')
		}
		b = append(httpform.Escape(b, name), '=')
		b = httpform.Escape(b, value)
	})
	if err == nil {
		v.Return(string(b))
	}
	return err
}

// EachField calls add for each field of a table, in the order of the names. For a list, it calls
// add once for each item.
func EachField(thread *script.Thread, t *script.Table, add func(name, value string)) error {
	for _, name := range t.Names() {
		values := []script.Value{t.Get(name)}
		if list, ok := values[0].(*script.Table); ok {
			values = values[:0]
			list.Each(func(_, e script.Value) bool { values = append(values, e); return true })
		}
		for _, value := range values {
			text, err := thread.Text(value)
			if err != nil {
				return err
			}
			add(name, text)
		}
	}
	return nil
}
