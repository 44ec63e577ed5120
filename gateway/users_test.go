package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// TestUsers checks the verbs for users, by realm, and that no password is stored in clear.
//
// Specification: 2.3.9, 5.1
func TestUsers(t *testing.T) {
	s := newSite(t)
	run := func(expression string) string {
		t.Helper()
		s.script("u", `local ok, r = pcall (function () return `+expression+` end) return {body = tostring (r)}`)
		return s.ask("/u.fcgi", nil).Body
	}
	run(`httpd.addUser ("Ada", "sesame")`)
	run(`httpd.addUser ("Ada", "other", "Members")`)
	run(`httpd.addUser ("user.webserver", "x", "a.b")`)
	assert.Contains(t, run(`httpd.addUser ("ada", "sesame")`), "already")
	assert.Contains(t, run(`httpd.addUser ("a:b", "sesame")`), "without colon")
	assert.Contains(t, run(`httpd.addUser ("Bob", "")`), "wants a password")
	for expression, want := range map[string]string{
		`httpd.validateUser ("Ada", "sesame")`:              "true",
		`httpd.validateUser ("Ada", "Sesame")`:              "false",
		`httpd.validateUser ("Ada", "other", "Members")`:    "true",
		`httpd.validateUser ("Ada", "sesame", "Members")`:   "false",
		`httpd.validateUser ("Ada", "sesame", "Nowhere")`:   "false",
		`httpd.validateUser ("Bob", "sesame")`:              "false",
		`httpd.validateUser ("", "")`:                       "false",
		`httpd.validateUser (nil, nil)`:                     "false",
		`httpd.validateUser ("user.webserver", "x", "a.b")`: "true",
		`odb.size (user.webserver.users)`:                   "3",
		`(httpd.getRealms ():gsub ("\n", " "))`:             "a.b default Members",
	} {
		assert.Equal(t, want, run(expression), expression)
	}
	assert.Equal(t, "nil", run(`httpd.deleteUser ("user.webserver", "a.b")`))
	assert.Contains(t, run(`httpd.deleteUser ("Bob")`), "no user Bob")
	assert.Equal(t, "nil", run(`httpd.deleteUser ("Ada", "Members")`))
	assert.Equal(t, "default", run(`httpd.getRealms ()`), "a realm goes with its last user")
	kept := s.get("user.webserver.users.default.Ada")
	assert.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, string(kept.(objectdb.String)))
}

// TestManyPasswords checks that a request that waits too long for other passwords is answered 503.
func TestManyPasswords(t *testing.T) {
	s := newSite(t)
	s.g = newGateway(Options{DB: s.db}, script.Verb{
		Name: "test.wait", Doc: "Fails.", Func: func(*script.Call) error { return site.ErrManyPasswords },
	})
	s.script("x", `return test.wait ()`)
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 503, resp.Status)
	assert.NotEmpty(t, resp.Get("Retry-After"))
}
