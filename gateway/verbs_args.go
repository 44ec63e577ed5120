package gateway

import (
	"scripter/runner"
	"scripter/script"
	"scripter/site"
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

// maxFieldsOf returns the limit of fields, outside of a request that of the settings.
func maxFieldsOf(v *script.Call) (runner.Bound, error) {
	if c, err := hostOf(v); err == nil {
		return c.Count(site.MaxFields), nil
	}
	s, err := siteOf(v.Thread())
	if err != nil {
		return runner.Bound{}, err
	}
	return runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: int64(s.Number(site.MaxFields))}, nil
}

func verbParseArgs(v *script.Call) error {
	max, err := maxFieldsOf(v)
	if err != nil {
		return err
	}
	t, err := form.Parse(v.Text(1), max.Most)
	if err != nil {
		return formError(err, max)
	}
	v.Return(t)
	return nil
}
