package gateway

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"scripter/script"
)

var textVerbs = []script.Verb{
	{
		Name:    "html.escape",
		Doc:     `The text with &, <, >, " and ' as entities, safe in HTML text and quoted attributes.`,
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text, as from tostring")},
		Results: script.Returns("string", ""),
		Example: `html.escape ("<b> & 'co'")`,
		Gives:   "&lt;b&gt; &amp; &#39;co&#39;",
		Page:    true,
		Func: func(v *script.Call) error {
			v.ReturnText(escapeHTML(v.Text(1)))
			return nil
		},
	},
	{
		Name:    "text.trim",
		Doc:     "The text without white space at its ends.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string", ""),
		Example: `text.trim ("  a b\n") .. "."`,
		Gives:   "a b.",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(strings.TrimFunc(v.String(1), unicode.IsSpace))
			return nil
		},
	},
	{
		Name:    "text.split",
		Doc:     "A list of the pieces between separators, the last with all the rest when there are more than most.",
		Params:  []script.Param{script.Arg("text", "string", ""), script.Arg("separator", "string", "taken as it is: no pattern"), script.Opt("most", "integer", "", "how many pieces there are at most")},
		Results: script.Returns("string[]", ""),
		Errors:  "an empty separator; most below 1",
		Example: `table.concat (text.split ("a,b,c", ",", 2), " | ")`,
		Gives:   "a | b,c",
		Page:    true,
		Func:    verbSplit,
	},
	{
		Name:    "text.lines",
		Doc:     "A list of the lines, which end in CR LF, LF or CR. A line end at the very end begins no further line.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string[]", ""),
		Example: `table.concat (text.lines ("one\r\n\ntwo\n"), " | ")`,
		Gives:   "one |  | two",
		Page:    true,
		Func:    verbLines,
	},
	{
		Name:    "text.pad",
		Doc:     `The text with fillers at its "left", "right" or both ends ("center") until it has width characters.`,
		Params:  []script.Param{script.Arg("text", "string", ""), script.Arg("width", "integer", "in characters"), script.Opt("side", "string", `"right"`, `"right", "left" or "center"`), script.Opt("filler", "string", `" "`, "one character")},
		Results: script.Returns("string", ""),
		Errors:  "a width over 1048576, a filler that is not one character, another side",
		Example: `text.pad ("7", 3, "left", "0")`,
		Gives:   "007",
		Page:    true,
		Func:    verbPad,
	},
	{
		Name:    "text.length",
		Doc:     "The number of characters of a UTF-8 text; a byte that is no part of one counts as one.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("integer", ""),
		Example: `text.length ("Äpfel")`,
		Gives:   "5",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(utf8.RuneCountInString(v.String(1)))
			return nil
		},
	},
	{
		Name:    "text.sub",
		Doc:     "The characters from one place to another, counted as string.sub counts bytes.",
		Params:  []script.Param{script.Arg("text", "string", ""), script.Arg("from", "integer", "from 1; negative ones count from the end"), script.Opt("to", "integer", "-1", "likewise, included")},
		Results: script.Returns("string", ""),
		Example: `text.sub ("Äpfel", 1, 2)`,
		Gives:   "Äp",
		Page:    true,
		Func:    verbSub,
	},
	{
		Name:    "text.upper",
		Doc:     "The text in upper case, in any alphabet.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string", ""),
		Example: `text.upper ("äpfel")`,
		Gives:   "ÄPFEL",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(strings.ToUpper(v.String(1)))
			return nil
		},
	},
	{
		Name:    "text.lower",
		Doc:     "The text in lower case, in any alphabet.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string", ""),
		Example: `text.lower ("ÄPFEL")`,
		Gives:   "äpfel",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(strings.ToLower(v.String(1)))
			return nil
		},
	},
	{
		Name:    "text.valid",
		Doc:     "Whether the text is UTF-8.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("boolean", ""),
		Example: `text.valid ("\255")`,
		Gives:   "false",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(utf8.ValidString(v.String(1)))
			return nil
		},
	},
}

// htmlMore is how many bytes longer the entity is that stands for a character
// in HTML; 0: the character stands for itself.
var htmlMore = [256]uint8{'&': 4, '<': 3, '>': 3, '"': 5, '\'': 4}

func htmlEntity(c byte) string {
	switch c {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '"':
		return "&quot;"
	}
	return "&#39;"
}

func escapeHTML(s string) string {
	more := 0
	for i := 0; i < len(s); i++ {
		more += int(htmlMore[s[i]])
	}
	if more == 0 {
		return s
	}
	b := make([]byte, len(s)+more)
	at := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; htmlMore[c] == 0 {
			b[at] = c
			at++
		} else {
			at += copy(b[at:], htmlEntity(c))
		}
	}
	return unsafe.String(&b[0], len(b)) // nobody writes to b any more
}

// split makes a Lua list of the pieces of s, at most most of them where that is
// not -1. It counts them as it goes: a long text has millions.
func split(v *script.Call, s, sep string, most int) *script.Table {
	t := script.NewTable()
	for n := 1; ; n++ {
		v.Charge(splitCharge)
		piece, rest, more := strings.Cut(s, sep)
		if !more || n == most {
			t.Append(s)
			return t
		}
		t.Append(piece)
		s = rest
	}
}

// splitCharge is what one piece of a text counts, in instructions.
const splitCharge = 4

func verbSplit(v *script.Call) error {
	s, sep, most := v.String(1), v.String(2), v.OptInt(3, -1)
	if sep == "" {
		v.Bad(2, "the separator is empty")
	}
	if most == 0 || most < -1 {
		v.Bad(3, "the most pieces are %d", most)
	}
	v.Return(split(v, s, sep, most))
	return nil
}

func verbLines(v *script.Call) error {
	s := strings.ReplaceAll(v.String(1), "\r\n", "\n")
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r", "\n"), "\n")
	if s == "" && v.String(1) == "" {
		v.Return(script.NewTable())
		return nil
	}
	v.Return(split(v, s, "\n", -1))
	return nil
}

// maxPad bounds what one call of text.pad makes, in characters.
const maxPad = 1 << 20

func verbPad(v *script.Call) error {
	s, width, side, filler := v.String(1), v.Int(2), v.OptString(3, "right"), v.OptString(4, " ")
	if utf8.RuneCountInString(filler) != 1 {
		v.Bad(4, "the filler is not one character")
	}
	if width > maxPad {
		v.Bad(2, "the width is over %d", maxPad)
	}
	n := max(width-utf8.RuneCountInString(s), 0)
	switch side {
	case "right":
		s += strings.Repeat(filler, n)
	case "left":
		s = strings.Repeat(filler, n) + s
	case "center":
		s = strings.Repeat(filler, n/2) + s + strings.Repeat(filler, n-n/2)
	default:
		v.Bad(3, "the side is left, right or center")
	}
	v.Return(s)
	return nil
}

func verbSub(v *script.Call) error {
	s, from, to := v.String(1), v.Int(2), v.OptInt(3, -1)
	n := utf8.RuneCountInString(s)
	if from < 0 {
		from = max(n+from+1, 1)
	}
	if to < 0 {
		to = n + to + 1
	}
	from, to = max(from, 1), min(to, n)
	if from > to {
		v.Return("")
		return nil
	}
	v.Return(s[offset(s, from-1):offset(s, to)])
	return nil
}

// offset gives the place of the n-th character, in bytes.
func offset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

var formVerbs = []script.Verb{
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
			v.ReturnText(string(escapeForm(make([]byte, 0, len(s)+len(s)/4), s)))
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
			s, ok := unescape(v.Text(1), true)
			if !ok {
				return fmt.Errorf("%.60q has a percent sign without two hex digits", v.Text(1))
			}
			v.Return(s)
			return nil
		},
	},
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
			t, err := parseForm(v.String(1), maxFields.bound(maxParsedFields), false)
			if err != nil {
				return errors.New("more than 100000 fields")
			}
			v.Return(t)
			return nil
		},
	},
	{
		Name:    "form.encode",
		Doc:     "The inverse of form.parse, in the order of the names.",
		Params:  []script.Param{script.Arg("table", "table", "name to value; a list has the name once for each item")},
		Results: script.Returns("string", ""),
		Example: `form.encode ({b = "x y", a = {1, 2}})`,
		Gives:   "a=1&a=2&b=x+y",
		Page:    true,
		Func:    verbEncodeArgs,
	},
}

// maxParsedFields bounds form.parse, whose text may be a script's own.
const maxParsedFields = 100_000
