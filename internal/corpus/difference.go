package corpus

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Difference is one thing that a road does in its own way, and why we let it.
type Difference struct {
	Roads  string // patterns of path.Match for names of roads, blanks between
	Cases  string // likewise for names of cases
	Aspect string // "status", "reason", "body", "field NAME", or "answer" when there is none
	Gives  string // regular expression that what the road gives must match
	Why    string
}

func (d Difference) String() string {
	return fmt.Sprintf("{%s} {%s} %s ~ %s (%s)", d.Roads, d.Cases, d.Aspect, d.Gives, d.Why)
}

// roadDifferences are the rows of one road, and which of them were met.
type roadDifferences struct {
	rows []*roadDifference
}

// roadDifference is a row taken apart: one pattern of cases.
type roadDifference struct {
	Difference
	cases string
	gives *regexp.Regexp
	met   bool
}

func differencesOf(road string, table []Difference) *roadDifferences {
	d := &roadDifferences{}
	for _, row := range table {
		if !matchesAny(row.Roads, road) {
			continue
		}
		for _, pattern := range strings.Fields(row.Cases) {
			d.rows = append(d.rows, &roadDifference{Difference: row, cases: pattern, gives: regexp.MustCompile(row.Gives)})
		}
	}
	return d
}

// caseDifferences are the rows that may be used by one case.
type caseDifferences []*roadDifference

func (d *roadDifferences) of(name string) caseDifferences {
	var rows caseDifferences
	for _, row := range d.rows {
		if matchesAny(row.cases, name) {
			rows = append(rows, row)
		}
	}
	return rows
}

// allows reports whether a row lets the road give got for aspect, and marks
// the row as met.
func (d caseDifferences) allows(aspect, got string) bool {
	for _, row := range d {
		if row.Aspect == aspect && row.gives.MatchString(got) {
			row.met = true
			return true
		}
	}
	return false
}

// unused returns the rows of the road that no case met.
func (d *roadDifferences) unused() []string {
	var rows []string
	for _, row := range d.rows {
		if !row.met {
			rows = append(rows, fmt.Sprintf("case %s: %s", row.cases, row.Difference))
		}
	}
	return rows
}

func matchesAny(patterns, name string) bool {
	for _, p := range strings.Fields(patterns) {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
