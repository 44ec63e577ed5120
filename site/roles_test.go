package site

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func addressOf(t *testing.T, text string) objectdb.Address {
	t.Helper()
	a, err := objectdb.ParseAddress(text)
	require.NoError(t, err, text)
	return a
}

// TestRoles checks what each text of a row gives, and that an invalid one gives nothing.
func TestRoles(t *testing.T) {
	s := newSite(t)
	assert.False(t, s.now().HasOwner())
	assert.Equal(t, Role{}, s.now().Role("ada"))
	for _, c := range []struct {
		text string
		want string // of Role.String
		err  string
	}{
		{"owner", "owner", ""},
		{" OWNER\n", "owner", ""},
		{"reader", "reader", ""},
		{"author suites.webserverScripts", "author suites.webserverScripts", ""},
		{`author a.["b c"].d  e["f\" g"]`, `author a.["b c"].d e.["f\" g"]`, ""},
		{"", "", "it is empty"},
		{"  ", "", "it is empty"},
		{"author", "", "an author needs the address"},
		{"owner suites", "", `"suites" follows "owner"`},
		{"reader .", "", `"." follows "reader"`},
		{"admin", "", `it begins with "admin": say "owner", "author ADDRESS ..." or "reader"`},
		{"owners", "", `it begins with "owners"`},
		{"author a..b", "", "a name is wanted here"},
		{"author .", "", "a name is wanted here"},
		{`author a.["b`, "", "the quoted name does not end"},
		{`author a b.["c d"]e`, "", "a dot is wanted here"},
	} {
		s.put("user.webserver.roles.Ada", objectdb.String(c.text))
		r := s.now().Role("aDA")
		assert.Equal(t, c.want, r.String(), c.text)
		if c.err == "" {
			assert.NoError(t, r.Err, c.text)
		} else {
			assert.ErrorContains(t, r.Err, c.err, c.text)
			assert.False(t, r.MaySee(Scripts), c.text)
			assert.False(t, r.MayChange(Scripts), c.text)
		}
		assert.Equal(t, c.want == "owner", s.now().HasOwner(), c.text)
	}
	s.put("user.webserver.roles.Ada", objectdb.Boolean(true))
	assert.ErrorContains(t, s.now().Role("Ada").Err, "it is a boolean, not a text")
	s.put("user.webserver.roles.Ada", objectdb.Text("owner"))
	assert.True(t, s.now().HasOwner())
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(Roles) })
	assert.Equal(t, Role{}, s.now().Role("Ada"))
	s.put("user.webserver.roles", objectdb.String("owner"))
	assert.ErrorContains(t, s.now().Role("Ada").Err, "user.webserver.roles is a string, not a table")
	assert.False(t, s.now().HasOwner())
}

// TestMayChange checks which objects a role may change, and which it may see.
func TestMayChange(t *testing.T) {
	role := func(text string) Role {
		r, err := parseRole(text)
		require.NoError(t, err)
		return r
	}
	author := role(`author suites.webserverScripts.shop user.["a.b"] user.webserver system`)
	for _, c := range []struct {
		role             Role
		address          string
		change, see, all bool
	}{
		{Role{}, "suites.webserverScripts.shop", false, false, false},
		{LocalOwner, "", true, true, true},
		{LocalOwner, "user.webserver.users.default.ada", true, true, true},
		{role("owner"), "user.webserver.roles", true, true, true},
		{role("reader"), "suites.webserverScripts.shop", false, true, true},
		{role("reader"), "user.webserver.users", false, false, false},
		{role("reader"), "user.WEBSERVER.sessions.x", false, false, false},
		{role("reader"), "user.webserver", false, true, false},
		{role("reader"), "", false, true, false},
		{author, "suites.webserverScripts.shop", true, true, true},
		{author, "Suites.WebserverScripts.SHOP.basket.add", true, true, true},
		{author, "suites.webserverScripts.shopping", false, true, true},
		{author, "suites.webserverScripts", false, true, true},
		{author, "suites", false, true, true},
		{author, `user.["a.b"].c`, true, true, true},
		{author, "user.a.b", false, true, true},
		{author, "user", false, true, false},
		{author, "", false, true, false},
		// What says who may log in is not an author's, even in the author's own table.
		{author, "user.webserver.prefs", true, true, true},
		{author, "user.webserver", false, true, false},
		{author, "user.webserver.roles", false, false, false},
		{author, "user.webserver.roles.eve", false, false, false},
		{author, "user.webserver.users.default.ada", false, false, false},
		{author, "user.webserver.sessions", false, false, false},
		{author, "user.webserver.debugToken", false, false, false},
		{author, "user.webserver.failedLogins.x", false, false, false},
		{author, "user.webserver.lastLogins.x", false, false, false},
		{author, "user.webserver.visitors.x", false, false, false},
		{author, "user.webserver.remembered.x", false, false, false},
		{author, "user.webserver.siteRoles.ada", false, false, false},
		{author, "Scratchpad.cgiParams.argTable.password", false, false, false},
		{author, "scratchpad.cgiparamsLog", false, false, false},
		{author, "scratchpad", false, true, false},
		{author, "scratchpad.cgiparamsLogs", false, true, true},
		{role("author scratchpad"), "scratchpad.cgiparams", false, false, false},
		{role("author scratchpad"), "scratchpad.notes", true, true, true},
		{role("reader"), "scratchpad.cgiparamsLog.x.body", false, false, false},
	} {
		a := addressOf(t, c.address)
		assert.Equal(t, c.change, c.role.MayChange(a), "%s changes %q", c.role, c.address)
		assert.Equal(t, c.see, c.role.MaySee(a), "%s sees %q", c.role, c.address)
		assert.Equal(t, c.all, c.role.MaySeeAll(a), "%s sees all of %q", c.role, c.address)
	}
}

// TestPeople checks how people and their roles are made, found and removed.
func TestPeople(t *testing.T) {
	s := newSite(t)
	hash, err := NewPasswords().Hash(t.Context(), "open sesame")
	require.NoError(t, err)
	update(t, s.db, func(tx *objectdb.Tx) error {
		require.NoError(t, SetPassword(tx, "Grace", hash))
		require.NoError(t, SetRole(tx, "ada", " author  suites.x "))
		require.ErrorContains(t, SetRole(tx, "ada", "boss"), `it begins with "boss"`)
		require.ErrorContains(t, SetPassword(tx, "Grace", "open sesame"), "no hash")
		return nil
	})
	people := func() (list []Person) {
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
			list, err = People(tx)
			return err
		}))
		return list
	}
	find := func(name string) (p Person, err error) {
		err = s.db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
			p, err = FindPerson(tx, name)
			return err
		})
		return p, err
	}
	ada := Person{Name: "ada", Role: s.now().Role("ada")}
	assert.Equal(t, "author suites.x", ada.Role.String())
	assert.Equal(t, []Person{ada, {Name: "Grace", HasPassword: true}}, people())
	for _, name := range []string{"", "eve", "a\x00b"} {
		_, err = find(name)
		assert.ErrorIs(t, err, objectdb.ErrNotFound, name)
	}
	update(t, s.db, func(tx *objectdb.Tx) error { return SetRole(tx, "grace", "reader") })
	grace, err := find("GRACE")
	require.NoError(t, err)
	assert.Equal(t, Person{"Grace", Role{Kind: RoleReader, Text: "reader"}, true}, grace)
	assert.Equal(t, []Person{ada, grace}, people())

	require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
		name, kept, err := User(tx, DefaultRealm, "grace")
		assert.NoError(t, err)
		assert.Equal(t, "Grace", name)
		assert.Equal(t, hash, kept)
		for _, name := range []string{"ada", "a\x00b", ""} {
			_, _, err = User(tx, DefaultRealm, name)
			assert.ErrorIs(t, err, objectdb.ErrNotFound, name)
		}
		_, _, err = User(tx, "none", "grace")
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		return nil
	}))
	update(t, s.db, func(tx *objectdb.Tx) error {
		require.NoError(t, RemoveUser(tx, "grace"))
		require.ErrorIs(t, RemoveUser(tx, "grace"), objectdb.ErrNotFound)
		require.NoError(t, RemoveRole(tx, "grace"))
		return RemoveUser(tx, "ada")
	})
	assert.Empty(t, people())
	update(t, s.db, func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Delete(Roles))
		return tx.Put(Roles, objectdb.Number(1))
	})
	require.Error(t, s.db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
		_, err = People(tx)
		return err
	}))
}

func TestCheckUserName(t *testing.T) {
	for _, name := range []string{"ada", "Ada.Lovelace", "ada@example.org", "7of9", "a-b_c+d"} {
		assert.NoError(t, CheckUserName(name), name)
	}
	for _, name := range []string{"", "ada lovelace", "a:b", "é", "a\nb", "-ada", ".ada", "a/b", `a"b`, "a\x00", "a<b>"} {
		assert.Error(t, CheckUserName(name), name)
	}
	assert.Error(t, CheckUserName(string(slices.Repeat([]byte("a"), 65))))
}

// TestAdminPath checks which paths the web page may have.
func TestAdminPath(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, "/scripter/", s.now().String(AdminPath))
	for _, p := range []string{"", "/a/", "/admin/scripter/", "/a.b/c_d-e/", "/cgi-binary/"} {
		assert.NoError(t, checkAdminPath(objectdb.String(p)), p)
	}
	for _, p := range []string{
		"/", "//", "scripter", "/scripter", "scripter/", "/a//b/", "/../", "/a/../b/", "/./", "/.well-known/", "/a b/", "/a%20/",
		"/a?/", "/é/", "/cgi-bin/", "/CGI-bin/x/", "/a\x00/", "/" + string(slices.Repeat([]byte("a"), 100)) + "/",
	} {
		assert.Error(t, checkAdminPath(objectdb.String(p)), p)
	}
	s.put("user.webserver.adminPath", objectdb.String("/../"))
	assert.Empty(t, s.now().String(AdminPath), "a mistake does not put the page somewhere else")
}

// FuzzRole checks that a text is refused, or gives a role with the same text again.
func FuzzRole(f *testing.F) {
	for _, text := range []string{
		"", "owner", "reader", "author suites.x", `author a.["b c"] d`, `author a["b\" c"].d`, "author .", `author "a b"`, "owner x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRole(text)
		if err != nil {
			require.Equal(t, RoleNone, r.Kind)
			return
		}
		require.Contains(t, RoleKinds, r.Kind)
		require.Equal(t, r.Kind == RoleAuthor, len(r.At) > 0)
		again, err := parseRole(r.String())
		require.NoError(t, err)
		require.Equal(t, r.Kind, again.Kind)
		require.Equal(t, r.At, again.At)
		for _, a := range r.At {
			require.NotEmpty(t, a)
		}
	})
}
