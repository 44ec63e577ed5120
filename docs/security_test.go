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
	var tests []string
	require.NoError(t, filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			tests = append(tests, m[1])
		}
		return err
	}))
	files, err := filepath.Glob("../internal/corpus/testdata/*.txtar")
	require.NoError(t, err)
	var cases []string
	for _, f := range files {
		cases = append(cases, strings.TrimSuffix(filepath.Base(f), ".txtar"))
	}

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
