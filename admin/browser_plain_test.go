package admin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// TestBrowserWithoutScripts: without JavaScript people can read everything and make simple changes.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "put", "--parents", "workspace.note", "first")
	b := browsertest.NewTab(t, s.URL)
	b.WithoutScripts()
	b.Open("/scripter/")
	b.Type("Name", "ada")
	b.Type("Password", password)
	b.Click("Log in")
	b.See("Log out ada")
	b.In("navigation", "Objects in the root").Click("Open workspace")
	b.Has("heading", "workspace")
	b.In("main", "").See("first")
	b.Click("New object")
	b.Type("Name", "second")
	b.Select("Kind", "string")
	b.Click("Create")
	b.See("Created.")
	b.In("main", "").Click("Undo")
	b.See("Undone.")
	assert.NotContains(t, s.Scripter(t, "ls", "workspace"), "second")
	b.Click("Find an object or a text")
	b.SeeURL("/scripter/find")
	b.Click("Log out ada")
	b.See("Log in to Scripter")
}

// TestBrowserTheme: the colours that a person has chosen stay.
func TestBrowserTheme(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	b := logIn(t, s, "ada", "at")
	light := b.Style("background-color")
	b.Select("Colours", "Dark")
	dark := b.Style("background-color")
	assert.NotEqual(t, light, dark)
	b.In("navigation", "Pages").Click("History")
	b.SeeURL("/scripter/history")
	assert.Equal(t, dark, b.Style("background-color"))
	b.Look(browsertest.Wide, "dark")
	b.Select("Colours", "Light")
	b.Reload()
	assert.Equal(t, light, b.Style("background-color"))
}

// TestBrowserNobody checks that there is no web page without an owner. It does not run behind "scripter
// serve", which makes whoever has started it an owner.
func TestBrowserNobody(t *testing.T) {
	for _, setUp := range []string{"nginx-fastcgi", "apache-cgi"} {
		t.Run(setUp, func(t *testing.T) {
			t.Parallel()
			b := browsertest.NewTab(t, servertest.Start(t, setUp).URL)
			b.Open("/scripter/login")
			b.NotSee("Password")
			b.Expect("status of 404")
		})
	}
}
