// Package url has the verbs for URLs and their parts.
package url

import (
	"fmt"
	"path"

	"scripter/httpform"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "url.encode",
		Doc:     "The text with every byte but letters, digits and -._* as %XX, a blank as +.",
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text")},
		Results: script.Returns("string", ""),
		Example: `url.encode ("a b&c")`,
		Gives:   "a+b%26c",
		Page:    true,
		Func: func(v *script.Call) error {
			s := v.Text(1)
			v.ReturnText(string(httpform.Escape(make([]byte, 0, len(s)+len(s)/4), s)))
			return nil
		},
	},
	{
		Name:    "url.decode",
		Doc:     "The inverse of url.encode. A percent sign without two hex digits is an error.",
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text")},
		Results: script.Returns("string", ""),
		Errors:  "a percent sign without two hex digits",
		Example: `url.decode ("a+b%26c")`,
		Gives:   "a b&c",
		Page:    true,
		Func: func(v *script.Call) error {
			s, ok := httpform.Unescape(v.Text(1), true)
			if !ok {
				return fmt.Errorf("%.60q has a percent sign without two hex digits", v.Text(1))
			}
			v.Return(s)
			return nil
		},
	},
	{
		Name:    "url.folder",
		Doc:     "A path up to and with its last slash: the folder of a file.",
		Params:  []script.Param{script.Arg("path", "string", "")},
		Results: script.Returns("string", `"" where there is no slash`),
		Example: `url.folder ("/news/today.html")`,
		Gives:   "/news/",
		Page:    true,
		Func: func(v *script.Call) error {
			folder, _ := path.Split(v.String(1))
			v.Return(folder)
			return nil
		},
	},
	{
		Name:    "url.parseArgs",
		Doc:     "URL-encoded fields as a list of name, value, name, value, in the order of the text.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string[]", ""),
		Errors:  "more than 100000 fields",
		Example: `table.concat (url.parseArgs ("b=2&a=1+1&b=3"), "|")`,
		Gives:   "b|2|a|1 1|b|3",
		Page:    true,
		Func:    parseArgs,
	},
	to,
}

func parseArgs(v *script.Call) error {
	list := script.NewTable()
	err := httpform.EachField(v.String(1), httpform.MaxFields, false, func(name, value string) {
		list.Append(name)
		list.Append(value)
	})
	if err != nil {
		return err
	}
	v.Return(list)
	return nil
}
