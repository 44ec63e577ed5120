package admin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// TestBrowserSettings changes settings and the rows of their tables by mouse and by keyboard. A mistake is reported
// at its field.
func TestBrowserSettings(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		b := logIn(t, s, "ada", "settings")
		changeSetting(t, s, b)
		changeSettingByKeyboard(t, s, b)
		changeLimits(t, s, b)
		for _, row := range [][]string{
			{"Types", "Extension", ".lp", "MIME type", "text/html"},
			{"Overrides", "Host", "*", "Path prefix", "/members/"},
			{"Directory index", "Host", "*", "Path prefix", "/members/", "Files", "index.mcro"},
			{"Who may call", "Address", "suites.webserverScripts.samples", "Who", "user"},
		} {
			b.In("navigation", "Pages of settings").Click(row[0])
			b.Has("heading", row[0])
			for i := 1; i < len(row); i += 2 {
				b.Type(row[i], row[i+1])
			}
			b.Click("Add")
			b.See("Saved.")
			inspect(t, b, "settings-"+row[0])
		}
		removeAction(t, s, b)
		changeHistoryRules(t, s, b)
	})
}

// changeSetting changes one setting, with a wrong value first, while somebody else changes it too.
func changeSetting(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	const group, interval = "Web server and recording", "Set Save Interval"
	b.Type(interval, "soon")
	b.Click("Save " + group)
	b.See("Nothing was saved. " + interval)
	b.Expect("status of 400")
	b.SeeFocus("textbox", interval)
	require.Equal(t, "soon", b.Value(interval))
	inspect(t, b, "settings-mistake")
	b.Press("Control+a")
	b.Keys("20")
	b.Press("Enter")
	form := b.In("region", group)
	form.See("Saved.")
	form.See("Default: 10")
	inspect(t, b, "settings-saved")
	assert.Equal(t, "20\n", s.Scripter(t, "get", "user.webserver.saveInterval"))

	s.Scripter(t, "settings", "saveInterval", "30")
	b.Type(interval, "40")
	b.Click("Save only this " + interval)
	b.See("It was changed meanwhile, to 30.")
	b.Expect("status of 400")
	assert.Equal(t, "30\n", s.Scripter(t, "get", "user.webserver.saveInterval"))
	b.Press("Enter")
	form.See("Saved.")
	assert.Equal(t, "40\n", s.Scripter(t, "get", "user.webserver.saveInterval"))
	form.Click("Undo")
	b.See("Undone.")
	assert.Equal(t, "30\n", s.Scripter(t, "get", "user.webserver.saveInterval"))
}

// changeSettingByKeyboard switches Debugging on, and gives another setting its default again.
func changeSettingByKeyboard(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	b.Open("/scripter/settings")
	b.Press("Tab")
	b.SeeFocus("link", "Skip to the content")
	b.Press("Enter")
	b.TabTo("link", "Web server and recording")
	b.Press("Enter")
	b.TabTo("checkbox", "Debugging")
	b.Press("Space", "Enter")
	form := b.In("region", "Web server and recording")
	form.See("Saved.")
	form.See("debugging switches itself off after 30 minutes")
	assert.Equal(t, "true\n", s.Scripter(t, "get", "user.webserver.flDebug"))
	b.TabTo("button", "Back to default Set Save Interval")
	b.Press("Enter")
	form.See("Saved.")
	assert.Equal(t, "10", b.Value("Set Save Interval"))
	assert.Equal(t, "10\n", s.Scripter(t, "get", "user.webserver.saveInterval"))
}

// changeLimits adds, changes and removes the limit of a table of scripts.
func changeLimits(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	const scripts, row = "suites.webserverScripts.samples", "suites.webserverScripts.samples maxTime"
	b.In("navigation", "Pages of settings").Click("Limits of scripts")
	b.See("There are no rows.")
	inspect(t, b, "limits-empty")
	b.Type("Address", scripts)
	b.Select("Limit", "maxTime")
	b.Type("Value", "long")
	b.Click("Add")
	b.See("Nothing was saved")
	b.Expect("status of 400")
	require.Equal(t, "long", b.Value("Value"))
	b.Type("Value", "5")
	b.Press("Enter")
	b.See("Saved.")
	b.See(row + " 5")

	b.Type("Address", scripts)
	b.Select("Limit", "maxTime")
	b.Type("Value", "6")
	b.Click("Add")
	b.See("there is a row " + row + " already")
	b.Expect("status of 400")
	b.SeeFocus("textbox", "Address")

	b.Click("Change " + row)
	b.Has("heading", "Change "+row)
	b.SeeFocus("textbox", "Value")
	inspect(t, b, "limits-change")
	b.Press("Control+a")
	b.Keys("7")
	s.Scripter(t, "limits", scripts, "maxTime", "8")
	b.Press("Enter")
	b.See("the row was changed meanwhile, to " + row + " 8")
	b.Expect("status of 400")
	assert.Contains(t, s.Scripter(t, "limits", scripts), "8")
	require.Equal(t, "7", b.Value("Value"))
	b.Press("Enter")
	b.See("Saved.")
	b.See(row + " 7")
	b.Click("Change " + row)
	b.Has("heading", "Change "+row)
	s.Scripter(t, "limits", scripts, "maxTime", "--remove")
	b.Click("Save")
	b.See("the row " + row + " is not there any more")
	b.Expect("status of 400")
	b.Click("Cancel")
	b.See("There are no rows.")
}

// removeAction removes an action that extensions are bound to, which the page asks about.
func removeAction(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	b.In("navigation", "Pages of settings").Click("Actions")
	b.Click("Remove SCRIPTER")
	b.Has("heading", "Remove SCRIPTER?")
	b.See("the extension .fcgi is still bound to it")
	inspect(t, b, "actions-remove")
	b.Click("Cancel")
	b.Click("Remove SCRIPTER")
	b.Has("heading", "Remove SCRIPTER?")
	b.Click("Remove")
	b.See("Removed.")
	b.HasNot("button", "Remove SCRIPTER")
	b.Click("Undo")
	b.See("Undone.")
	assert.Contains(t, s.Scripter(t, "actions"), "SCRIPTER")
}

// changeHistoryRules adds and removes a rule by keyboard alone.
func changeHistoryRules(t *testing.T, s *servertest.Server, b *browsertest.Tab) {
	t.Helper()
	b.Open("/scripter/settings/history")
	b.TabTo("textbox", "Address")
	b.Keys("user.visitors")
	b.Press("Tab")
	b.Keys("nothing")
	b.Press("Tab", "Enter")
	b.See("Saved.")
	b.See("there is no user.visitors")
	inspect(t, b, "history-rules")
	assert.Contains(t, s.Scripter(t, "history"), "user.visitors: nothing")
	b.TabTo("button", "Remove user.visitors")
	b.Press("Enter")
	b.See("Removed.")
	b.HasNot("button", "Remove user.visitors")
	b.TabTo("button", "Undo")
	b.Press("Enter")
	b.See("Undone.")
	assert.Contains(t, s.Scripter(t, "history"), "user.visitors: nothing")
}
