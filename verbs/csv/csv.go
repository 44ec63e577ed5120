// Package csv has the verbs that read and write CSV (RFC 4180).
package csv

import (
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "csv.parse",
		Doc: "The rows of a CSV text, each a list of strings; with header = true, each a table by the names in the " +
			"first row.",
		Params: []script.Param{
			script.Arg("text", "string", "UTF-8"),
			script.Opt("options", "table", "", `header: the first row has the names of the columns; separator: one `+
				`character, supplied ","; lenient: quotes may stand within a field, and rows may be shorter or longer`),
		},
		Results: script.Returns("table", "a list"),
		Errors: "a text that is no CSV, with line and column; a row with more or fewer fields than the first; a name " +
			"of a column that is empty or there twice",
		Example: `csv.parse ("name;born\nAda;1815", {header = true, separator = ";"}) [1].born`,
		Gives:   "1815",
		Func:    parse,
	},
	{
		Name: "csv.format",
		Doc:  "Rows as CSV. A row is a list, or, with columns, a table by names. The rows may be a table of the root.",
		Params: []script.Param{
			script.Arg("rows", "table", "a list, or a table of the root, whose cells are the rows"),
			script.Opt("options", "table", "", `columns: the names of the fields to write, which become the first row; `+
				`header: false leaves that row out; separator: one character, supplied ","; crlf: lines end with CR LF; `+
				`spreadsheet: puts ' before fields that a spreadsheet would run as a formula: for what visitors wrote`),
		},
		Results: script.Returns("string", ""),
		Errors:  "a field that is a table or a function",
		Example: `csv.format ({{name = "Ada, Countess", born = 1815}}, {columns = {"born", "name"}})`,
		Gives:   "born,name\n1815,\"Ada, Countess\"\n",
		Func:    format,
	},
}

// fieldCharge is what one field counts, in instructions.
const fieldCharge = 8

// separator returns the option separator.
func separator(v *script.Call, o script.Options) rune {
	s := o.String("separator", ",")
	r := []rune(s)
	if len(r) != 1 || r[0] == '"' || r[0] == '\r' || r[0] == '\n' || r[0] == 0xFFFD || r[0] == 0 {
		v.Bad(2, "separator is one character that is no quote and no end of a line, not %.20q", s)
	}
	return r[0]
}
