package script

// ODB describes the library odb, function by function, in the order of the
// manual. Their Func is nil: they are no verbs but a library of Lua's.
func ODB() []Verb {
	at := Arg("address", anyAddress, "a string, an address, or a table or script of the root itself")
	from, to := Arg("from", anyAddress, ""), Arg("to", anyAddress, "")
	table := Arg("table", anyAddress, "a table of the root, or its address")
	x := Arg("x", "any", "an address, or a table, script or stored value itself")
	return []Verb{
		{
			Name:    "odb.get",
			Doc:     "What is there; else the default, else nil.",
			Params:  []Param{at, Opt("default", "any", "", "")},
			Results: Returns("any", ""),
			Errors:  "an address that cannot be read",
			Example: `odb.get ("scratchpad.nothing.at.all", "none")`,
			Gives:   "none",
		},
		{
			Name:   "odb.set",
			Doc:    "Stores a value and makes the tables above it; nil deletes.",
			Params: []Param{at, Arg("value", "any", "")},
			Errors: "a value that the root cannot hold; something above that is no table",
			Example: `odb.set ("scratchpad.deep.down", 5)
return scratchpad.deep.down`,
			Gives: "5",
		},
		{
			Name: "odb.append",
			Doc: "Stores a value in a table under the number after the last one there, and makes the table. " +
				"The name has nine digits, so that names sort in the order of their numbers. No two requests " +
				"get the same name.",
			Params:  []Param{table, Arg("value", "any", "")},
			Results: Returns("string", "the name"),
			Errors: "a value that the root cannot hold; no table; a table that has numbers of another length for " +
				"names",
			Example: `odb.append ("scratchpad.guests", {name = "Ada"})
return odb.append (scratchpad.guests, {name = "Tom"})`,
			Gives: "000000002",
		},
		{
			Name: "odb.nth",
			Doc: "The cell at a position in the order of the names; -1 is the last one. It works also where " +
				"names look like numbers, which t [3] refuses.",
			Params:  []Param{table, Arg("position", "integer", "")},
			Results: []Param{Arg("name", "string|nil", "nil where there are fewer"), Arg("value", "any", "")},
			Errors:  "no table of the root",
			Example: `scratchpad.years = {["1998"] = "then", ["2026"] = "now"}
return (select (2, odb.nth (scratchpad.years, -1)))`,
			Gives: "now",
		},
		{
			Name:    "odb.defined",
			Doc:     "Whether something is there.",
			Params:  []Param{at},
			Results: Returns("boolean", ""),
			Example: `odb.defined ("scratchpad.nothing")`,
			Gives:   "false",
		},
		{
			Name:    "odb.delete",
			Doc:     "Deletes what is there, with all below it.",
			Params:  []Param{at},
			Results: Returns("boolean", "true if something was there"),
			Example: `odb.delete ("scratchpad.nothing")`,
			Gives:   "false",
		},
		{
			Name: "odb.kind",
			Doc: "The kind of an object or value: boolean, number, string, text, outline, script, date, " +
				"binary, list, address or table.",
			Params:  []Param{x},
			Results: Returns("string|nil", "nil where nothing is"),
			Example: "odb.kind (scratchpad)",
			Gives:   "table",
		},
		{
			Name:    "odb.size",
			Doc:     "The cells of a table, the bytes of anything else.",
			Params:  []Param{at},
			Results: Returns("integer", ""),
			Errors:  "nothing is there",
			Example: `scratchpad.word = "five5"
return odb.size ("scratchpad.word")`,
			Gives: "5",
		},
		{
			Name:    "odb.name",
			Doc:     "The last name of an address.",
			Params:  []Param{at},
			Results: Returns("string", ""),
			Example: `odb.name ('user.["odd.name"]')`,
			Gives:   "odd.name",
		},
		{
			Name:    "odb.parent",
			Doc:     "The address above.",
			Params:  []Param{at},
			Results: Returns("address|nil", "nil for the root"),
			Example: `odb.parent ("user.webserver.prefs")`,
			Gives:   "user.webserver",
		},
		{
			Name:    "odb.pairs",
			Doc:     "As pairs, in the order of the names, for Lua's tables too: numbers first.",
			Params:  []Param{Arg("t", "table", "")},
			Results: []Param{{Type: "function"}, {Type: "table"}},
			Example: `local s = ""
for name, value in odb.pairs ({b = 2, a = 1}) do
	s = s .. name .. value
end
return s`,
			Gives: "a1b2",
		},
		{
			Name:   "odb.move",
			Doc:    "Moves an object, with all below it.",
			Params: []Param{from, to},
			Errors: "nothing is at from; something is at to",
			Example: `scratchpad.old = 1
odb.move ("scratchpad.old", "scratchpad.new")
return scratchpad.new`,
			Gives: "1",
		},
		{
			Name:   "odb.copy",
			Doc:    "Copies an object, with all below it.",
			Params: []Param{from, to},
			Errors: "nothing is at from; something is at to",
			Example: `scratchpad.one = {a = 1}
odb.copy (scratchpad.one, "scratchpad.two")
return scratchpad.two.a`,
			Gives: "1",
		},
		{
			Name:   "odb.rename",
			Doc:    "Gives an object another name in its table.",
			Params: []Param{at, Arg("name", "string", "taken as it is, dots included")},
			Errors: "nothing is there; the name is taken",
			Example: `scratchpad.before = 1
odb.rename ("scratchpad.before", "after")
return scratchpad.after`,
			Gives: "1",
		},
		{
			Name: "odb.text",
			Doc: "Of a string: the string, to be stored as text. Of anything else: its text, such as the " +
				"source of a script or the cells of a table.",
			Params:  []Param{Arg("x", "any", "")},
			Results: Returns("string", ""),
			Example: `scratchpad.page = odb.text ("<p>")
return odb.kind ("scratchpad.page")`,
			Gives: "text",
		},
		{
			Name:    "odb.outline",
			Doc:     "The string, to be stored as outline: lines, indented by tabs.",
			Params:  []Param{Arg("text", "string", "")},
			Results: Returns("string", ""),
			Example: `scratchpad.todo = odb.outline ("today\n\tbread")
return odb.kind ("scratchpad.todo")`,
			Gives: "outline",
		},
		{
			Name:    "odb.script",
			Doc:     "The source, to be stored as script, or called at once.",
			Params:  []Param{Arg("source", "string", "")},
			Results: Returns("function", ""),
			Errors:  "source that does not compile",
			Example: `odb.script ("return 6 * ...") (7)`,
			Gives:   "42",
		},
		{
			Name:    "odb.list",
			Doc:     "The arguments, to be stored as list, even if there are none.",
			Params:  []Param{Arg("…", "any", "")},
			Results: Returns("any[]", ""),
			Example: `scratchpad.none = odb.list ()
return odb.kind ("scratchpad.none")`,
			Gives: "list",
		},
		{
			Name: "odb.date",
			Doc: `Now; or the date of a number (seconds since 1970), a text such as "2026-01-31T18:30:00Z" or ` +
				`"2026-01-31", or a table as os.time takes it; in UTC.`,
			Params:  []Param{Opt("x", "number|string|table", "", "")},
			Results: Returns("date", ""),
			Errors:  "text that is no date",
			Example: `odb.date ("2026-01-31") + 86400`,
			Gives:   "2026-02-01 00:00:00",
		},
		{
			Name: "odb.binary",
			Doc:  "A binary, with a MIME type.",
			Params: []Param{Arg("data", "string", ""),
				Opt("type", "string", `"application/octet-stream"`, "")},
			Results: Returns("binary", ""),
			Example: `odb.binary ("GIF89a", "image/gif").type`,
			Gives:   "image/gif",
		},
		{
			Name: "odb.address",
			Doc: "An address; names are added as they are, whatever characters they hold: the safe way to a " +
				"cell whose name came from a visitor.",
			Params: []Param{
				Arg("x", anyAddress+"|string[]", "a list is taken as names"),
				Arg("…", "string", "names to be added"),
			},
			Results: Returns("address", ""),
			Errors:  "a name that no object can have",
			Example: `odb.address ("scratchpad", "a.b")`,
			Gives:   `scratchpad.["a.b"]`,
		},
	}
}

// anyAddress is the type of what the functions of odb take for an address.
const anyAddress = "string|address|table|function"
