package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// visibleWriter makes what others have made harmless for a terminal: see
// [printable]. A command prints its own words, names and values of the root, and
// what visitors have sent, and need not know which is which.
type visibleWriter struct {
	w    io.Writer
	rest []byte // of a character, or of a line end, that may go on
}

// Write prints p. What it holds back for the next Write is part of a character.
func (v *visibleWriter) Write(p []byte) (int, error) {
	text := append(v.rest, p...)
	n := len(text)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if c := text[n-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[n-i:]) {
				n -= i
			}
			break
		}
	}
	if n > 0 && n == len(text) && text[n-1] == '\r' {
		n--
	}
	v.rest = bytes.Clone(text[n:])
	if err := v.print(text[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush prints what was held back.
func (v *visibleWriter) flush() error {
	rest := v.rest
	v.rest = nil
	return v.print(rest)
}

func (v *visibleWriter) print(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := io.WriteString(v.w, visible(string(text)))
	return err
}

// raw is where a command prints bytes that somebody may want as they are: values,
// responses, JSON. On a terminal they are made visible.
func (t *tool) raw() io.Writer {
	if isTerminal(t.screen) {
		return t.out
	}
	return t.exact
}

// visible makes what a visitor sent harmless for a terminal. Lines and tabs
// stay.
func visible(s string) string { return printable(strings.ReplaceAll(s, "\r\n", "\n")) }
