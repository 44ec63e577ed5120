package expect

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

const (
	shortText = 200      // bytes of a value in a message
	wholeText = 64 << 10 // bytes of a value in a report
	lineWidth = 72       // of a table that is written in one line
)

// short returns the value for a message, in one line.
func (v value) short() string {
	if !v.table {
		return plainText(v.plain)
	}
	var b strings.Builder
	v.write(&b, shortText)
	return clip(b.String(), shortText)
}

// whole returns the value for the report: a text as it is, and any other value as Lua. A long
// table has a line for each cell.
func (v value) whole() string {
	if s, ok := v.plain.(string); ok {
		return clip(s, wholeText)
	}
	if !v.table {
		return plainText(v.plain)
	}
	var b strings.Builder
	v.writeLines(&b, "")
	return clip(b.String(), wholeText)
}

// write writes a table in one line, and stops after most bytes.
func (v value) write(b *strings.Builder, most int) {
	if !v.table {
		b.WriteString(plainText(v.plain))
		return
	}
	b.WriteByte('{')
	for i, c := range v.cells {
		if b.Len() > most {
			return
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.key(i))
		c.value.write(b, most)
	}
	b.WriteByte('}')
}

// writeLines writes a table with a line for each cell, unless it fits in one line.
func (v value) writeLines(b *strings.Builder, indent string) {
	var line strings.Builder
	v.write(&line, lineWidth)
	if line.Len() <= lineWidth || !v.table {
		b.WriteString(line.String())
		return
	}
	b.WriteString("{\n")
	for i, c := range v.cells {
		if b.Len() > wholeText {
			return
		}
		b.WriteString(indent + "\t" + v.key(i))
		c.value.writeLines(b, indent+"\t")
		b.WriteString(",\n")
	}
	b.WriteString(indent + "}")
}

// key returns the name of cell i for a table constructor, or "" for an item.
func (v value) key(i int) string {
	c := v.cells[i]
	if c.order == float64(i+1) {
		return ""
	}
	return strings.TrimLeft(c.name, " .") + " = "
}

// plainText returns a value that is not a table, as Lua.
func plainText(v script.Value) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return quote(v)
	case float64:
		return lua.NumberText(v)
	case objectdb.Date:
		return v.UTC().Format("2006-01-02 15:04:05.999999999")
	case objectdb.Binary:
		return fmt.Sprintf("a binary of %d bytes, %s", len(v.Data), v.Type)
	case objectdb.Address:
		return "the address " + v.String()
	case objectdb.Script:
		return "a script: " + quote(string(v))
	case objectdb.Null:
		return "json.null"
	case bool:
		return strconv.FormatBool(v)
	case *script.Function:
		return "a function"
	case objectdb.Value:
		return "a " + v.Kind().String()
	}
	return "a value"
}

// quote quotes a text, and clips it.
func quote(s string) string {
	if len(s) <= shortText {
		return strconv.Quote(s)
	}
	cut := shortText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(s[:cut]), len(s))
}

// clip cuts a text to n bytes at most.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
