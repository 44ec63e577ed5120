package admin_test

import (
	"strings"
	"testing"
)

// TestBrowserPages checks the pages that no other test inspects, in both themes and two widths.
func TestBrowserPages(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "settings", "flDebug", "true")
	s.Scripter(t, "put", "--parents", `workspace["<b>An odd & very long name</b> `+strings.Repeat("of-an-object-", 12)+`"].inner`, "x")
	get(t, s, "/samples.runtimeError.fcgi")
	b := logIn(t, s, "ada", "")
	for _, path := range []string{
		"", "at", "at/user.webserver.mimeTable?view=grid", "at/workspace", "at/user.webserver.users.default.ada",
		"history/diff?address=user&from=2", "run/suites.webserverScripts.samples.tellTime?as=request", "doctor",
	} {
		b.Open("/scripter/" + path)
		b.Inspect("page-" + path)
	}
	b.Open("/scripter/nothing")
	b.Has("heading", "Not Found")
	b.Inspect("page-error")
	b.Expect("status of 404")
}
