package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
)

// TestBrowserTree: objects are made, renamed, moved, copied and deleted, and each change is undone
// where it is told.
func TestBrowserTree(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "workspace.note", "first")
		b := logIn(t, s, "ada", "at/workspace")
		b.Click("New object")
		b.Type("Name", "notes")
		b.Select("Kind", "table")
		inspect(t, b, "table-new")
		b.Click("Create")
		b.See("Created.")
		b.See("There is nothing in this table yet.")
		inspect(t, b, "table-empty")

		// By keyboard.
		b.TabTo("DisclosureTriangle", "New object")
		b.Press("Enter", "Tab")
		b.Keys("greeting")
		b.Press("Tab")
		b.Keys("string")
		b.Press("Tab", "Enter")
		b.See("Created.")
		b.Has("heading", "greeting")
		require.Contains(t, s.Scripter(t, "ls", "workspace.notes"), "greeting")

		b.Click("Rename, move, delete")
		inspect(t, b, "object-change")
		b.Type("New address", "workspace.hello")
		b.Click("Rename or move")
		b.See("Moved.")
		b.Has("heading", "hello")
		b.In("main", "").Click("Undo")
		b.See("Undone.")
		require.Contains(t, s.Scripter(t, "ls", "workspace.notes"), "greeting")

		b.Open("/scripter/at/workspace.notes")
		b.Click("Rename, move, delete")
		b.Type("Address of the copy", "workspace.copied")
		b.Click("Copy")
		b.See("Copied.")
		b.Has("heading", "copied")
		b.In("main", "").See("greeting")

		b.Click("Rename, move, delete")
		b.See("Delete workspace.copied with everything in it. You can undo this.")
		b.Click("Delete")
		b.See("Deleted.")
		inspect(t, b, "deleted")
		require.NotContains(t, s.Scripter(t, "ls", "workspace"), "copied")
		b.In("main", "").Click("Undo")
		b.See("Undone.")
		require.Contains(t, s.Scripter(t, "ls", "workspace.copied"), "greeting")
	})
}

// TestBrowserTreeSide: the tree at the side opens where it is asked to, by mouse and by keyboard.
func TestBrowserTreeSide(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	b := logIn(t, s, "ada", "at")
	tree := b.In("navigation", "Objects in the root")
	tree.NotSee("webserverScripts")
	b.Requests()
	tree.Click("Open suites")
	tree.See("webserverScripts")
	require.Len(t, b.Requests(), 1, "one table was asked for")
	tree.Click("Open suites")
	tree.NotSee("webserverScripts")

	b.Reload()
	b.TabTo("link", "table suites")
	b.Press("ArrowRight")
	tree.See("webserverScripts")
	b.Press("ArrowDown", "ArrowDown")
	require.Equal(t, "link table webserverScripts", b.Focus())
	b.Press("Enter")
	b.SeeURL("/scripter/at/suites.webserverScripts")
	b.Has("heading", "webserverScripts")
}
