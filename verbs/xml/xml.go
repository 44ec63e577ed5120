// Package xml has the verbs that read and write XML. An element is a Lua table in the form that Lua's XML
// libraries share (the Lua Object Model of LuaExpat): tag is its name, attr a table of its attributes, and
// the items 1 to n are what it holds, strings and elements.
package xml

import (
	"strings"
	"unicode/utf8"

	"scripter/script"
	"scripter/verbs/html"
)

const element = "a table with tag, attr and the items 1 to n: strings and elements"

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "xml.parse",
		Doc: "The root element of an XML text. An element is a table: tag is its name, attr a table of its " +
			"attributes, and its items are strings and elements. Comments and instructions are left out; entities " +
			"that the text declares are refused.",
		Params:  []script.Param{script.Arg("text", "string", "UTF-8")},
		Results: script.Returns("table", ""),
		Errors:  "a text that is not well-formed, with its line; elements nested deeper than 100; another character set",
		Example: `xml.parse ('<book id="7">On <i>Go</i></book>') [2] [1]`,
		Gives:   "Go",
		Func:    parse,
	},
	{
		Name: "xml.find",
		Doc: `The elements at a path of names below an element, such as "channel/item", in their order. "*" stands ` +
			`for any name; a name without a prefix finds those with one, too.`,
		Params: []script.Param{
			script.Arg("element", "table", element),
			script.Arg("path", "string", ""),
		},
		Results: script.Returns("table", "a list"),
		Example: `#xml.find (xml.parse ("<list><item/><item/></list>"), "item")`,
		Gives:   "2",
		Func:    find,
	},
	{
		Name: "xml.text",
		Doc:  "All text in an element, or in the first one at a path below it.",
		Params: []script.Param{
			script.Arg("element", "table", element),
			script.Opt("path", "string", "", "as for xml.find"),
		},
		Results: script.Returns("string|nil", "nil when no element is at the path"),
		Example: `xml.text (xml.parse ("<a><b>1 <i>2</i></b></a>"), "b")`,
		Gives:   "1 2",
		Func:    text,
	},
	{
		Name: "xml.build",
		Doc:  "An element as an XML document, with everything in it escaped. Attributes come in the order of their names.",
		Params: []script.Param{
			script.Arg("element", "table", element),
			script.Opt("declaration", "boolean", "true", "whether the text begins with <?xml …?>"),
		},
		Results: script.Returns("string", ""),
		Errors:  "a name that XML does not allow, a value that is no text, number or boolean; nesting deeper than 100",
		Example: `xml.build ({tag = "a", attr = {href = "/?x&y"}, "1 < 2"}, false)`,
		Gives:   `<a href="/?x&amp;y">1 &lt; 2</a>`,
		Func:    build,
	},
	{
		Name: "xml.escape",
		Doc: `The text with &, <, >, " and ' as entities, for XML text and quoted attributes. What XML allows nowhere, ` +
			"such as control characters, becomes U+FFFD.",
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text, as from tostring")},
		Results: script.Returns("string", ""),
		Example: `xml.escape ("a < b & c\1")`,
		Gives:   "a &lt; b &amp; c\uFFFD",
		Page:    true,
		Func: func(v *script.Call) error {
			v.ReturnText(escape(v.Text(1)))
			return nil
		},
	},
}

// maxDepth bounds how deep elements nest.
const maxDepth = 100

// maxText bounds what xml.build returns, in bytes.
const maxText = 16 << 20

// charge is what an element, a text or an attribute counts, in instructions.
const charge = 10

// escape returns a text for XML.
func escape(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r < 0xFFFE || r > 0xFFFF {
			return r
		}
		return utf8.RuneError
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return html.Escape(clean)
}
