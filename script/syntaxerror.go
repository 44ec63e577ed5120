package script

import (
	"fmt"
)

// what is the message without the place.
func (e *SyntaxError) what() string {
	if e.Near == "" {
		return e.Message
	}
	return e.Message + " near '" + e.Near + "'"
}

// Detail tells a developer all: the place with its column, the message, and
// below them the line with a sign under the column.
func (e *SyntaxError) Detail() string {
	text := fmt.Sprintf("%s: %s", textPlace{e.Name, e.Line, e.Column}, e.what())
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
