package textdiff

import (
	"fmt"
	"strings"
)

// Op says what happens to a line of a Hunk.
type Op byte

// What happens to a line. The values are the signs of a unified difference.
const (
	Same   Op = ' '
	Delete Op = '-'
	Insert Op = '+'
)

// Line is a line of a Hunk, with its "\n". The last line of a text may have none.
type Line struct {
	Op   Op
	Text string
}

// Hunk is a part of two texts in which they differ, with the lines around.
type Hunk struct {
	Old, New           int // the number of the first line, from 1; of the line before, if there are no lines
	OldLines, NewLines int
	Lines              []Line
}

// String returns the first line of the hunk in a unified difference.
func (h Hunk) String() string {
	return fmt.Sprintf("@@ -%s +%s @@", span(h.Old, h.OldLines), span(h.New, h.NewLines))
}

func span(line, count int) string {
	if count == 1 {
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}

// Lines splits a text into its lines. Each has its "\n".
func Lines(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// Hunks returns the parts in which two texts differ, each with up to context lines before and
// after it that are the same. The result is empty if the texts are equal.
func Hunks(before, after string, context int) []Hunk {
	if before == after {
		return nil
	}
	a, b := Lines(before), Lines(after)
	var hunks []Hunk
	var h *Hunk
	same := func(from, to int) {
		for _, line := range a[from:to] {
			h.Lines = append(h.Lines, Line{Same, line})
		}
		h.OldLines, h.NewLines = h.OldLines+to-from, h.NewLines+to-from
	}
	end := 0 // the end of the last edit in a
	for _, e := range compare(a, b) {
		if h == nil || e.aLo-end > 2*context {
			if h != nil {
				same(end, end+context)
			}
			above := min(context, e.aLo)
			hunks = append(hunks, Hunk{Old: e.aLo - above, New: e.bLo - above})
			h, end = &hunks[len(hunks)-1], e.aLo-above
		}
		same(end, e.aLo)
		for _, line := range a[e.aLo:e.aHi] {
			h.Lines = append(h.Lines, Line{Delete, line})
		}
		for _, line := range b[e.bLo:e.bHi] {
			h.Lines = append(h.Lines, Line{Insert, line})
		}
		h.OldLines, h.NewLines = h.OldLines+e.aHi-e.aLo, h.NewLines+e.bHi-e.bLo
		end = e.aHi
	}
	same(end, min(end+context, len(a)))
	for i := range hunks {
		if h := &hunks[i]; h.OldLines > 0 {
			h.Old++
		}
		if h := &hunks[i]; h.NewLines > 0 {
			h.New++
		}
	}
	return hunks
}

// NoNewline follows a line without "\n" in a unified difference.
const NoNewline = `\ No newline at end of file`

// Unified returns the difference of two texts in the unified form, with context lines around
// each change. It begins with the labels. The result is "" if the texts are equal.
func Unified(oldLabel, newLabel, before, after string, context int) string {
	hunks := Hunks(before, after, context)
	if len(hunks) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldLabel, newLabel)
	for _, h := range hunks {
		b.WriteString(h.String() + "\n")
		for _, line := range h.Lines {
			b.WriteByte(byte(line.Op))
			b.WriteString(line.Text)
			if !strings.HasSuffix(line.Text, "\n") {
				b.WriteString("\n" + NoNewline + "\n")
			}
		}
	}
	return b.String()
}
