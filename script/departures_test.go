package script

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDepartures runs the example of every difference from Lua 5.1.
func TestDepartures(t *testing.T) {
	db := site(t)
	for _, row := range departures(t) {
		what, why, example, gives, puc := row[0], row[1], row[2], row[3], row[4]
		assert.Regexp(t, `^[A-Za-z_].*\.$`, what)
		assert.Regexp(t, `^[A-Z].*\.$`, why)
		assert.NotEmpty(t, puc, what)
		within(t, db, ThreadOptions{}, func(th *Thread) {
			v, err := th.RunSource("example", example)
			var e *Error
			if errors.As(err, &e) {
				assert.Equal(t, gives, e.Message, what)
				return
			}
			require.NoError(t, err, what)
			text, err := th.Text(v)
			require.NoError(t, err)
			assert.Equal(t, gives, text, what)
		})
	}
}

// TestDeparturesDepart runs those examples whose answer in Lua's own program is
// told exactly.
func TestDeparturesDepart(t *testing.T) {
	lua, err := exec.LookPath("lua5.1")
	if err != nil && os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "" {
		t.Skip("lua5.1 is not installed")
	}
	require.NoError(t, err)
	for _, row := range departures(t) {
		what, example, puc := row[0], row[2], row[4]
		if strings.Contains(puc, " ") && puc != "1 2" || puc == "nil" {
			continue
		}
		out, err := exec.Command(lua, "-e", "print ((function ()\n"+example+"\nend) ())").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, puc, strings.TrimSpace(string(out)), what)
	}
}

// departures returns the rows of the table of differences from Lua 5.1: what differs, why,
// an example, what it gives here, and in PUC Lua.
func departures(t *testing.T) [][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/lua.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "<!-- departures: ")
	require.True(t, ok)
	table, _, ok = strings.Cut(table, "<!-- end -->")
	require.True(t, ok)
	var rows [][]string
	for line := range strings.Lines(strings.ReplaceAll(table, `\|`, "\x00")) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(line, "|")
		require.Len(t, cells, 7, line)
		for i, cell := range cells {
			cells[i] = strings.Trim(strings.ReplaceAll(cell, "\x00", "|"), " `\n")
		}
		rows = append(rows, cells[1:len(cells)-1])
	}
	require.Greater(t, len(rows), 20)
	return rows[2:] // after the head and the line below it
}
