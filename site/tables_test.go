package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestActionTable checks the action handler table (specification, 2.1) as supplied, and
// after changes.
//
// Specification: 2.1.1, 2.1.2, 2.1.7
func TestActionTable(t *testing.T) {
	s := newSite(t)
	const handler = "/cgi-bin/Scripter.acgi"
	want := []Action{{"MACRO", handler, ActionObjects.Child("MACRO")}, {"SCRIPTER", handler, nil}}
	assert.Equal(t, want, s.now().Actions())
	var warnings []string
	set := func(name, handler string) error {
		return s.try(func(tx *objectdb.Tx) (err error) { warnings, err = SetAction(tx, name, handler); return err })
	}
	require.NoError(t, set("SHOUT", handler))
	assert.Empty(t, warnings)
	s.put("user.webserver.actions.own", objectdb.Script("return 1"))
	assert.Equal(t, []string{"MACRO", "own", "SCRIPTER", "SHOUT"}, func() (names []string) {
		for _, e := range s.now().Actions() {
			names = append(names, e.Name)
		}
		return names
	}())
	require.NoError(t, set("macro", "/elsewhere/handler.cgi"))
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "handler.cgi")
	assert.Len(t, s.now().Actions(), 4, "a name in another case is the same action")
	for name, path := range map[string]string{
		"A": "cgi-bin/x", "B": "/folder/", "C": "/a/../b", "D": "/a b", "E": "/a?b", "F G": "/x", "": "/x", "a.b": "/x",
	} {
		assert.Error(t, set(name, path), "%q %q", name, path)
	}
	remove := func(name string) error {
		return s.try(func(tx *objectdb.Tx) (err error) { warnings, err = RemoveAction(tx, name); return err })
	}
	require.NoError(t, remove("SHOUT"))
	assert.Empty(t, warnings)
	require.ErrorIs(t, remove("SHOUT"), objectdb.ErrNotFound)
	require.NoError(t, remove("SCRIPTER"))
	assert.Equal(t, []string{"the extension .fcgi is still bound to it"}, warnings)
	require.NoError(t, remove("MACRO"))
	assert.Equal(t, []string{"user.webserver.actions.MACRO still answers for it"}, warnings)
}

// TestMimeTable checks the mime extension table (specification, 2.1).
//
// Specification: 2.1.3, 2.1.4, 2.1.5, 2.1.7
func TestMimeTable(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, []MimeType{{".fcgi", "text/html", "SCRIPTER"}, {".mcro", "text/html", "MACRO"}}, s.now().MimeTypes())
	word := func(s string) *string { return &s }
	set := func(ext, typ string, action *string) error {
		return s.try(func(tx *objectdb.Tx) error { return SetMimeType(tx, ext, typ, action) })
	}
	require.NoError(t, set(".loud", "text/plain; charset=utf-8", word("macro")))
	require.NoError(t, set(".mcro", "application/xhtml+xml", nil))
	require.NoError(t, set(".fcgi", "text/html", word("")))
	require.NoError(t, set(".xyz", "chemical/x-xyz", nil))
	assert.Equal(t, []MimeType{
		{".fcgi", "text/html", ""}, {".loud", "text/plain; charset=utf-8", "MACRO"},
		{".mcro", "application/xhtml+xml", "MACRO"}, {".xyz", "chemical/x-xyz", ""},
	}, s.now().MimeTypes())
	err := set(".loud", "text/plain", word("LAOD"))
	assert.EqualError(t, err, `"LAOD" is no action; the known ones are MACRO, SCRIPTER`)
	for ext, typ := range map[string]string{
		"loud": "text/plain", ".": "text/plain", ".a/b": "text/plain", ".a.b": "text/plain", ".ok": "text",
		".bad": "text/plain\r\nX: y",
	} {
		assert.Error(t, set(ext, typ, nil), "%q %q", ext, typ)
	}
	require.NoError(t, s.try(func(tx *objectdb.Tx) error { return RemoveMimeType(tx, ".LOUD") }))
	assert.Len(t, s.now().MimeTypes(), 3)
	assert.Error(t, s.try(func(tx *objectdb.Tx) error { return RemoveMimeType(tx, ".loud") }))
}

// TestPathRows checks that requests find the rows of Action Override and DirectoryIndex
// (specification, 2.1, 4.4.3 and 4.4.4): those of all hosts, of one host, of a folder.
//
// Specification: 2.1.8, 2.1.9, 4.4.3, 4.4.4
func TestPathRows(t *testing.T) {
	s := newSite(t)
	assert.Empty(t, s.now().PathRows(Overrides))
	assert.Equal(t, []PathRow{{"*", "/", "index.html default.mcro"}}, s.now().PathRows(DirectoryIndex))
	set := func(table objectdb.Address, r PathRow) error {
		return s.try(func(tx *objectdb.Tx) error { _, err := SetPathRow(tx, table, r); return err })
	}
	require.NoError(t, set(Overrides, PathRow{"*", "/news/", "macro"}))
	require.NoError(t, set(Overrides, PathRow{"WWW.Example.com", "/old.html", "SCRIPTER"}))
	require.NoError(t, set(Overrides, PathRow{"[::1]", "/", "MACRO"}))
	assert.Equal(t, []PathRow{
		{"*", "/news/", "MACRO"}, {"[::1]", "/", "MACRO"}, {"www.example.com", "/old.html", "SCRIPTER"},
	}, s.now().PathRows(Overrides))
	assert.Equal(t, "SCRIPTER", s.now().Override("www.example.com", "/old.html"))
	assert.Equal(t, "MACRO", s.now().Override("other.example.com", "/news/x"))
	assert.Empty(t, s.now().Override("other.example.com", "/news"))
	require.NoError(t, set(DirectoryIndex, PathRow{"*", "/", " default.mcro \t index.html"}))
	assert.Equal(t, []PathRow{{"*", "/", "default.mcro index.html"}}, s.now().PathRows(DirectoryIndex))
	for _, r := range []PathRow{
		{"", "/", "MACRO"}, {"a b", "/", "MACRO"}, {"a:80", "/", "MACRO"}, {"[::1]:80", "/", "MACRO"},
		{"*", "news", "MACRO"}, {"*", "/../x", "MACRO"}, {"*", "/x", "NONE"}, {"*", "/x", ""},
	} {
		assert.Error(t, set(Overrides, r), "%v", r)
	}
	for _, v := range []string{"", "a/b.html", "..", "a\\b"} {
		assert.Error(t, set(DirectoryIndex, PathRow{"*", "/", v}), v)
	}
	require.NoError(t, s.try(func(tx *objectdb.Tx) error {
		return RemovePathRow(tx, Overrides, "WWW.example.com", "/old.html")
	}))
	require.NoError(t, s.try(func(tx *objectdb.Tx) error {
		_, err := tx.Find(Overrides.Child("www.example.com"))
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "a host without rows goes")
		return nil
	}))
	assert.Error(t, s.try(func(tx *objectdb.Tx) error { return RemovePathRow(tx, Overrides, "*", "/none") }))
}

// TestTables sets, finds and removes a row of each table by its cells alone.
func TestTables(t *testing.T) {
	s := newSite(t)
	rows := map[string][]string{
		"actions": {"NEW", "/cgi-bin/Scripter.acgi", ""}, "mimetypes": {".new", "text/html", "MACRO"},
		"overrides": {"*", "/new/", "MACRO"}, "index": {"*", "/new/", "new.html"},
	}
	require.Len(t, rows, len(Tables))
	for _, table := range Tables {
		row := rows[table.Name]
		require.Len(t, row, len(table.Columns), table.Name)
		keys := row[:table.Keys]
		set := func(row []string) error {
			return s.try(func(tx *objectdb.Tx) error { _, err := table.Set(tx, row); return err })
		}
		remove := func(keys []string) error {
			return s.try(func(tx *objectdb.Tx) error { _, err := table.Remove(tx, keys); return err })
		}
		before := table.Rows(s.now())
		assert.Empty(t, table.Rows(s.now(), keys...), table.Name)
		require.NoError(t, set(row), table.Name)
		assert.Equal(t, [][]string{row}, table.Rows(s.now(), keys...), table.Name)
		assert.Len(t, table.Rows(s.now()), len(before)+1, table.Name)
		assert.Error(t, set(keys), table.Name)
		assert.Error(t, remove(row), table.Name)
		require.NoError(t, remove(keys), table.Name)
		assert.Equal(t, before, table.Rows(s.now()), table.Name)
	}
}
