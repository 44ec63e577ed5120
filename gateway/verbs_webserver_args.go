package gateway

import (
	"scripter/script"
)

// argsVerbs read and write URL-encoded fields.
var argsVerbs = []script.Verb{
	{
		Name:    "webserver.parseArgs",
		Doc:     "Reads URL-encoded text into a Lua table, which it returns. A name seen again makes a list.",
		Params:  []script.Param{script.Arg("text", "any", "")},
		Results: script.Returns("table<string, string|string[]>", ""),
		Errors:  "more fields than maxFields",
		Example: `webserver.parseArgs ("x=1&y=a+b").y`,
		Gives:   "a b",
		Func:    verbParseArgs,
	},
	{
		Name:    "webserver.encodeArgs",
		Doc:     "The inverse of parseArgs, in the order of the names.",
		Params:  []script.Param{script.Arg("table", "table", "")},
		Results: script.Returns("string", ""),
		Example: `webserver.encodeArgs ({y = "a b", x = 1})`,
		Gives:   "x=1&y=a+b",
		Page:    true,
		Func:    verbEncodeArgs,
	},
}

func verbParseArgs(v *script.Call) error {
	max := limits{settings: readSettings(v.Thread().Tx())}.count(maxFields)
	if c, err := hostOf(v); err == nil {
		max = c.limits.count(maxFields)
	}
	t, err := parseForm(v.Text(1), max, false)
	if err != nil {
		return err
	}
	v.Return(t)
	return nil
}

func verbEncodeArgs(v *script.Call) error {
	t := v.Table(1)
	var b []byte
	add := func(name string, value script.Value) error {
		text, err := v.Thread().Text(value)
		if err != nil {
			return err
		}
		if len(b) > 0 {
			b = append(b, '&')
		}
		b = append(escapeForm(b, name), '=')
		b = escapeForm(b, text)
		return nil
	}
	for _, name := range tableKeys(t) {
		values := []script.Value{t.Get(name)}
		if list, ok := values[0].(*script.Table); ok {
			values = values[:0]
			list.Each(func(_, e script.Value) bool { values = append(values, e); return true })
		}
		for _, value := range values {
			if err := add(name, value); err != nil {
				return err
			}
		}
	}
	v.Return(string(b))
	return nil
}
