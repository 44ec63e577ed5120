package main

import (
	"fmt"
	"strings"

	"scripter/objectfiles"
)

// program names this program in what it writes.
func program() string { return "scripter " + version }

// scriptNote is the comment at the top of a script: the place of its change notes.
type scriptNote struct{ address, comment string }

// topComment returns the comment that a script begins with, or "".
func topComment(source string) string {
	source = strings.TrimLeft(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n")
	if rest, ok := strings.CutPrefix(source, "--["); ok {
		level := len(rest) - len(strings.TrimLeft(rest, "="))
		if strings.HasPrefix(rest[level:], "[") { // --[[ … ]] and --[==[ … ]==]
			end := "]" + strings.Repeat("=", level) + "]"
			if text, _, closed := strings.Cut(source, end); closed {
				return text + end
			}
			return ""
		}
	}
	var lines []string
	for line := range strings.SplitSeq(source, "\n") {
		if !strings.HasPrefix(line, "--") {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// readme returns the README of an archive.
func readme(m objectfiles.Manifest, objects int, notes []scriptNote) string {
	var b strings.Builder
	heading := func(text string, line rune) {
		fmt.Fprintf(&b, "%s\n%s\n\n", text, strings.Repeat(string(line), len([]rune(text))))
	}
	of := "the root"
	if m.Address != "" {
		of = m.Address
	}
	heading("Objects of "+of, '=')
	fmt.Fprintf(&b, `%s, written by %s on %s.

See what importing this archive would change, and do it:

    scripter import --dry-run FILE
    scripter import FILE

objects/ holds one file for each object; the folders are the tables.
manifest.json has the checksum (SHA-256) of every file.
`, counted(objects, "object"), m.Program, m.Time.UTC().Format("2 January 2006, 15:04 UTC"))
	if m.Notes != "" {
		b.WriteString("\n")
		heading("Notes", '-')
		b.WriteString(strings.TrimRight(m.Notes, "\n") + "\n")
	}
	if len(notes) > 0 {
		b.WriteString("\n")
		heading("Notes at the top of the scripts", '-')
	}
	for i, n := range notes {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n", n.address)
		for line := range strings.SplitSeq(n.comment, "\n") {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}
