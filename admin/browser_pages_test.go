package admin_test

import "testing"

// TestBrowserPages: every page of the menu, and some more, in both themes and two widths.
func TestBrowserPages(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "settings", "flDebug", "true")
	get(t, s, "/samples.tellParams.fcgi?x=1")
	get(t, s, "/samples.runtimeError.fcgi")
	b := logIn(t, s, "ada", "")
	for _, path := range []string{
		"", "at", "at/user.webserver.mimeTable?view=grid", "at/suites.webserverScripts.samples.tellTime",
		"at/suites.webserverScripts.samples.readme", "find?q=hello", "requests", "console", "history",
		"history/diff?address=user&from=2", "run/suites.webserverScripts.samples.tellTime", "doctor", "status",
	} {
		b.Open("/scripter/" + path)
		b.Inspect("page-" + path)
	}
}
