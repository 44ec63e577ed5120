package docs_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table specification.md is made from the tests. A test says which rows of
// the specification it shows, in a line of its own in the comment above it or
// beside a row of its table:
//
//	// Specification: 2.2.5, 8.1
//
// and a case of the corpus or a script of the tool in the same words, above its
// first section. The rows are listed in specification.rows.
//
//	go test ./docs -run TestSpecification -update    writes the table anew
var update = flag.Bool("update", false, "write specification.md anew")

// A specRow is one row of the specification.
type specRow struct {
	id, title string
	instead   string // what we have in its place, "" if the row is meant as it is
	section   string // set in the first row of a section
	shownBy   []shower
}

// A shower is a test or a case that shows rows.
type shower struct {
	name, file string // the file as seen from the repository's folder
}

// caseFolders hold cases, which the tests of these names run.
var caseFolders = map[string][]string{
	"internal/corpus/testdata": {"TestTransports", "TestServers"},
	"cmd/scripter/testdata":    {"TestScripts"},
}

// TestSpecification: every row is shown by a test, and the table says by which.
func TestSpecification(t *testing.T) {
	list, err := readSpecRows("specification.rows")
	require.NoError(t, err)
	errs := collectShowers("..", list)
	assert.Empty(t, errs)
	for _, r := range list {
		assert.NotEmpty(t, r.shownBy, "no test shows %s, %s", r.id, r.title)
	}
	want := specTable(list)
	if *update {
		require.NoError(t, os.WriteFile("specification.md", []byte(want), 0o644))
	}
	assert.Equal(t, want, read(t, "specification.md"), "the tests have changed: go test ./docs -run TestSpecification -update")
}

// TestSpecificationFaults: what is wrong with a tag is found.
func TestSpecificationFaults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"specification.rows": "# rows\n== 1 One\n1.1 First\n1.2 Second | ours\n",
		"a_test.go": `package a

// TestA shows.
//
// Specification: 1.1
func TestA() {
	_ = []int{
		// Specification: 1.2
		1,
	}
}

// Specification: 1.9
func TestUnknown() {}

// Specification: 1.1
func helper() {}

// Specification: first
func TestNoNumber() {}
`,
		"b.go":                                  "package a\n// Specification: 1.1\n",
		"internal/corpus/testdata/case.txtar":   "A case.\nSpecification: 1.2\n-- request --\nSpecification: 1.1\n",
		"cmd/scripter/testdata/commands.txtar":  "# Specification: 1.1\nexec scripter\n",
		"other/testdata/nobody_runs_this.txtar": "Specification: 1.1\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	list, err := readSpecRows(filepath.Join(dir, "specification.rows"))
	require.NoError(t, err)
	errs := collectShowers(dir, list)
	slices.Sort(errs)
	assert.Equal(t, []string{
		`a_test.go: TestNoNumber: there is no row "first"`,
		`a_test.go: TestUnknown: there is no row "1.9"`,
		`a_test.go: a line "Specification:" belongs to helper, which is no test`,
		"cmd/scripter/testdata is run by TestScripts, which is not there",
		"internal/corpus/testdata is run by TestServers, which is not there",
		"internal/corpus/testdata is run by TestTransports, which is not there",
		"other/testdata/nobody_runs_this.txtar: no test is known to run it",
	}, errs)
	assert.Equal(t, []shower{{"TestA", "a_test.go"}, {"commands.txtar", "cmd/scripter/testdata/commands.txtar"}}, list[0].shownBy)
	assert.Equal(t, []shower{{"TestA", "a_test.go"}, {"case.txtar", "internal/corpus/testdata/case.txtar"}}, list[1].shownBy)
	assert.Contains(t, specTable(list), "\n## 1 One\n\n| Row | What it asks for | Shown by |\n|---|---|---|\n| 1.1 | First | [TestA](../a_test.go), [commands.txtar](../cmd/scripter/testdata/commands.txtar) |\n| 1.2 | Second *Here: ours.* | ")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "specification.rows"), []byte("== 1 One\n1.1 First\n1.1 Again\n"), 0o644))
	_, err = readSpecRows(filepath.Join(dir, "specification.rows"))
	assert.ErrorContains(t, err, "line 3: row 1.1 is there twice")
}

var specRowLine = regexp.MustCompile(`^([1-9](?:\.[0-9]+)+) (.+)$`)

// readSpecRows reads the list of rows.
func readSpecRows(file string) ([]*specRow, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []*specRow
	seen := map[string]bool{}
	section, n := "", 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "== "); ok {
			section = s
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := specRowLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			return nil, fmt.Errorf("%s, line %d: %q is no row", file, n, line)
		case seen[m[1]]:
			return nil, fmt.Errorf("%s, line %d: row %s is there twice", file, n, m[1])
		}
		seen[m[1]] = true
		title, instead, _ := strings.Cut(m[2], " | ")
		list = append(list, &specRow{id: m[1], title: title, instead: instead, section: section})
		section = ""
	}
	return list, nil
}

// collectShowers gives each row what shows it, and returns what is wrong.
func collectShowers(repository string, list []*specRow) (errs []string) {
	rows := map[string]*specRow{}
	for _, r := range list {
		rows[r.id] = r
	}
	tests := map[string]bool{}
	show := func(s shower, ids string) {
		for id := range strings.SplitSeq(ids, ",") {
			r := rows[strings.TrimSpace(id)]
			if r == nil {
				errs = append(errs, fmt.Sprintf("%s: %s: there is no row %q", s.file, s.name, strings.TrimSpace(id)))
			} else if !slices.Contains(r.shownBy, s) {
				r.shownBy = append(r.shownBy, s)
			}
		}
	}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(repository, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		switch {
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || file == "bin"):
			return fs.SkipDir
		case strings.HasSuffix(file, "_test.go"):
			err = collectTests(path, file, tests, show, &errs)
		case strings.HasSuffix(file, ".txtar"):
			err = collectCase(path, file, show, &errs)
		}
		return err
	})
	if err != nil {
		errs = append(errs, err.Error())
	}
	for folder, runBy := range caseFolders {
		for _, name := range runBy {
			if !tests[name] {
				errs = append(errs, fmt.Sprintf("%s is run by %s, which is not there", folder, name))
			}
		}
	}
	return errs
}

var (
	specTag  = regexp.MustCompile(`^(?://|#)?\s*Specification: (.*)$`)
	testName = regexp.MustCompile(`^(Test|Fuzz|Example)`)
)

// collectTests reads the tags of a Go file. A tag belongs to the function that
// it stands above or in.
func collectTests(path, file string, tests map[string]bool, show func(shower, string), errs *[]string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			m := specTag.FindStringSubmatch(c.Text)
			if m == nil {
				continue
			}
			name := functionAt(f, c.Pos())
			if !testName.MatchString(name) {
				*errs = append(*errs, fmt.Sprintf(`%s: a line "Specification:" belongs to %s, which is no test`, file, name))
				continue
			}
			show(shower{name, file}, m[1])
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			tests[fn.Name.Name] = true
		}
	}
	return nil
}

func functionAt(f *ast.File, pos token.Pos) string {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start := fn.Pos()
		if fn.Doc != nil {
			start = fn.Doc.Pos()
		}
		if start <= pos && pos < fn.End() && fn.Recv == nil {
			return fn.Name.Name
		}
	}
	return "no function"
}

// collectCase reads the tags of a case, above its first section.
func collectCase(path, file string, show func(shower, string), errs *[]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		m := specTag.FindStringSubmatch(strings.TrimSpace(line))
		switch folder := filepath.ToSlash(filepath.Dir(file)); {
		case m == nil:
		case caseFolders[folder] == nil:
			*errs = append(*errs, file+": no test is known to run it")
		default:
			show(shower{filepath.Base(file), file}, m[1])
		}
	}
	return nil
}

const specHead = `# The specification, row by row

<!-- Made from the tests by "go test ./docs -run TestSpecification -update". Do not edit. -->

Every row of the specification that Scripter was made from, in our own words, with the tests
that show that it holds. *Here* says what stands in the place of a row, where the specification
leaves something open or time has gone over it. Files that end in .txtar are cases: those of
internal/corpus are put through every transport and every web server, those of cmd/scripter are
sessions with the tool. ` + "`make test`" + ` runs them all.
`

// specTable writes the page.
func specTable(list []*specRow) string {
	var b strings.Builder
	b.WriteString(specHead)
	for _, r := range list {
		if r.section != "" {
			fmt.Fprintf(&b, "\n## %s\n\n| Row | What it asks for | Shown by |\n|---|---|---|\n", r.section)
		}
		title := escapeCell(r.title)
		if r.instead != "" {
			title += " *Here: " + escapeCell(r.instead) + ".*"
		}
		slices.SortFunc(r.shownBy, func(a, b shower) int {
			return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.file, b.file))
		})
		var links []string
		for _, s := range r.shownBy {
			links = append(links, fmt.Sprintf("[%s](../%s)", s.name, s.file))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.id, title, strings.Join(links, ", "))
	}
	return b.String()
}

func escapeCell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace(s)
}
