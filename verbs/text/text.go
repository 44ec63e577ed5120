// Package text has the verbs that split, trim, pad and count text. They count characters of
// UTF-8, where Lua's library string counts bytes.
package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
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
		Name: "text.split",
		Doc:  "A list of the pieces between separators, the last with all the rest when there are more than most.",
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Arg("separator", "string", "taken as it is: no pattern"),
			script.Opt("most", "integer", "", "how many pieces there are at most"),
		},
		Results: script.Returns("string[]", ""),
		Errors:  "an empty separator; most below 1",
		Example: `table.concat (text.split ("a,b,c", ",", 2), " | ")`,
		Gives:   "a | b,c",
		Page:    true,
		Func:    split,
	},
	{
		Name: "text.lines",
		Doc: "A list of the lines, which end in CR LF, LF or CR. A line end at the very end begins no " +
			"further line.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string[]", ""),
		Example: `table.concat (text.lines ("one\r\n\ntwo\n"), " | ")`,
		Gives:   "one |  | two",
		Page:    true,
		Func:    lines,
	},
	{
		Name: "text.pad",
		Doc: `The text with fillers at its "left", "right" or both ends ("center") until it has width ` +
			`characters.`,
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Arg("width", "integer", "in characters"),
			script.Opt("side", "string", `"right"`, `"right", "left" or "center"`),
			script.Opt("filler", "string", `" "`, "one character"),
		},
		Results: script.Returns("string", ""),
		Errors:  "a width over 1048576, a filler that is not one character, another side",
		Example: `text.pad ("7", 3, "left", "0")`,
		Gives:   "007",
		Page:    true,
		Func:    pad,
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
		Name: "text.sub",
		Doc:  "The characters from one place to another, counted as string.sub counts bytes.",
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Arg("from", "integer", "from 1; negative ones count from the end"),
			script.Opt("to", "integer", "-1", "likewise, included"),
		},
		Results: script.Returns("string", ""),
		Example: `text.sub ("Äpfel", 1, 2)`,
		Gives:   "Äp",
		Page:    true,
		Func:    sub,
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
	{
		Name: "text.nthField",
		Doc:  `The n-th piece of the text between delimiters, "" where there is none.`,
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Arg("delimiter", "string", "taken as it is: no pattern"),
			script.Arg("n", "integer", "from 1"),
		},
		Results: script.Returns("string", ""),
		Errors:  "an empty delimiter; n below 1",
		Example: `text.nthField ("red, green, blue", ", ", 2)`,
		Gives:   "green",
		Page:    true,
		Func:    nthField,
	},
	{
		Name: "text.countFields",
		Doc:  "The number of pieces of the text between delimiters; an empty text has none.",
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Arg("delimiter", "string", "taken as it is: no pattern"),
		},
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
}

// pieces returns a list of the pieces of s, at most most of them unless that is -1. It
// charges for each: a long text has millions.
func pieces(v *script.Call, s, sep string, most int) *script.Table {
	t := script.NewTable()
	for n := 1; ; n++ {
		v.Charge(pieceCharge)
		piece, rest, more := strings.Cut(s, sep)
		if !more || n == most {
			t.Append(s)
			return t
		}
		t.Append(piece)
		s = rest
	}
}

// pieceCharge is what one piece of a text counts, in instructions.
const pieceCharge = 4

func split(v *script.Call) error {
	s, sep, most := v.String(1), v.String(2), v.OptInt(3, -1)
	if sep == "" {
		v.Bad(2, "the separator is empty")
	}
	if most == 0 || most < -1 {
		v.Bad(3, "the most pieces are %d", most)
	}
	v.Return(pieces(v, s, sep, most))
	return nil
}

func lines(v *script.Call) error {
	s := strings.ReplaceAll(v.String(1), "\r\n", "\n")
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r", "\n"), "\n")
	if s == "" && v.String(1) == "" {
		v.Return(script.NewTable())
		return nil
	}
	v.Return(pieces(v, s, "\n", -1))
	return nil
}

// maxPad bounds what one call of text.pad makes, in characters.
const maxPad = 1 << 20

func pad(v *script.Call) error {
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

func sub(v *script.Call) error {
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

// offset returns the number of bytes of the first n characters.
func offset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}
