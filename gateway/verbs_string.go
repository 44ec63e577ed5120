package gateway

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"scripter/script"
)

// stringVerbs are the helpers that scripts of 1998 leaned on. What was called
// string.… there lies at text, url and html here: string is Lua's library.
var stringVerbs = []script.Verb{
	{
		Name:    "text.nthField",
		Doc:     `The n-th piece of the text between delimiters, "" where there is none.`,
		Params:  []script.Param{script.Arg("text", "string", ""), script.Arg("delimiter", "string", "taken as it is: no pattern"), script.Arg("n", "integer", "from 1")},
		Results: script.Returns("string", ""),
		Errors:  "an empty delimiter; n below 1",
		Example: `text.nthField ("red, green, blue", ", ", 2)`,
		Gives:   "green",
		Page:    true,
		Func:    verbNthField,
	},
	{
		Name:    "text.countFields",
		Doc:     "The number of pieces of the text between delimiters; an empty text has none.",
		Params:  []script.Param{script.Arg("text", "string", ""), script.Arg("delimiter", "string", "taken as it is: no pattern")},
		Results: script.Returns("integer", ""),
		Errors:  "an empty delimiter",
		Example: `text.countFields ("red, green, blue", ", ")`,
		Gives:   "3",
		Page:    true,
		Func: func(v *script.Call) error {
			s, sep := v.String(1), delimiter(v)
			if s == "" {
				v.Return(0)
				return nil
			}
			v.Return(strings.Count(s, sep) + 1)
			return nil
		},
	},
	{
		Name:    "text.popSuffix",
		Doc:     "The text without its last delimiter and what follows; the whole text where there is none.",
		Params:  []script.Param{script.Arg("text", "string", ""), script.Opt("delimiter", "string", `"."`, "")},
		Results: script.Returns("string", ""),
		Errors:  "an empty delimiter",
		Example: `text.popSuffix ("index.old.html")`,
		Gives:   "index.old",
		Page:    true,
		Func: func(v *script.Call) error {
			s, sep := v.String(1), v.OptString(2, ".")
			if sep == "" {
				v.Bad(2, "the delimiter is empty")
			}
			if i := strings.LastIndex(s, sep); i >= 0 {
				s = s[:i]
			}
			v.Return(s)
			return nil
		},
	},
	{
		Name:    "text.addCommas",
		Doc:     "The number with commas between its thousands.",
		Params:  []script.Param{script.Arg("number", "number", "")},
		Results: script.Returns("string", ""),
		Errors:  "a number that is infinite or none",
		Example: `text.addCommas (1234567.5)`,
		Gives:   "1,234,567.5",
		Page:    true,
		Func: func(v *script.Call) error {
			n := v.Number(1)
			if math.IsInf(n, 0) || math.IsNaN(n) {
				v.Bad(1, "number has no digits")
			}
			v.Return(addCommas(n))
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
		Func:    verbFlatArgs,
	},
	{
		Name:    "html.entities",
		Doc:     "The text as html.escape gives it, with every character beyond ASCII as an entity: it is the same in any character set.",
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text, as from tostring")},
		Results: script.Returns("string", ""),
		Example: `html.entities ("<Café>")`,
		Gives:   "&lt;Caf&#233;&gt;",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(entities(v.Text(1)))
			return nil
		},
	},
}

func delimiter(v *script.Call) string {
	sep := v.String(2)
	if sep == "" {
		v.Bad(2, "the delimiter is empty")
	}
	return sep
}

func verbNthField(v *script.Call) error {
	s, sep, n := v.String(1), delimiter(v), v.Int(3)
	if n < 1 {
		v.Bad(3, "fields count from 1")
	}
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(s, sep)
		if !ok {
			v.Return("")
			return nil
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, sep)
	v.Return(s)
	return nil
}

func addCommas(n float64) string {
	s := strconv.FormatFloat(n, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := 0; i < len(whole); i++ {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}

func verbFlatArgs(v *script.Call) error {
	list := script.NewTable()
	count := 0
	for field := range strings.SplitSeq(v.String(1), "&") {
		if field == "" {
			continue
		}
		if count++; count > maxParsedFields {
			return fmt.Errorf("more than %d fields", maxParsedFields)
		}
		name, value, _ := strings.Cut(field, "=")
		name, _ = unescape(name, true)
		value, _ = unescape(value, true)
		list.Append(name)
		list.Append(value)
	}
	v.Return(list)
	return nil
}

// entities escapes HTML and writes every character beyond ASCII by its number.
// Bytes that are no UTF-8 become U+FFFD.
func entities(s string) string {
	s = escapeHTML(s)
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r < 0x80 {
			b.WriteByte(byte(r))
		} else {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	return b.String()
}
