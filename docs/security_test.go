package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedTest  = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	namedCases = regexp.MustCompile("`([a-z][a-z*-]*)`")
)

// TestSecurity: the tests and cases that security.md names exist, and it names
// every fuzz target and every hostile case.
func TestSecurity(t *testing.T) {
	tests, cases, _ := listTests(t)
	page := read(t, "security.md")
	var named []string
	for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
		named = append(named, m[1])
		assert.True(t, slices.Contains(tests, m[1]), "security.md names %s, which does not exist", m[1])
	}
	for _, name := range tests {
		if strings.HasPrefix(name, "Fuzz") {
			assert.True(t, slices.Contains(named, name), "security.md does not name the fuzz target %s", name)
		}
	}
	var covered []string
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|") // "", attack, tests, cases, ""
		if len(cells) != 5 || cells[0] != "" {
			continue
		}
		for _, m := range namedCases.FindAllStringSubmatch(cells[3], -1) {
			found := 0
			for _, c := range cases {
				if ok, _ := path.Match(m[1], c); ok {
					covered = append(covered, c)
					found++
				}
			}
			assert.NotZero(t, found, "security.md names a case that does not exist: %s", m[1])
		}
	}
	for _, c := range cases {
		if strings.HasPrefix(c, "hostile-") && !slices.Contains(covered, c) {
			t.Errorf("security.md does not name the case %s", c)
		}
	}
}

// listTests gives the names of all tests and cases, and the rows of the catalogue
// of faults that tests name.
func listTests(t *testing.T) (tests, cases, rows []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			tests = append(tests, m[1])
		}
		for _, m := range namedRows.FindAllStringSubmatch(string(text), -1) {
			rows = append(rows, strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })...)
		}
		return err
	}))
	files, err := filepath.Glob("../internal/corpus/testdata/*.txtar")
	require.NoError(t, err)
	for _, f := range files {
		cases = append(cases, strings.TrimSuffix(filepath.Base(f), ".txtar"))
	}
	return tests, cases, rows
}

var (
	namedRows = regexp.MustCompile(`(?m)^// Catalogue: (.*)$`)
	faultRow  = regexp.MustCompile(`^[A-Z]\d+$`)
)

// TestFaults: every row of faults.md has a test or a case, each of them exists, and
// a test that names a row names one of these.
func TestFaults(t *testing.T) {
	tests, cases, named := listTests(t)
	var rows []string
	for line := range strings.Lines(read(t, "faults.md")) {
		cells := strings.Split(line, "|") // "", row, what happens, what must come of it, shown by, ""
		if len(cells) != 6 || !faultRow.MatchString(strings.TrimSpace(cells[1])) {
			continue
		}
		row := strings.TrimSpace(cells[1])
		assert.NotContains(t, rows, row)
		rows = append(rows, row)
		shown := strings.Fields(cells[4])
		assert.NotEmpty(t, shown, "nothing shows %s", row)
		for _, name := range shown {
			name = strings.Trim(name, "`")
			found := slices.Contains(tests, name) || slices.ContainsFunc(cases, func(c string) bool {
				ok, _ := path.Match(name, c)
				return ok
			})
			assert.True(t, found, "%s names %s, which does not exist", row, name)
		}
	}
	assert.Greater(t, len(rows), 80)
	assert.Subset(t, rows, named)
}
