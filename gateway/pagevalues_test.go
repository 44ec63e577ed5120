package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestPageValues checks that a page whose values are cached shows each change of them at once.
func TestPageValues(t *testing.T) {
	s := newSite(t)
	s.put("user.page.text", objectdb.String("one <b>"))
	s.put("user.page.number", objectdb.Number(1.5))
	s.put("user.page.flag", objectdb.Boolean(true))
	s.put("user.page.list", objectdb.List{objectdb.Number(1)})
	s.put("user.page.script", objectdb.Script(`return "ran"`))
	s.page("x.mcro",
		`<!--#user.page.text-->|<!--#USER.page.number-->|<!--#user.page.flag-->|<!--#user.page.list-->|<!--#user.page.script-->|<!--#user.page.none-->|<!--#referer-->|<!--#user.page-->`)
	page := func() string {
		s.t.Helper()
		return s.ask("/x.mcro", map[string]string{"HTTP_REFERER": "<r>"}).Body
	}
	require.Eventually(t, func() bool { // a file that has just been written is read each time
		page()
		s.g.pages.mu.Lock()
		defer s.g.pages.mu.Unlock()
		return len(s.g.pages.pages) > 0
	}, patience, 10*time.Millisecond)
	for range 2 {
		assert.Equal(t, "one <b>|1.5|true||ran||&lt;r&gt;|", page())
	}
	for _, step := range []struct {
		address string
		value   objectdb.Value
		want    string
	}{
		{"user.page.text", objectdb.Text("two"), "two|1.5|true||ran||&lt;r&gt;|"},
		{"user.page.none", objectdb.String("there"), "two|1.5|true||ran|there|&lt;r&gt;|"},
		{"user.page.text", objectdb.Script(`return "called"`), "called|1.5|true||ran|there|&lt;r&gt;|"},
		{"suites.webserver.macros.user.page.flag", objectdb.String("a macro"), "||a macro||||&lt;r&gt;|"},
	} {
		s.put(step.address, step.value)
		assert.Equal(t, step.want, page(), step.address)
	}
}

// TestPageValuesThatThePageChanges checks that the markers of a page see what the scripts of
// earlier markers have written to the root, and the plain values of their globals, but not their
// tables and functions.
func TestPageValuesThatThePageChanges(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"a global table", `user = {page = {text = "changed"}}`, "as it was||as it was|"},
		{"a hidden one", `rawset (_G, "user", {page = {text = "changed"}})`, "as it was||as it was|"},
		{"a global value", `title = "<i>"`, "as it was||as it was|<i>"},
		{"a global value in the place of a table", `user = "changed"`, "as it was|||"},
		{"a global function", `function title () return "called" end`, "as it was||as it was|"},
		{"the root", `user.page.text = "changed"`, "as it was||changed|"},
		{"nothing at all", ``, "as it was||as it was|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.put("user.page.text", objectdb.String("as it was"))
			s.put("user.page.script", objectdb.Script(c.source))
			s.put("suites.webserverScripts.x",
				objectdb.Text(`<!--#user.page.text-->|<!--#user.page.script()-->|<!--#user.page.text-->|<!--#title-->`))
			for range 2 {
				assert.Equal(t, c.want, s.ask("/x.fcgi", nil).Body)
				s.put("user.page.text", objectdb.String("as it was"))
			}
		})
	}
}
