package gateway

import (
	"scripter/script"
	"scripter/verbs/form"
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
		Func:    form.Encode,
	},
}

func verbParseArgs(v *script.Call) error {
	max := limits{settings: readSettings(v.Thread().Tx())}.count(maxFields)
	if c, err := hostOf(v); err == nil {
		max = c.limits.count(maxFields)
	}
	t, err := form.Parse(v.Text(1), max.most)
	if err != nil {
		return formError(err, max)
	}
	v.Return(t)
	return nil
}
