package admin_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
)

// TestBrowserCopies saves a copy, downloads it, reverts the root to it, and undoes that.
func TestBrowserCopies(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "workspace.note", "first")
		b := logIn(t, s, "ada", "saves")
		b.See("There are no saved copies yet.")
		inspect(t, b, "copies-empty")
		b.Click("Save a copy now")
		b.See("A copy was saved.")
		inspect(t, b, "copies")
		name := regexp.MustCompile(`scripter\.saved-\d{8}-\d{6}\.root`).FindString(s.Scripter(t, "saves"))
		downloaded, content := b.Download("Download " + name)
		assert.Equal(t, name, downloaded)
		assert.True(t, bytes.HasPrefix(content, []byte("SQLite format 3\x00")))

		s.Scripter(t, "put", "workspace.note", "second")
		b.Click("Revert " + name)
		b.Has("heading", "Revert to this copy?")
		b.See("changed workspace.note")
		inspect(t, b, "copies-revert")
		b.Click("Cancel")
		b.SeeURL("/scripter/saves")

		// By keyboard.
		b.TabTo("link", "Revert "+name)
		b.Press("Enter")
		b.Has("heading", "Revert to this copy?")
		b.TabTo("button", "Revert")
		b.Press("Enter")
		b.See("The root is as it was in the copy.")
		require.Equal(t, "first\n", s.Scripter(t, "get", "workspace.note"))
		b.TabTo("button", "Undo")
		b.Press("Enter")
		b.See("Undone.")
		require.Equal(t, "second\n", s.Scripter(t, "get", "workspace.note"))

		// Only so many are kept; the state before the revert was saved too.
		b.In("navigation", "Pages").Click("Saved copies")
		b.Type("Most saved copies", "none")
		b.Press("Enter")
		b.See("Nothing was saved. Most saved copies")
		b.Expect("status of 400")
		b.SeeFocus("textbox", "Most saved copies")
		b.Press("Control+a")
		b.Keys("1")
		b.Press("Enter")
		b.See("Saved.")
		b.Click("Save a copy now")
		b.See("A copy was saved.")
		b.NotSee(name)
		assert.NotContains(t, s.Scripter(t, "saves"), name)
	})
}
