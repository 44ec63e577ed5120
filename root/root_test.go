package root_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

// supplied makes a root with the supplied objects.
func supplied(t *testing.T) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "scripter.root"),
		objectdb.Options{Relaxed: true, LockTime: -1})
	require.NoError(t, err)
	t.Cleanup(func() {
		problems, err := db.Check(context.Background())
		assert.NoError(t, err)
		assert.Empty(t, problems)
		assert.NoError(t, db.Close())
	})
	result := load(t, db)
	require.Zero(t, result.Changed)
	require.Zero(t, result.Same)
	require.NotZero(t, result.Added)
	return db
}

func load(t *testing.T, db *objectdb.DB) objectfiles.ImportResult {
	t.Helper()
	var result objectfiles.ImportResult
	require.NoError(t, db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
		var err error
		result, err = objectfiles.Import(tx, root.FS, nil, nil)
		return err
	}))
	return result
}

func view(t *testing.T, db *objectdb.DB, fn func(tx *objectdb.Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		fn(tx)
		return nil
	}))
}

// Every setting is there with its default, so that a listing of
// user.webserver shows all that can be set, and nothing else is.
//
// Specification: 2.1.7
func TestSettings(t *testing.T) {
	notSettings := map[string]bool{
		"actionTable": true, "mimeTable": true, "actions": true, "overrides": true, "routes": true, "limits": true, "directoryIndex": true,
		"pageFolders": true, "prefs": true, "counters": true, "callbacks": true, "users": true,
		"requires": true, "history": true, "roles": true, "siteRoles": true, "cors": true,
	}
	// Settings that a new root has stricter than the default, which old roots keep.
	stricter := map[string]objectdb.Value{"scriptFolders": objectdb.String("/")}
	settings := map[string]*site.Setting{}
	for _, s := range site.Settings {
		settings[s.Name] = s
	}
	view(t, supplied(t), func(tx *objectdb.Tx) {
		for _, s := range site.Settings {
			v, err := tx.Get(s.Address())
			if !assert.NoError(t, err) {
				continue
			}
			want := s.Default
			if v := stricter[s.Name]; v != nil {
				want = v
			}
			assert.Equal(t, want, v, s.Name)
			if s.Check != nil {
				assert.NoError(t, s.Check(v), "the default of %s", s.Name)
			}
		}
		list, err := tx.List(objectdb.Address{"user", "webserver"})
		require.NoError(t, err)
		for _, o := range list {
			assert.True(t, settings[o.Name] != nil || notSettings[o.Name], "user.webserver.%s is no setting", o.Name)
			delete(notSettings, o.Name)
		}
		assert.Empty(t, notSettings, "tables that are missing")
	})
}

// What webserver.init copies is what a new root has: the same objects at both
// places.
func TestInitData(t *testing.T) {
	view(t, supplied(t), func(tx *objectdb.Tx) {
		data := objectdb.Address{"suites", "webserver", "data"}
		count := 0
		require.NoError(t, tx.Walk(data, func(a objectdb.Address, n *objectdb.Node) error {
			own := append(objectdb.Address{"user", "webserver"}, a[len(data):]...)
			o, err := tx.Find(own)
			if !assert.NoError(t, err, own) || !assert.Equal(t, n.Kind(), o.Kind(), own) || n.Kind() == objectdb.KindTable {
				return nil
			}
			count++
			want, err := tx.Value(n)
			require.NoError(t, err)
			got, err := tx.Value(o)
			require.NoError(t, err)
			assert.Equal(t, want, got, own)
			return nil
		}))
		assert.Greater(t, count, 10)
		list, err := tx.List(objectdb.Address{"user", "webserver"})
		require.NoError(t, err)
		for _, o := range list {
			setting := false
			for _, s := range site.Settings {
				setting = setting || s.Name == o.Name
			}
			if !setting {
				_, err := tx.Find(data.Child(o.Name))
				assert.NoError(t, err, "webserver.init makes user.webserver.%s", o.Name)
			}
		}
	})
}

// Every supplied script compiles but the one that shows what happens when
// one does not.
func TestScripts(t *testing.T) {
	const broken = "suites.webserverScripts.samples.syntaxError"
	scripts := 0
	view(t, supplied(t), func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(nil, func(a objectdb.Address, n *objectdb.Node) error {
			if n.Kind() != objectdb.KindScript {
				return nil
			}
			scripts++
			v, err := tx.Value(n)
			if err != nil {
				return err
			}
			err = lua.Check(a.String(), string(v.(objectdb.Script)), 0)
			var syntax *lua.SyntaxError
			if a.String() == broken {
				assert.True(t, errors.As(err, &syntax), "%s: %v", a, err)
			} else {
				assert.NoError(t, err)
			}
			return nil
		}))
	})
	files := 0
	require.NoError(t, fs.WalkDir(root.FS, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".lua" {
			files++
		}
		return err
	}))
	assert.Equal(t, files, scripts, "files of the tree with the suffix .lua, and scripts in the root")
}

// Each object of suites.webserver says in its first line how it is called.
//
// Specification: 2.4.3, 9.3
func TestUsageComments(t *testing.T) {
	view(t, supplied(t), func(tx *objectdb.Tx) {
		list, err := tx.List(objectdb.Address{"suites", "webserver"})
		require.NoError(t, err)
		for _, o := range list {
			if o.Kind != objectdb.KindScript {
				continue
			}
			v, err := tx.Get(objectdb.Address{"suites", "webserver", o.Name})
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(v.(objectdb.Script)), "\n")
			assert.True(t, strings.HasPrefix(strings.ToLower(first), "-- webserver."+strings.ToLower(o.Name)+" ("),
				"%s begins %q", o.Name, first)
		}
	})
}

// A second import finds everything as it is: no object gets a new version,
// so an owner may run it to get back what he lost.
//
// Specification: 2.4.2
func TestImportTwice(t *testing.T) {
	db := supplied(t)
	before := versions(t, db)
	result := load(t, db)
	assert.Zero(t, result.Added)
	assert.Zero(t, result.Changed)
	assert.Equal(t, before, versions(t, db))
	assert.NotEmpty(t, before)

	// What the owner has changed or added is put back, or stays.
	own := objectdb.Address{"user", "own"}
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		if err := tx.Put(own, objectdb.String("mine")); err != nil {
			return err
		}
		return tx.Delete(objectdb.Address{"suites", "webserver", "handler"})
	}))
	result = load(t, db)
	assert.Equal(t, 1, result.Added)
	assert.Zero(t, result.Changed)
	view(t, db, func(tx *objectdb.Tx) {
		v, err := tx.Get(own)
		require.NoError(t, err)
		assert.Equal(t, objectdb.String("mine"), v)
	})
}

// versions gives the version of each object.
func versions(t *testing.T, db *objectdb.DB) map[string]int64 {
	t.Helper()
	m := map[string]int64{}
	view(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(nil, func(a objectdb.Address, n *objectdb.Node) error {
			m[a.String()] = n.Version()
			return nil
		}))
	})
	return m
}
