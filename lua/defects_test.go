package lua

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// TestDefects runs the example of each defect here and in gopher-lua alone. If the
// latter is right, the cure is not needed any more.
func TestDefects(t *testing.T) {
	for _, row := range defects(t) {
		what, example, gives := row[0], row[1], row[2]
		assert.Regexp(t, `^[A-Z].*\.$`, what)
		_, err := os.Stat(curedIn(row))
		require.NoError(t, err, what)
		if example == "" {
			continue
		}
		assert.Equal(t, gives, eval(t, example), what)
		assert.NotEqual(t, gives, inPlainMachine(example), "gopher-lua is right about this now: %s", what)
	}
}

// TestDefectFiles finds the row of each file that cures a defect.
func TestDefectFiles(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	cured := map[string]bool{}
	for _, row := range defects(t) {
		cured[curedIn(row)] = true
	}
	for _, f := range files {
		if name := f.Name(); len(name) > 7 && name[:7] == "defect_" {
			assert.True(t, cured[name], "%s has no row in docs/lua.md", name)
		}
	}
}

// defects returns the rows of the table of defects: what is wrong, an example, what it
// gives, and a link to the file with the cure.
func defects(t *testing.T) [][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/lua.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "<!-- defects: ")
	require.True(t, ok)
	table, _, ok = strings.Cut(table, "<!-- end -->")
	require.True(t, ok)
	var rows [][]string
	for line := range strings.Lines(strings.ReplaceAll(table, `\|`, "\x00")) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(line, "|")
		require.Len(t, cells, 6, line)
		for i, cell := range cells {
			cells[i] = strings.Trim(strings.ReplaceAll(cell, "\x00", "|"), " `\n")
		}
		rows = append(rows, cells[1:len(cells)-1])
	}
	require.Greater(t, len(rows), 20)
	return rows[2:] // after the head and the line below it
}

// curedIn returns the file to which a row links: [name](../lua/name).
func curedIn(row []string) string {
	name, _, _ := strings.Cut(row[3], "]")
	return strings.TrimPrefix(name, "[")
}

// inPlainMachine returns what a script returns in gopher-lua alone, as text.
func inPlainMachine(source string) (text string) {
	L := lua.NewState()
	defer L.Close()
	defer func() {
		if r := recover(); r != nil {
			text = "a panic"
		}
	}()
	if err := L.DoString(source); err != nil {
		return "error: " + err.Error()
	}
	if L.GetTop() == 0 {
		return ""
	}
	return L.ToStringMeta(L.Get(-1)).String()
}
