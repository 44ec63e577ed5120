package lua

import (
	"fmt"
	"strings"
)

// Text returns the message without the place.
func (e *SyntaxError) Text() string {
	if e.Near == "" {
		return e.Message
	}
	return e.Message + " near '" + e.Near + "'"
}

// Detail tells a developer all: the place with its column, the message, and
// below them the line with a sign under the column.
func (e *SyntaxError) Detail() string {
	text := fmt.Sprintf("%s: %s", Place(e.Name, e.Line, e.Column), e.Text())
	if e.Source == "" {
		return text
	}
	text += "\n\t" + e.Source
	before := []rune(e.Source)
	if e.Column == 0 || e.Column > len(before)+1 {
		return text
	}
	for i, r := range before {
		if r != '\t' { // a tab is as wide as the one above it
			before[i] = ' '
		}
	}
	return text + "\n\t" + string(before[:e.Column-1]) + "^"
}

// Place names a place in a script: "user.hello:4:7". Line 0 means the script as a
// whole, and column 0 the line as a whole.
func Place(name string, line, column int) string {
	switch {
	case line == 0:
		return name
	case column == 0:
		return fmt.Sprintf("%s:%d", name, line)
	}
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}

// SourceLine returns line n of source, counted from 1, cut if it is long.
func SourceLine(source string, n int) string {
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(source, "\n")
		if !ok {
			return ""
		}
		source = rest
	}
	line, _, _ := strings.Cut(source, "\n")
	return ShortLine(line)
}

// ShortLine cuts a line if it is long.
func ShortLine(line string) string {
	line = strings.TrimRight(line, "\r")
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return line
}
