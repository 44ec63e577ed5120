// Package html has the verbs that escape text for HTML.
package html

import (
	"strconv"
	"strings"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "html.escape",
		Doc:     `The text with &, <, >, " and ' as entities, safe in HTML text and quoted attributes.`,
		Params:  []script.Param{script.Arg("text", "any", "what is no text gets its text, as from tostring")},
		Results: script.Returns("string", ""),
		Example: `html.escape ("<b> & 'co'")`,
		Gives:   "&lt;b&gt; &amp; &#39;co&#39;",
		Page:    true,
		Func: func(v *script.Call) error {
			v.ReturnText(Escape(v.Text(1)))
			return nil
		},
	},
	{
		Name: "html.entities",
		Doc: "The text as html.escape gives it, with every character beyond ASCII as an entity: it is " +
			"the same in any character set.",
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

// longer holds for each character how many bytes its entity is longer, or 0 if it has
// no entity.
var longer = [256]uint8{'&': 4, '<': 3, '>': 3, '"': 5, '\'': 4}

func entity(c byte) string {
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

// Escape returns the text with the five special characters of HTML as entities. It is
// safe in the text of an element and in a quoted attribute.
func Escape(s string) string {
	more := 0
	for i := 0; i < len(s); i++ {
		more += int(longer[s[i]])
	}
	if more == 0 {
		return s
	}
	var short [256]byte
	b := short[:0]
	if len(s)+more > len(short) {
		b = make([]byte, 0, len(s)+more)
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; longer[c] == 0 {
			b = append(b, c)
		} else {
			b = append(b, entity(c)...)
		}
	}
	return string(b)
}

// entities returns the escaped text, with every character beyond ASCII as a numeric
// entity. A byte that is not UTF-8 becomes U+FFFD.
func entities(s string) string {
	s = Escape(s)
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
