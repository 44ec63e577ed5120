package main

import (
	"fmt"
	"os"
	"strings"
)

// A style is how a line looks on a terminal: the parameter of the control sequence SGR.
type style string

const (
	bold  style = "1"
	red   style = "31"
	green style = "32"
)

// colours reports whether the standard output is a terminal that shows styles, and the
// user wants them (https://no-color.org).
func (t *tool) colours() bool {
	name := os.Getenv("TERM")
	return isTerminal(t.screen) && os.Getenv("NO_COLOR") == "" && name != "" && name != "dumb"
}

// printStyled prints a line in a style; in a file or a pipe, and for the style "", as it is.
func (t *tool) printStyled(s style, line string) {
	line = visible(line)
	if s == "" || !t.colours() {
		fmt.Fprintln(t.out, line)
		return
	}
	if held, ok := t.out.(*visibleWriter); ok {
		held.flush()
	}
	fmt.Fprintf(t.exact, "\x1b[%sm%s\x1b[m\n", s, line) // out would make the styles visible
}

// printDifference prints a difference as textdiff.Unified returns it, or without its heads:
// removed lines red, added ones green, the heads bold.
func (t *tool) printDifference(text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	labels := 0 // the names of the two texts, which begin as removed and added lines do
	if len(lines) > 2 && strings.HasPrefix(lines[2], "@@") {
		labels = 2
	}
	for i, line := range lines {
		switch {
		case i < labels || strings.HasPrefix(line, "@@"):
			t.printStyled(bold, line)
		case strings.HasPrefix(line, "-"):
			t.printStyled(red, line)
		case strings.HasPrefix(line, "+"):
			t.printStyled(green, line)
		default:
			t.printStyled("", line)
		}
	}
}
