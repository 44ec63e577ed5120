package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/gopher-lua/ast"
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

// locate finds the line's text, and the column at which the token begins that
// the machine's parser could not use. The parser tells its last byte.
func (e *SyntaxError) locate(source string, at ast.Position) {
	e.Source = sourceLine(source, e.Line)
	if e.Near == "<eof>" {
		e.Column = utf8.RuneCountInString(strings.TrimRight(e.Source, " \t")) + 1
		return
	}
	if t, ok := tokenise(source).ending(at.Line, at.Column); ok && t.line == e.Line {
		e.Column = t.column
		if line := []rune(e.Source); !utf8.ValidString(e.Near) && e.Column <= len(line) {
			e.Near = string(line[e.Column-1]) // the machine reads bytes
		}
	}
}

// locateWord finds the column of an error that the compiler tells by line only:
// that of the word it is about, if the line has it once.
func (e *SyntaxError) locateWord(source string) {
	e.Source = sourceLine(source, e.Line)
	about := []string{"break"}
	switch _, near, ok := strings.Cut(e.what(), " near '"); {
	case ok:
		about = []string{strings.TrimSuffix(near, "'")}
	case strings.Contains(e.Message, "goto"):
		about = []string{"goto"}
	case strings.Contains(e.Message, "'...'"):
		about = []string{"..."}
	}
	column, n := 0, 0
	for _, t := range tokenise(source).tokens {
		if t.line == e.Line && slices.Contains(about, t.text) {
			column = t.column
			n++
		}
	}
	if n == 1 {
		e.Column = column
	}
}
