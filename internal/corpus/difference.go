package corpus

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Difference is a difference that a transport may have, with the reason.
type Difference struct {
	Transports string // patterns of path.Match for names of transports, separated by blanks
	Cases      string // likewise for names of cases
	Aspect     string // "status", "reason", "body", "field NAME"; "answer" if there is none
	Gives      string // regular expression that must match what the answer has
	Why        string
}

func (d Difference) String() string {
	return fmt.Sprintf("{%s} {%s} %s ~ %s (%s)", d.Transports, d.Cases, d.Aspect, d.Gives, d.Why)
}

// transportDifferences are the rows of one transport.
type transportDifferences struct {
	rows []*transportDifference
}

// A transportDifference is one pattern of cases of a row.
type transportDifference struct {
	Difference
	cases string
	gives *regexp.Regexp
	met   bool // a case had this difference
}

func differencesOf(transport string, table []Difference) *transportDifferences {
	d := &transportDifferences{}
	for _, row := range table {
		if !matchesAny(row.Transports, transport) {
			continue
		}
		for _, pattern := range strings.Fields(row.Cases) {
			d.rows = append(d.rows, &transportDifference{Difference: row, cases: pattern, gives: regexp.MustCompile(row.Gives)})
		}
	}
	return d
}

// caseDifferences are the rows that apply to one case.
type caseDifferences []*transportDifference

func (d *transportDifferences) of(name string) caseDifferences {
	var rows caseDifferences
	for _, row := range d.rows {
		if matchesAny(row.cases, name) {
			rows = append(rows, row)
		}
	}
	return rows
}

// allows reports whether a row allows got for an aspect, and marks the row as met.
func (d caseDifferences) allows(aspect, got string) bool {
	for _, row := range d {
		if row.Aspect == aspect && row.gives.MatchString(got) {
			row.met = true
			return true
		}
	}
	return false
}

// unused returns the rows of the transport that no case met.
func (d *transportDifferences) unused() []string {
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
