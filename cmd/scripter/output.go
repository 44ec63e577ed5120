package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// visibleWriter makes characters that control a terminal visible: see [printable]. A
// command prints its own text, names and values of the root, and text from visitors
// through it, and need not tell them apart.
type visibleWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character or of a line end
}

// Write prints p. It holds back an incomplete character for the next Write.
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

// flush prints what Write holds back.
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

// raw returns the writer for values, responses and JSON: their exact bytes, but made
// visible on a terminal.
func (t *tool) raw() io.Writer {
	if isTerminal(t.screen) {
		return t.out
	}
	return t.exact
}

// visible makes characters of text from a visitor that control a terminal visible. It
// keeps line ends and tabs.
func visible(s string) string { return printable(strings.ReplaceAll(s, "\r\n", "\n")) }

// printable makes a text of others harmless on a terminal: it writes a character that
// cannot be seen, such as an escape or a mark of writing direction, as Go quotes it.
// Line ends and tabs stay.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// oneLine does what printable does, and makes line ends and tabs visible too.
func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(s))
}

// columns prints rows in columns; an empty cell is a dash.
func (t *tool) columns(rows [][]string) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i := range r {
			if r[i] = oneLine(r[i]); r[i] == "" {
				r[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}

// shellWord returns a word as it is typed in a shell.
func shellWord(s string) string {
	if strings.ContainsAny(s, " '\"\\$&;()*?[") {
		return shellQuote(s)
	}
	return s
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
