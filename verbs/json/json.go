// Package json has the verbs that write and read JSON (RFC 8259).
package json

import (
	"scripter/objectdb"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "json.encode",
		Doc: "The value as JSON (RFC 8259). A table with entries 1 to n is an array, and so is an " +
			"empty list: odb.list (), a list of the root, [] from json.decode. Any other table is an " +
			"object in its own order. A date is text as RFC 3339 has it, json.null is null. Safe " +
			"inside a script element of HTML.",
		Params:  []script.Param{script.Arg("value", "any", "")},
		Results: script.Returns("string", ""),
		Errors: "a table with names and numbers, nesting deeper than 100, text that is not UTF-8, a " +
			"function, an infinite number",
		Example: `json.encode ({1, "two", {x = true}})`,
		Gives:   `[1,"two",{"x":true}]`,
		Page:    true,
		Func:    encode,
	},
	{
		Name: "json.decode",
		Doc: "The value of a JSON text; objects keep their order, and an empty array stays an array. " +
			"null becomes the second argument; without one, null is left out of objects and is an " +
			"error in an array. With json.null as the second argument, lists of the root can hold it, " +
			"and json.encode writes null again.",
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Opt("null", "any", "", "what stands for null"),
		},
		Results: script.Returns("any", ""),
		Errors: "text that is no JSON, with the byte where it goes wrong; null in an array when there is " +
			"no second argument",
		Example: `json.decode ('{"a": [1, null]}', "none").a [2]`,
		Gives:   "none",
		Page:    true,
		Func:    decode,
	},
	{
		Name: "json.reply",
		Doc: "A response with the value as JSON, for return: a table of status, headers and body, with the " +
			"type application/json unless the headers have another one. Statuses without a body, such as 204, send none.",
		Params: []script.Param{
			script.Arg("value", "any", ""),
			script.Opt("status", "integer", "200", ""),
			script.Opt("headers", "table", "", "names and values; a list makes a field several times"),
		},
		Results: script.Returns("table", ""),
		Errors:  "a value that json.encode refuses, a status outside 200 to 599",
		Example: `json.reply ({id = 17}, 201, {Location = "/items/17"}).body`,
		Gives:   `{"id":17}`,
		Func:    reply,
	},
	{
		Name: "json.problem",
		Doc: "A response that tells a program what went wrong (RFC 9457), for return: application/problem+json " +
			"with the status, its title and the detail. The names in more are further members, or replace title, " +
			"type and detail.",
		Params: []script.Param{
			script.Arg("status", "integer", ""),
			script.Opt("detail", "string", "", "what is wrong with this request"),
			script.Opt("more", "table", "", ""),
			script.Opt("headers", "table", "", "as for json.reply"),
		},
		Results: script.Returns("table", ""),
		Errors:  "a value that json.encode refuses, a status outside 400 to 599",
		Example: `json.problem (404, "no such item", {id = 17}).body`,
		Gives:   `{"title":"Not Found","status":404,"detail":"no such item","id":17}`,
		Func:    problem,
	},
}

// maxDepth bounds how deep arrays and objects nest.
const maxDepth = 100

// Null is the cell json.null: the null of JSON, which a list of the root can hold.
var Null = script.Property{
	Address: objectdb.Address{"system", "verbs", "builtins", "json", "null"},
	Doc:     "the null of JSON, in lists and for json.encode",
	Value:   func(*script.Thread) script.Value { return objectdb.Null{} },
}
