package admin

import (
	"strings"

	"scripter/textdiff"
)

// withLineEnds returns a text that was typed in a browser with the line ends of the text before:
// browsers send "\r\n" for each. Lines that stayed as they were keep their ends, and new ones get
// that of the line above, or the first of the text.
func withLineEnds(before, typed string) string {
	typed = strings.ReplaceAll(unixLines(typed), "\r", "\n")
	if !strings.Contains(before, "\r") {
		return typed
	}
	ends, plain := lineEnds(before)
	end := ends[0]
	var b strings.Builder
	write := func(line string) {
		if text, ok := strings.CutSuffix(line, "\n"); ok {
			line = text + end
		}
		b.WriteString(line)
	}
	lines := textdiff.Lines(plain)
	next := 0 // the line of before that comes next
	same := func(until int) {
		for ; next < until; next++ {
			if next < len(ends) {
				end = ends[next]
			}
			write(lines[next])
		}
	}
	for _, h := range textdiff.Hunks(plain, typed, 0) {
		at := h.Old - 1
		if h.OldLines == 0 {
			at = h.Old // the lines go behind line h.Old
		}
		same(at)
		for _, l := range h.Lines {
			if l.Op == textdiff.Insert {
				write(l.Text)
			} else if next < len(ends) {
				end = ends[next]
				next++
			} else {
				next++
			}
		}
	}
	same(len(lines))
	return b.String()
}

// lineEnds returns the end of each line of a text, and the text with "\n" in their place.
func lineEnds(text string) (ends []string, plain string) {
	var b strings.Builder
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			break
		}
		end := text[i : i+1]
		if strings.HasPrefix(text[i:], "\r\n") {
			end = "\r\n"
		}
		ends = append(ends, end)
		b.WriteString(text[:i] + "\n")
		text = text[i+len(end):]
	}
	b.WriteString(text)
	return ends, b.String()
}
