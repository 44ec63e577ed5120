package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// people is a table of records as people copy it from a spreadsheet.
const people = "name\tborn\tcountry\nAda\t1815\tEngland\nEmmy\t1882\tGermany\nSofia\t1850\tRussia\n"

// pastePeople makes the table workspace.people from rows that are pasted.
func pastePeople(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	b.Open("/scripter/at/workspace.people")
	b.Click("Paste rows")
	b.In("main", "").ClickRole("textbox", "CSV, cells with tabs, or JSON")
	b.Insert(people)
	b.Type("Column with the names of the rows", "name")
	b.Click("Show what would be stored")
	b.See("3 rows would be added to workspace.people.")
	b.See("Ada 1815 England")
	assert.NotContains(t, s.Scripter(t, "ls", "workspace.people"), "Ada")
	inspect(t, b, "paste")
	b.Click("Add 3 rows")
	b.See("The rows were added.")
	assert.Equal(t, "1815\n", s.Scripter(t, "get", "workspace.people.Ada.born"))
}

// TestBrowserTable: rows are pasted, and cells edited in place by keyboard and mouse.
func TestBrowserTable(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "workspace.people.first.name", "x")
		s.Scripter(t, "rm", "-r", "workspace.people.first")
		b := logIn(t, s, "ada", "at/workspace.people")
		pastePeople(t, s, b)
		b.Has("grid", "")
		inspect(t, b, "grid")

		b.TabTo("gridcell", "1815")
		b.Press("ArrowDown", "Enter")
		b.Keys("1883")
		b.Press("Enter")
		b.See("Saved.")
		b.Has("gridcell", "1883")
		becomes(t, s, "workspace.people.Emmy.born", "1883\n")
		assert.Equal(t, "gridcell 1850", b.Focus())

		b.DoubleClick("gridcell", "Russia")
		b.Press("Control+a")
		b.Keys("Sweden")
		b.Press("Escape")
		b.Has("gridcell", "Russia")
		b.DoubleClick("gridcell", "Russia")
		b.Press("Control+a")
		b.Keys("Sweden")
		b.Press("Enter")
		b.Has("gridcell", "Sweden")
		becomes(t, s, "workspace.people.Sofia.country", "Sweden\n")

		b.ClickRole("link", "born")
		b.In("columnheader", "born").See("↑")
		b.Reload()
		b.Has("gridcell", "Sweden")
	})
}

// TestBrowserTableConflict: a cell that somebody else has changed meanwhile is not overwritten unasked.
func TestBrowserTableConflict(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "put", "--parents", "workspace.people.Ada.born", "1815", "--kind", "string")
	b := logIn(t, s, "ada", "at/workspace.people?view=grid")
	b.DoubleClick("gridcell", "1815")
	s.Scripter(t, "put", "workspace.people.Ada.born", "1816", "--kind", "string")
	b.Press("Control+a")
	b.Keys("1817")
	b.Press("Enter")
	b.See("1816")
	b.Expect("status of 409")
	assert.Equal(t, "1816\n", s.Scripter(t, "get", "workspace.people.Ada.born"))
	inspect(t, b, "grid-conflict")
	b.Press("Enter")
	b.See("Saved.")
	assert.Equal(t, "1817\n", s.Scripter(t, "get", "workspace.people.Ada.born"))
}

// TestBrowserLargeTable: a table with many rows is shown page by page.
func TestBrowserLargeTable(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "put", "--parents", "workspace.many.row0000", "0")
	s.Scripter(t, "eval", `for i = 1, 1000 do workspace.many [string.format ("row%04d", i)] = i end`)
	b := logIn(t, s, "ada", "at/workspace.many")
	b.See("row0001")
	b.NotSee("row0999")
	b.In("main", "").Click("Next")
	b.In("main", "").See("row0150")
	b.Click("Previous")
	b.In("main", "").See("row0001")
	tree := b.In("navigation", "Objects in the root")
	tree.Click("More…")
	tree.See("row0150")
}

// becomes waits until the value of an object is a text: a grid shows what was typed before it is
// stored.
func becomes(t *testing.T, s *servertest.Server, address, want string) {
	t.Helper()
	got := ""
	for range 100 {
		if got = s.Scripter(t, "get", address); got == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	assert.Equal(t, want, got, address)
}
