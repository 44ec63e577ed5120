package admin_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
)

// TestBrowserHistory finds a change in the timeline, reads it, undoes it, and undoes the undo.
func TestBrowserHistory(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		last := putPoem(t, s)
		b := logIn(t, s, "ada", "at/workspace.poem")
		b.In("main", "").ClickRole("link", "History")
		b.Has("heading", "History of workspace.poem")
		b.See("changed workspace.poem")
		b.See("added 2 objects in workspace")
		inspect(t, b, "history")
		b.ClickRole("link", fmt.Sprint(last))
		b.Has("heading", fmt.Sprintf("Change %d", last))
		b.See("-a rose is a rose")
		b.See("+a rose is a violet")
		inspect(t, b, "change")
		b.Click("Undo")
		b.See("Undone.")
		assert.Equal(t, "a rose is a rose\nis a rose\nis a rose\n", s.Scripter(t, "get", "workspace.poem"))
		b.Open("/scripter/history?who=ada")
		b.See(fmt.Sprintf("undoes %d", last))

		b.In("navigation", "Pages").Click("History")
		b.Type("Address", "workspace.poem")
		b.Type("Who", "nobody")
		b.Click("Show")
		b.See("There is no such change.")
		inspect(t, b, "history-empty")
	})
}

// TestBrowserUndoConflict: what others have changed since is not undone without a question.
func TestBrowserUndoConflict(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	last := putPoem(t, s)
	s.Scripter(t, "put", "workspace.poem", "--kind", "text", "a rose is a violet\nis a rose\nis a thistle\n")
	b := logIn(t, s, "ada", fmt.Sprintf("history/%d", last))
	b.Click("Undo")
	b.Has("heading", "Not undone")
	b.Expect("status of 409")
	inspect(t, b, "undo-conflict")
	b.Click("Undo, and keep the later changes of other lines")
	b.See("Undone.")
	assert.Equal(t, "a rose is a rose\nis a rose\nis a thistle\n", s.Scripter(t, "get", "workspace.poem"))
}

// TestBrowserPast: the root is seen as an earlier change left it, with a banner, and cannot be
// changed there.
func TestBrowserPast(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	last := putPoem(t, s)
	b := logIn(t, s, "ada", fmt.Sprintf("history/%d", last))
	b.Click("The root before it")
	b.See(fmt.Sprintf("You see the root as change %d left it.", last-1))
	tree := b.In("navigation", "Objects in the root")
	tree.Click("Open workspace")
	tree.Click("text poem")
	b.In("main", "").See("a rose is a rose")
	b.See("You see the root")
	b.HasNot("DisclosureTriangle", "Rename, move, delete")
	inspect(t, b, "past")
	b.Click("Back to the present")
	b.NotSee("You see the root")
	b.In("main", "").See("a rose is a violet")
}

// putPoem stores a text twice and returns the number of the last change.
func putPoem(t *testing.T, s *servertest.Server) int {
	t.Helper()
	s.Scripter(t, "put", "--parents", "workspace.poem", "--kind", "text", "a rose is a rose\nis a rose\nis a rose\n")
	s.Scripter(t, "put", "workspace.poem", "--kind", "text", "a rose is a violet\nis a rose\nis a rose\n")
	var log struct{ Changes []struct{ Number int } }
	require.NoError(t, json.Unmarshal([]byte(s.Scripter(t, "log", "--json", "workspace.poem")), &log))
	require.NotEmpty(t, log.Changes)
	return log.Changes[0].Number
}
