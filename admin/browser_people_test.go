package admin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// otherPassword is what people change their password to.
const otherPassword = "another horse battery"

// TestBrowserPeople checks people: an owner adds a person, gives her another role and password, and removes her;
// she changes her own password, and ends her other sessions.
func TestBrowserPeople(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		ada := logIn(t, s, "ada", "users")
		inspect(t, ada, "people")
		addGrace(t, ada)
		inspect(t, ada, "people-two")
		grace := logIn(t, s, "grace", "")

		// By keyboard, from the list to another role.
		ada.TabTo("link", "grace")
		ada.Press("Enter")
		ada.Has("heading", "grace")
		ada.See("Chrome on Linux")
		inspect(t, ada, "person")
		ada.TabTo("radio", "author sees everything that is no secret, and changes what lies at or below these addresses; "+
			"who may write scripts can do all")
		ada.Press("ArrowDown")
		ada.TabTo("button", "Set the role")
		ada.Press("Enter")
		ada.See("The role was changed, and the sessions of this person have ended.")
		ada.See("This person is not logged in.")
		assert.Equal(t, "reader\n", s.Scripter(t, "get", "user.webserver.roles.grace"))
		grace.Reload()
		grace.See("Log in to Scripter")

		const first, second = "Password, at least 10 characters", "The same password again"
		ada.Type(first, otherPassword)
		ada.Type(second, password)
		ada.Click("Set the password")
		ada.See("The two passwords are not the same.")
		ada.Expect("status of 400")
		ada.SeeFocus("textbox", first)
		inspect(t, ada, "person-mistake")
		ada.Keys(otherPassword)
		ada.Press("Tab")
		ada.Keys(otherPassword)
		ada.Press("Enter")
		ada.See("The password was changed, and the sessions of this person have ended.")

		useAccount(t, s)

		ada.Click("Remove")
		ada.Has("heading", "Remove grace?")
		inspect(t, ada, "person-remove")
		ada.Click("Cancel")
		ada.Has("heading", "grace")
		ada.Click("Remove")
		ada.Has("heading", "Remove grace?")
		ada.Click("Remove")
		ada.See("Removed.")
		ada.SeeTitle("People · Scripter")
		ada.HasNot("link", "grace")
		ada.Click("Undo")
		ada.See("Undone.")
		assert.Contains(t, s.Scripter(t, "users"), "grace")
	})
}

// addGrace adds an author, with two different passwords first.
func addGrace(t *testing.T, ada *browsertest.Tab) {
	t.Helper()
	fill := func(again string) {
		ada.ClickRole("radio", "author")
		ada.Type("Addresses of an author", "user.notes")
		ada.Type("Password, at least 10 characters", password)
		ada.Type("The same password again", again)
		ada.Press("Enter")
	}
	ada.Type("Name", "grace")
	fill(otherPassword)
	ada.See("The two passwords are not the same.")
	ada.Expect("status of 400")
	ada.SeeFocus("textbox", "Name")
	require.Equal(t, "grace", ada.Value("Name"))
	require.Equal(t, "user.notes", ada.Value("Addresses of an author"))
	inspect(t, ada, "people-mistake")
	fill(password)
	ada.See("Added.")
	ada.See("grace author user.notes")
}

// useAccount lets grace change her password, and end the sessions of her other browsers.
func useAccount(t *testing.T, s *servertest.Server) {
	t.Helper()
	enter := func() *browsertest.Tab {
		b := browsertest.NewTab(t, s.URL)
		b.Open("/scripter/account")
		b.Type("Name", "grace")
		b.Type("Password", otherPassword)
		b.Press("Enter")
		b.Has("heading", "Your account")
		return b
	}
	here := enter()
	there := enter()
	here.Reload()
	inspect(t, here, "account")
	here.Click("End all other sessions")
	here.See("The sessions have ended.")
	here.HasNot("button", "End all other sessions")
	there.Reload()
	there.See("Log in to Scripter")
	there = enter()

	// By keyboard, with a wrong old password first.
	change := func(old string) {
		here.Keys(old)
		here.Press("Tab")
		here.Keys(password)
		here.Press("Tab")
		here.Keys(password)
		here.Press("Enter")
	}
	here.TabTo("textbox", "Old password")
	change("wrong horse battery")
	here.See("The old password is wrong.")
	here.Expect("status of 403")
	here.SeeFocus("textbox", "Old password")
	inspect(t, here, "account-mistake")
	change(otherPassword)
	here.See("Your password was changed. All your other sessions have ended.")
	there.Reload()
	there.See("Log in to Scripter")
}
