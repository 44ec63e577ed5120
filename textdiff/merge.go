package textdiff

import (
	"slices"
	"strings"
)

// Merge returns a text with the changes that ours and theirs make to base, and whether they fit
// together. If both sides change the same lines, or lines that touch, in different ways, they do
// not fit together, and Merge returns "" and false. The same change on both sides is no conflict.
//
// If one side changes the ends of all lines from "\n" to "\r\n" or back, the result has the line
// ends of that side.
func Merge(base, ours, theirs string) (merged string, clean bool) {
	return merge(base, ours, theirs, nil)
}

// MergeMarked does what Merge does, but where the changes do not fit together it writes both, each
// below a line with its label, as git does, and returns the number of these places.
func MergeMarked(base, ours, theirs, ourLabel, theirLabel string) (merged string, clashes int) {
	merged, _ = merge(base, ours, theirs, func(byUs, byThem []string) []string {
		clashes++
		lines := append([]string{"<<<<<<< " + ourLabel + "\n"}, ended(byUs)...)
		lines = append(append(lines, "=======\n"), ended(byThem)...)
		return append(lines, ">>>>>>> "+theirLabel+"\n")
	})
	return merged, clashes
}

// ended returns lines of which the last one ends, too.
func ended(lines []string) []string {
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines = append(slices.Clone(lines[:n-1]), lines[n-1]+"\n")
	}
	return lines
}

// merge is Merge, with a function that returns the lines where the changes do not fit together.
// If it is nil, merge returns "" and false.
func merge(base, ours, theirs string, clash func(byUs, byThem []string) []string) (merged string, clean bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	from, our, their := lineEnd(base), lineEnd(ours), lineEnd(theirs)
	if from != mixed && our != mixed && their != mixed && (our != from || their != from) {
		to := our
		if our == from {
			to = their
		}
		merged, clean = mergeLines(withEnd(base, "\n"), withEnd(ours, "\n"), withEnd(theirs, "\n"), clash)
		return withEnd(merged, to), clean
	}
	return mergeLines(base, ours, theirs, clash)
}

// mixed stands for the line ends of a text that has more than one kind, or no line end.
const mixed = ""

// lineEnd returns how all lines of a text end.
func lineEnd(text string) string {
	all, windows := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case all == 0:
		return mixed
	case windows == 0:
		return "\n"
	case windows == all:
		return "\r\n"
	}
	return mixed
}

// withEnd gives all lines of a text another end. The text has one kind of line ends.
func withEnd(text, end string) string {
	if lineEnd(text) == "\r\n" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if end == "\r\n" {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func mergeLines(base, ours, theirs string, clash func(byUs, byThem []string) []string) (string, bool) {
	lines := Lines(base)
	our := side{lines: Lines(ours)}
	their := side{lines: Lines(theirs)}
	our.edits, their.edits = compare(lines, our.lines), compare(lines, their.lines)
	var b strings.Builder
	end := 0 // the end in lines of what is merged
	for len(our.edits)+len(their.edits) > 0 {
		lo := min(our.next(len(lines)+1), their.next(len(lines)+1))
		for _, line := range lines[end:lo] {
			b.WriteString(line)
		}
		end = lo
		var byUs, byThem []edit
		for {
			before := end
			byUs, end = our.take(byUs, end)
			byThem, end = their.take(byThem, end)
			if end == before {
				break
			}
		}
		text, ok := mergeEdits(lines, lo, end, our.lines, byUs, their.lines, byThem, clash)
		if !ok {
			return "", false
		}
		for _, line := range text {
			b.WriteString(line)
		}
	}
	for _, line := range lines[end:] {
		b.WriteString(line)
	}
	return b.String(), true
}

// side is the text of one side.
type side struct {
	lines []string
	edits []edit // the edits that are not merged yet
}

// next returns the first line of the base that the next edit changes, or none.
func (s *side) next(none int) int {
	if len(s.edits) == 0 {
		return none
	}
	return s.edits[0].aLo
}

// take adds the next edits to taken if they begin at line end of the base or before it, and
// returns the end of all.
func (s *side) take(taken []edit, end int) ([]edit, int) {
	for len(s.edits) > 0 && s.edits[0].aLo <= end {
		taken, end = append(taken, s.edits[0]), max(end, s.edits[0].aHi)
		s.edits = s.edits[1:]
	}
	return taken, end
}

// mergeEdits returns the lines that replace base[lo:hi], where the edits of both sides touch.
func mergeEdits(base []string, lo, hi int, ours []string, our []edit, theirs []string, their []edit,
	clash func(byUs, byThem []string) []string,
) ([]string, bool) {
	byUs, byThem := apply(base, lo, hi, ours, our), apply(base, lo, hi, theirs, their)
	switch {
	case len(their) == 0 || slices.Equal(byUs, byThem):
		return byUs, true
	case len(our) == 0:
		return byThem, true
	case clash != nil:
		return clash(byUs, byThem), true
	}
	return nil, false
}

// apply returns base[lo:hi] with the edits of one side.
func apply(base []string, lo, hi int, lines []string, edits []edit) []string {
	var result []string
	for _, e := range edits {
		result = append(result, base[lo:e.aLo]...)
		result = append(result, lines[e.bLo:e.bHi]...)
		lo = e.aHi
	}
	return append(result, base[lo:hi]...)
}
