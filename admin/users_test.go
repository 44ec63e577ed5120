package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// newPassword is a password that the tests set.
const newPassword = "another horse battery"

// enter returns a browser in which somebody has logged in, or nil if that was refused.
func (s *testSite) enter(name, password string) *browser {
	b := s.browser()
	if b.post("login", "name", name, "password", password).status != http.StatusSeeOther {
		return nil
	}
	b.csrf = b.get("").attr("body", "data-csrf")
	return b
}

// personPath is the path of the page of a person.
func personPath(name string) string { return "users/person?" + url.Values{"name": {name}}.Encode() }

func TestUsersPage(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.person("bob", `author user.pages user.["odd name"]`)
	s.put("user.webserver.roles.eve", objectdb.String("queen"))
	s.put("user.webserver.users.default.visitor",
		objectdb.String("$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA"))
	a := ada.get("users")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "ada you owner")
	assert.Contains(t, a.text(), `bob author user.pages , user.["odd name"] 1`)
	assert.Contains(t, a.text(), "invalid role")
	assert.Contains(t, a.text(), "Users without a role")
	lacks(t, a.body, "argon2")
	m := ada.json("users")
	assert.Equal(t, "visitor", m["users"].([]any)[0].(map[string]any)["name"])
	bob := m["people"].([]any)[1].(map[string]any)
	assert.Equal(t, []any{"user.pages", `user.["odd name"]`}, bob["at"])
	assert.NotEmpty(t, bob["lastLogin"])
	lacks(t, fmt.Sprint(m), "argon2")
	for _, name := range []string{"ada", "BOB", "eve", "visitor"} {
		a := ada.get(personPath(name))
		assert.Equal(t, http.StatusOK, a.status, name)
		lacks(t, a.body, "argon2")
	}
	assert.Equal(t, http.StatusNotFound, ada.get(personPath("nobody")).status)
	assert.Equal(t, http.StatusNotFound, ada.get(personPath("")).status)
	assert.Equal(t, http.StatusOK, ada.get("users?at=1").status, "when nobody had a role")
}

func TestAddUser(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	add := func(name, role, at, password, again string) *answer {
		return ada.post("users", "do", "add", "name", name, "role", role, "at", at, "password", password, "again", again)
	}
	a := add("grace", "author", "user.pages\r\nuser.[\"odd name\"]", newPassword, newPassword)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.String(`author user.pages user.["odd name"]`), s.get("user.webserver.roles.grace"))
	require.NotNil(t, s.enter("grace", newPassword))
	require.Equal(t, http.StatusSeeOther, add("rita", "reader", "what is left of another role", newPassword,
		newPassword).status)

	before := ada.lastChange()
	for why, refused := range map[string]*answer{
		"no name":         add("", "reader", "", newPassword, newPassword),
		"an odd name":     add(hostile, "reader", "", newPassword, newPassword),
		"a path":          add("../x", "reader", "", newPassword, newPassword),
		"a long name":     add(strings.Repeat("x", 65), "reader", "", newPassword, newPassword),
		"no role":         add("eve", "", "", newPassword, newPassword),
		"no such role":    add("eve", "queen", "", newPassword, newPassword),
		"two roles":       add("eve", "owner reader", "", newPassword, newPassword),
		"no address":      add("eve", "author", " ", newPassword, newPassword),
		"a bad address":   add("eve", "author", "user..x", newPassword, newPassword),
		"many addresses":  add("eve", "author", strings.Repeat("user ", longestSetting), newPassword, newPassword),
		"short":           add("eve", "reader", "", "short", "short"),
		"long":            add("eve", "reader", "", strings.Repeat("x", 1025), strings.Repeat("x", 1025)),
		"another again":   add("eve", "reader", "", newPassword, newPassword+"x"),
		"nothing like it": ada.post("users", "do", "explode"),
	} {
		assert.Equal(t, http.StatusBadRequest, refused.status, why)
		lacks(t, refused.body, newPassword)
		lacks(t, refused.body, "<script>alert")
	}
	assert.Equal(t, http.StatusConflict, add("ADA", "reader", "", newPassword, newPassword).status, "there already")
	assert.Equal(t, before, ada.lastChange())
	lacks(t, ada.get("history").body, newPassword)
}

// TestOnlyOwnersManagePeople lets others try each form.
func TestOnlyOwnersManagePeople(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	for _, b := range []*browser{s.person("bob", "author user"), s.person("rita", "reader")} {
		for _, path := range []string{"users", personPath("ada"), "users.json", "saves/download?copy=x",
			"saves/revert?copy=x"} {
			assert.Equal(t, http.StatusForbidden, b.get(path).status, path)
		}
		for _, do := range []string{"add", "role", "password", "remove", "end", "endAll"} {
			fields := []string{"do", do, "name", "ada", "role", "reader", "password", newPassword, "again", newPassword,
				"confirm", "yes"}
			assert.Equal(t, http.StatusForbidden, b.post("users", fields...).status, do)
			assert.Equal(t, http.StatusForbidden, b.post("users/person", fields...).status, do)
		}
		for _, do := range []string{"save", "revert"} {
			assert.Equal(t, http.StatusForbidden, b.post("saves", "do", do, "confirm", "yes").status, do)
		}
	}
	assert.Equal(t, http.StatusOK, ada.get("users").status)
}

func TestChangePerson(t *testing.T) {
	s := newSite(t)
	ada, bob := s.person("ada", "owner"), s.person("bob", "author user.pages")
	change := func(name string, fields ...string) *answer { return ada.post(personPath(name), fields...) }

	a := change("BOB", "do", "role", "role", "reader", "at", "user.pages")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.String("reader"), s.get("user.webserver.roles.bob"))
	assert.Equal(t, http.StatusSeeOther, bob.get("at").status, "logged out")
	assert.Contains(t, ada.get(a.header.Get("Location")).text(), "Undo")
	require.Equal(t, http.StatusSeeOther, change("bob", "do", "role", "role", "").status)
	assert.Nil(t, s.get("user.webserver.roles.bob"))
	assert.Nil(t, s.enter("bob", password))
	assert.Equal(t, http.StatusBadRequest, change("bob", "do", "role", "role", "queen").status)
	require.Equal(t, http.StatusSeeOther, change("bob", "do", "role", "role", "author", "at", "user.pages").status)

	bob = s.enter("bob", password)
	require.NotNil(t, bob)
	a = change("bob", "do", "password", "password", newPassword, "again", newPassword)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.NotContains(t, a.header.Get("Location"), "change=", "no offer to bring the old one back")
	assert.Equal(t, http.StatusSeeOther, bob.get("at").status, "logged out")
	assert.Nil(t, s.enter("bob", password))
	assert.Equal(t, http.StatusBadRequest, change("bob", "do", "password", "password", "short", "again", "short").status)

	// One session, and all.
	one, two := s.enter("bob", newPassword), s.enter("bob", newPassword)
	logins := ada.json(personPath("bob"))["logins"].([]any)
	require.Len(t, logins, 2)
	id := logins[0].(map[string]any)["id"].(string)
	require.Equal(t, http.StatusSeeOther, change("bob", "do", "end", "id", id).status)
	assert.Len(t, ada.json(personPath("bob"))["logins"], 1)
	assert.Equal(t, http.StatusNotFound, change("bob", "do", "end", "id", id).status)
	own := ada.json("account")["logins"].([]any)[0].(map[string]any)["id"].(string)
	assert.Equal(t, http.StatusNotFound, change("bob", "do", "end", "id", own).status, "that of somebody else")
	assert.Equal(t, http.StatusNotFound, change("bob", "do", "end", "id", "../users").status)
	require.Equal(t, http.StatusSeeOther, change("bob", "do", "endAll").status)
	for _, b := range []*browser{one, two} {
		assert.Equal(t, http.StatusSeeOther, b.get("at").status, "logged out")
	}

	a = change("bob", "do", "remove")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "bob could not log in any more")
	assert.NotNil(t, s.get("user.webserver.users.default.bob"), "only asked")
	assert.Equal(t, http.StatusConflict, ada.send(http.MethodPost, personPath("bob"),
		strings.NewReader("do=remove&csrf="+ada.csrf), map[string]string{
			"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}).status)
	require.Equal(t, http.StatusSeeOther, change("bob", "do", "remove", "confirm", "yes").status)
	assert.Nil(t, s.get("user.webserver.users.default.bob"))
	assert.Nil(t, s.get("user.webserver.roles.bob"))
	assert.Equal(t, http.StatusNotFound, change("bob", "do", "role", "role", "owner").status)
	assert.Nil(t, s.get("user.webserver.roles.bob"), "nobody is made by a role")
	assert.Equal(t, http.StatusBadRequest, change("ada", "do", "explode").status)
}

func TestLastOwner(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	for _, do := range []string{"role", "remove", "password"} {
		a := ada.post(personPath("ada"), "do", do, "role", "reader", "confirm", "yes", "password", newPassword, "again",
			newPassword)
		assert.Equal(t, http.StatusConflict, a.status, do)
		assert.Contains(t, a.text(), "own", do)
	}
	grace := s.person("grace", "owner")
	require.Equal(t, http.StatusSeeOther, grace.post(personPath("ada"), "do", "role", "role", "reader").status)

	// Who runs scripter serve has no row, and must not close the page for the others either.
	s.server.login.Local = true
	local := s.browser()
	link, err := s.server.Link(t.Context(), "someone")
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, local.post("login", "link", strings.Split(link, "link=")[1]).status)
	local.csrf = local.get("").attr("body", "data-csrf")
	assert.Contains(t, local.get("users").text(), "You have no row here.")
	for _, do := range []string{"role", "remove"} {
		a := local.post(personPath("grace"), "do", do, "role", "reader", "confirm", "yes")
		assert.Equal(t, http.StatusConflict, a.status, do)
		assert.Contains(t, a.text(), "grace is the last owner who can log in.")
	}
	assert.Equal(t, objectdb.String("owner"), s.get("user.webserver.roles.grace"))
	a := local.get("account")
	assert.Contains(t, a.text(), "There is no row and no password for that")
	assert.Empty(t, a.find("input", "autocomplete"))
	assert.Equal(t, http.StatusConflict, local.post("account", "do", "password", "old", "x", "password", newPassword,
		"again", newPassword).status)
}

func TestAccount(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	rita, elsewhere := s.person("rita", "reader"), s.enter("rita", password)
	assert.Equal(t, "/scripter/account", func() string {
		for _, n := range rita.get("").find("a", "title") {
			if strings.Contains(attributeOf(n, "href"), "account") {
				return attributeOf(n, "href")
			}
		}
		return ""
	}())
	m := rita.json("account")
	assert.Equal(t, "rita", m["name"])
	require.Len(t, m["logins"], 2)
	other := ""
	for _, l := range m["logins"].([]any) {
		if m := l.(map[string]any); m["current"] == nil {
			other = m["id"].(string)
		}
	}

	// The password.
	set := func(old, password, again string) *answer {
		return rita.post("account", "do", "password", "old", old, "password", password, "again", again)
	}
	assert.Equal(t, http.StatusForbidden, set("wrong", newPassword, newPassword).status)
	assert.Equal(t, http.StatusForbidden, set("", newPassword, newPassword).status)
	assert.Equal(t, http.StatusBadRequest, set(password, "short", "short").status)
	assert.Equal(t, http.StatusBadRequest, set(password, newPassword, "other").status)
	a := set(password, newPassword, newPassword)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, http.StatusOK, rita.get("account").status, "this browser stays logged in")
	assert.Equal(t, http.StatusSeeOther, elsewhere.get("account").status, "the others do not")
	assert.Nil(t, s.enter("rita", password))
	require.Equal(t, http.StatusForbidden, rita.post("account", "do", "endOthers").status, "the old token")
	rita.csrf = rita.get("").attr("body", "data-csrf")

	// The sessions.
	require.Equal(t, http.StatusNotFound, rita.post("account", "do", "end", "id", other).status, "it has ended")
	elsewhere = s.enter("rita", newPassword)
	third := s.enter("rita", newPassword)
	for _, l := range rita.json("account")["logins"].([]any) {
		if m := l.(map[string]any); m["current"] == nil {
			other = m["id"].(string)
		}
	}
	require.Equal(t, http.StatusSeeOther, rita.post("account", "do", "end", "id", other).status)
	require.Equal(t, http.StatusSeeOther, rita.post("account", "do", "endOthers").status)
	for _, b := range []*browser{elsewhere, third} {
		assert.Equal(t, http.StatusSeeOther, b.get("account").status)
	}
	assert.Len(t, rita.json("account")["logins"], 1)
	require.Equal(t, http.StatusSeeOther, rita.post("account", "do", "endAll").status)
	assert.Equal(t, http.StatusSeeOther, rita.get("account").status)
	assert.Equal(t, http.StatusOK, func() int { return s.enter("ada", password).get("account").status }())
}

// TestAccountSlowsDown tries many old passwords in a session that somebody left open.
func TestAccountSlowsDown(t *testing.T) {
	s := newSite(t)
	rita := s.person("rita", "owner")
	try := func() *answer {
		return rita.post("account", "do", "password", "old", "wrong", "password", newPassword, "again", newPassword)
	}
	for range 3 {
		assert.Equal(t, http.StatusForbidden, try().status)
	}
	a := try()
	for range 10 { // on a busy machine a try comes after the wait, and the next wait is twice as long
		if a.status == http.StatusForbidden {
			a = try()
		}
	}
	assert.Equal(t, http.StatusTooManyRequests, a.status)
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	assert.Contains(t, a.text(), "too many failed attempts")
}

// TestPeopleAreEscaped looks at names that scripts may have given.
func TestPeopleAreEscaped(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.update(func(tx *objectdb.Tx) error {
		for _, name := range []string{hostile, "a/b", "x y"} {
			if err := tx.Put(site.Users.Child(site.DefaultRealm).Child(name), objectdb.String(hostile)); err != nil {
				return err
			}
			if err := tx.Put(site.Roles.Child(name), objectdb.String(hostile)); err != nil {
				return err
			}
		}
		return nil
	})
	b := s.browser()
	require.Equal(t, http.StatusSeeOther, b.send(http.MethodPost, "login",
		strings.NewReader("name=ada&password="+strings.ReplaceAll(password, " ", "+")),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded", "User-Agent": hostile}).status)
	for _, path := range []string{"users", personPath(hostile), personPath("a/b"), personPath("ada"), "account"} {
		a := ada.get(path)
		assert.Equal(t, http.StatusOK, a.status, path)
		lacks(t, a.body, "<script>alert")
	}
	a := ada.post(personPath(hostile), "do", "remove")
	assert.Equal(t, http.StatusOK, a.status)
	lacks(t, a.body, "<script>alert")
	require.Equal(t, http.StatusSeeOther, ada.post(personPath(hostile), "do", "remove", "confirm", "yes").status)
	assert.Equal(t, http.StatusNotFound, ada.get(personPath(hostile)).status)
}

func TestBrowserOf(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":             "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 Edg/140.0": "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 15) Chrome/140.0.0.0 Mobile Safari/537.36":              "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1":   "Safari on iPhone",
		"curl/8.0": "curl", "": "", "a robot": "a robot",
	} {
		assert.Equal(t, want, browserOf(agent), agent)
	}
}
