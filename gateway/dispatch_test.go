package gateway

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

// patience is how long a test waits for something that should happen at once: a busy machine may
// stop for seconds.
const patience = time.Minute

var patient = objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience}

// newDB returns a root with the supplied objects.
func newDB(t testing.TB) *objectdb.DB {
	t.Helper()
	o := patient
	o.History = site.History()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	update(t, db, func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	return db
}

func update(t testing.TB, db *objectdb.DB, fn func(tx *objectdb.Tx) error) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), fn))
}

func dispatchWith(t testing.TB, db *objectdb.DB, p map[string]string) (Target, error) {
	t.Helper()
	var d Target
	var err error
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		s, failed := site.Read(tx)
		if failed == nil {
			d, err = dispatch(&Request{Params: p}, s)
		}
		return failed
	}))
	return d, err
}

// TestDispatchSetUps has a row for each set of variables that web servers send for the same
// request: /samples.hello.fcgi/extra/path?y=2.
//
// Specification: 4.3.4, 6.1
func TestDispatchSetUps(t *testing.T) {
	db := newDB(t)
	const uri = "/samples.hello.fcgi/extra/path?y=2"
	for name, p := range map[string]map[string]string{
		"Apache Action, mod_cgi, mod_cgid, mod_fcgid": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "/srv/cgi-bin/Scripter.acgi", "PATH_TRANSLATED": "/srv/www/samples.hello.fcgi/extra/path",
			"REDIRECT_HANDLER": "scripter", "REDIRECT_URL": "/samples.hello.fcgi/extra/path", "REDIRECT_STATUS": "200",
		},
		"Apache Action, mod_proxy_fcgi without a file": {
			"SCRIPT_NAME": "/cgi-bin", "PATH_INFO": "/Scripter.acgi/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME":  "proxy:fcgi://localhost/srv/www/cgi-bin",
			"PATH_TRANSLATED":  "/srv/www/Scripter.acgi/samples.hello.fcgi/extra/path",
			"REDIRECT_HANDLER": "scripter", "REDIRECT_URL": "/samples.hello.fcgi/extra/path",
		},
		"Apache FilesMatch proxy": {
			"SCRIPT_NAME": "/samples.hello.fcgi", "PATH_INFO": "/extra/path",
			"SCRIPT_FILENAME": "proxy:fcgi://localhost/srv/www/samples.hello.fcgi", "PATH_TRANSLATED": "/srv/www/extra/path",
		},
		"Apache ProxyPassMatch": {
			"SCRIPT_NAME":     "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "proxy:fcgi://127.0.0.1:9000//srv/www/samples.hello.fcgi/extra/path",
		},
		"Apache FcgidWrapper virtual": {
			"SCRIPT_NAME": "/samples.hello.fcgi", "PATH_INFO": "/extra/path",
			"SCRIPT_FILENAME": "/srv/www/samples.hello.fcgi", "PATH_TRANSLATED": "/srv/www/extra/path",
		},
		"Apache Action, mod_proxy_fcgi": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME":  "proxy:fcgi://localhost/srv/cgi-bin/Scripter.acgi",
			"PATH_TRANSLATED":  "/srv/www/samples.hello.fcgi/extra/path",
			"REDIRECT_HANDLER": "scripter",
		},
		"Apache rewrite to nph": {
			"SCRIPT_NAME": "/cgi-bin/nph-Scripter.acgi", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "/srv/cgi-bin/nph-Scripter.acgi",
			"PATH_TRANSLATED": "/srv/cgi-bin/nph-Scripter.acgi/samples.hello.fcgi/extra/path",
		},
		"Apache ScriptAliasMatch": {
			"SCRIPT_NAME": "/samples.hello.fcgi/extra/path", "SCRIPT_FILENAME": "/srv/cgi-bin/Scripter.acgi",
		},
		"nginx with a split": {
			"SCRIPT_NAME": "/samples.hello.fcgi", "PATH_INFO": "/extra/path", "SCRIPT_FILENAME": "/srv/www/samples.hello.fcgi",
			"DOCUMENT_URI": "/samples.hello.fcgi/extra/path",
		},
		"nginx with stock fastcgi_params": {"SCRIPT_NAME": "/samples.hello.fcgi/extra/path"},
		"nginx and fcgiwrap": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "/srv/cgi-bin/Scripter.acgi", "PATH_TRANSLATED": "/srv/www/samples.hello.fcgi/extra/path",
		},
		"lighttpd mod_cgi by rewrite": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "/srv/cgi-bin/Scripter.acgi", "PATH_TRANSLATED": "/srv/cgi-bin/samples.hello.fcgi/extra/path",
			"REDIRECT_URI": "/cgi-bin/Scripter.acgi/samples.hello.fcgi/extra/path?y=2",
		},
		"Caddy": {
			"SCRIPT_NAME": "/samples.hello.fcgi", "PATH_INFO": "/extra/path",
			"SCRIPT_FILENAME": "/srv/www/samples.hello.fcgi", "PATH_TRANSLATED": "/srv/www/extra/path",
		},
		"Caddy without a split": {
			"SCRIPT_NAME": "", "PATH_INFO": "/samples.hello.fcgi/extra/path",
			"SCRIPT_FILENAME": "/srv/www", "PATH_TRANSLATED": "/srv/www/samples.hello.fcgi/extra/path",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p["REQUEST_URI"], p["QUERY_STRING"], p["DOCUMENT_ROOT"] = uri, "y=2", "/srv/www"
			d, err := dispatchWith(t, db, p)
			require.NoError(t, err)
			assert.Equal(t, "/samples.hello.fcgi", d.Path)
			assert.Equal(t, "/extra/path", d.Extra)
			assert.Equal(t, "SCRIPTER", d.Action)
		})
	}
}

// TestDispatchFile checks which file a page is, behind each kind of set-up.
//
// Specification: 4.1.3
func TestDispatchFile(t *testing.T) {
	db := newDB(t)
	for name, p := range map[string]map[string]string{
		"Apache Action with an Alias": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/docs/page.mcro", "PATH_TRANSLATED": "/other/docs/page.mcro",
			"REQUEST_URI": "/docs/page.mcro", "REDIRECT_HANDLER": "macro",
		},
		"Apache Action, folder index": {
			"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/docs/page.mcro", "PATH_TRANSLATED": "/other/docs/page.mcro",
			"REQUEST_URI": "/docs/", "REDIRECT_HANDLER": "macro",
		},
		"direct": {
			"SCRIPT_NAME": "/docs/page.mcro", "SCRIPT_FILENAME": "/other/docs/page.mcro", "REQUEST_URI": "/docs/page.mcro",
		},
		"mod_proxy_fcgi": {
			"SCRIPT_NAME": "/docs/page.mcro", "SCRIPT_FILENAME": "proxy:fcgi://127.0.0.1:9000//other/docs/page.mcro",
			"REQUEST_URI": "/docs/page.mcro",
		},
		"with path arguments": {
			"SCRIPT_NAME": "/docs/page.mcro$a/b", "SCRIPT_FILENAME": "/other/docs/page.mcro$a/b",
			"REQUEST_URI": "/docs/page.mcro$a/b",
		},
		"an interpreter with extra path": {
			"SCRIPT_NAME": "/docs/page.mcro", "PATH_INFO": "/extra", "SCRIPT_FILENAME": "/other/docs/page.mcro",
			"REQUEST_URI": "/docs/page.mcro/extra",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p["DOCUMENT_ROOT"] = "/srv/www"
			d, err := dispatchWith(t, db, p)
			require.NoError(t, err)
			assert.Equal(t, "/docs/page.mcro", d.Path)
			assert.Equal(t, "MACRO", d.Action)
			assert.Equal(t, []string{"/other/docs/page.mcro", "/srv/www/docs/page.mcro"}, d.files(p))
		})
	}
	t.Run("a file with a page's name behind it", func(t *testing.T) {
		for _, p := range []map[string]string{
			{"SCRIPT_NAME": "/sent.txt", "PATH_INFO": "/x.mcro", "SCRIPT_FILENAME": "/srv/www/sent.txt"}, // lighttpd
			{"SCRIPT_NAME": "/sent.txt", "PATH_INFO": "/x.mcro", "SCRIPT_FILENAME": "/srv/www/sent.txt/x.mcro"},
			{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/sent.txt/x.mcro", "PATH_TRANSLATED": "/srv/www/sent.txt"},
		} {
			p["DOCUMENT_ROOT"], p["REQUEST_URI"] = "/srv/www", "/sent.txt/x.mcro"
			d, err := dispatchWith(t, db, p)
			require.NoError(t, err)
			assert.Equal(t, []string{"/srv/www/sent.txt/x.mcro"}, d.files(p))
		}
	})
	t.Run("percent signs of ProxyPassMatch", func(t *testing.T) {
		p := map[string]string{
			"SCRIPT_NAME":     "/my page.mcro",
			"SCRIPT_FILENAME": "proxy:fcgi://127.0.0.1:9000//srv/www/my%20page.mcro", "DOCUMENT_ROOT": "/srv/www",
		}
		d, err := dispatchWith(t, db, p)
		require.NoError(t, err)
		assert.Contains(t, d.files(p), "/srv/www/my page.mcro")
	})
}

func TestDispatchPathArgs(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct{ path, want, args, extra string }{
		{"/x.fcgi$y", "/x.fcgi", "y", ""},
		{"/x.fcgi%24y", "/x.fcgi", "y", ""},
		{"/x.fcgi$a/b.fcgi$c", "/x.fcgi", "a/b.fcgi$c", ""},
		{"/x.fcgi%24a$b", "/x.fcgi", "a$b", ""},
		{"/x.fcgi/e$y", "/x.fcgi", "y", "/e"},
		{"/x.fcgi$../..", "/x.fcgi", "../..", ""},
		{"/a.fcgi/b.fcgi", "/a.fcgi", "", "/b.fcgi"},
		{"/evil.jpg/x.fcgi", "/evil.jpg/x.fcgi", "", ""},
		{"/dir//./x.FCGI/", "/dir/x.FCGI", "", "/"},
	} {
		d, err := dispatchWith(t, db, map[string]string{"SCRIPT_NAME": c.path, "REQUEST_URI": c.path})
		if assert.NoError(t, err, c.path) {
			assert.Equal(t, []string{c.want, c.args, c.extra, "SCRIPTER"},
				[]string{d.Path, d.PathArgs, d.Extra, d.Action}, c.path)
		}
	}
}

// Specification: 7.1
func TestDispatchRefuses(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct {
		name   string
		p      map[string]string
		status int
	}{
		{"a parent folder", map[string]string{"SCRIPT_NAME": "/../etc/passwd.mcro"}, 400},
		{"a backslash", map[string]string{"SCRIPT_NAME": `/..\page.mcro`}, 400},
		{"a NUL", map[string]string{"SCRIPT_NAME": "/page.mcro\x00.html"}, 400},
		{"a line end", map[string]string{"SCRIPT_NAME": "/page\n.mcro"}, 400},
		{"nothing", map[string]string{}, 400},
		{"a page's name and a script's",
			map[string]string{"SCRIPT_NAME": "/x.mcro/y.fcgi", "REDIRECT_HANDLER": "SCRIPTER"}, 404},
		{"a page's name and a script's, without a variable",
			map[string]string{"SCRIPT_NAME": "/x.mcro", "PATH_INFO": "/a/y.FCGI/b"}, 404},
		{"the handler itself",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/private/page.mcro",
				"REQUEST_URI": "/cgi-bin/Scripter.acgi/private/page.mcro"}, 404},
		{"the handler in other letters",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/scripter.ACGI", "PATH_INFO": "/p.mcro",
				"REQUEST_URI": "/cgi-bin/scripter.ACGI/p.mcro"}, 404},
		{"the handler, absolute",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/p.mcro",
				"REQUEST_URI": "http://h/cgi-bin/Scripter.acgi/p.mcro?x"}, 404},
		{"the handler, encoded",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/p.mcro",
				"REQUEST_URI": "/cgi-bin//%53cripter.acgi/./p.mcro"}, 404},
		{"the handler, badly encoded",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/p.mcro$%zz",
				"REQUEST_URI": "/cgi-bin/%53cripter.acgi/p.mcro$%zz"}, 404},
		{"the handler without a variable",
			map[string]string{"SCRIPT_NAME": "/cgi-bin/Scripter.acgi", "PATH_INFO": "/p.mcro"}, 404},
	} {
		_, err := dispatchWith(t, db, c.p)
		var e *Error
		if assert.ErrorAs(t, err, &e, c.name) {
			assert.Equal(t, c.status, e.Status, c.name)
		}
	}
}

// Specification: 2.1.1, 2.1.3, 2.1.5, 2.1.8
func TestDispatchAction(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *objectdb.Tx) error {
		for a, v := range map[string]objectdb.Value{
			`user.webserver.overrides.["*"].["/all/"]`:        objectdb.String("MACRO"),
			`user.webserver.overrides.["*"].["/all/scripts"]`: objectdb.String("scripter"),
			`user.webserver.overrides.["one.test"].["/"]`:     objectdb.String("MACRO"),
			`user.webserver.overrides.["*"].["/nonsense/"]`:   objectdb.String("NONE"),
			`user.webserver.actions.SHOUT`:                    objectdb.Script("return 1"),
			`user.webserver.mimeTable.[".shout"].action`:      objectdb.String("SHOUT"),
			`user.webserver.mimeTable.[".plain"].type`:        objectdb.String("text/plain"),
		} {
			adr, err := objectdb.ParseAddress(a)
			if err != nil {
				return err
			}
			if err := tx.Put(adr, v); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		path, host string
		p          map[string]string
		want       string
	}{
		{"/x.fcgi", "", nil, "SCRIPTER"},
		{"/x.mcro", "", nil, "MACRO"},
		{"/x.html", "", nil, ""},
		{"/x.plain", "", nil, ""},
		{"/x.shout", "", nil, "SHOUT"},
		{"/x.html", "", map[string]string{"REDIRECT_HANDLER": "macro"}, "MACRO"},
		{"/x.fcgi", "", map[string]string{"REDIRECT_HANDLER": "cgi-script"}, "SCRIPTER"},
		{"/x.fcgi", "", map[string]string{"SCRIPTER_ACTION": "MACRO", "REDIRECT_HANDLER": "scripter"}, "MACRO"},
		{"/x.fcgi", "", map[string]string{"REDIRECT_SCRIPTER_ACTION": "MACRO", "REDIRECT_HANDLER": "scripter"}, "MACRO"},
		{"/x.fcgi", "", map[string]string{"HTTP_REDIRECT_HANDLER": "macro", "HTTP_SCRIPTER_ACTION": "MACRO"}, "SCRIPTER"},
		{"/all/x.html", "", nil, "MACRO"},
		{"/all/scripts/x.html", "", nil, "SCRIPTER"},
		{"/all/scripts.html", "", nil, "MACRO"},
		{"/alls/x.html", "", nil, ""},
		{"/alls/x.html", "one.test:8080", nil, "MACRO"},
		{"/nonsense/x.html", "", nil, ""},
		// A variable that repeats the action of the extension is not an override.
		{"/all/x.fcgi", "", nil, "MACRO"},
		{"/all/x.fcgi", "", map[string]string{"REDIRECT_HANDLER": "scripter"}, "MACRO"},
		{"/all/scripts/x.mcro", "", map[string]string{"REDIRECT_HANDLER": "MACRO"}, "SCRIPTER"},
		{"/all/x.shout", "", map[string]string{"REDIRECT_HANDLER": "scripter"}, "SCRIPTER"},
		{"/all/x.html", "", map[string]string{"SCRIPTER_ACTION": "SHOUT"}, "SHOUT"},
		{"/nonsense/x.fcgi", "", map[string]string{"REDIRECT_HANDLER": "scripter"}, "SCRIPTER"},
	} {
		p := map[string]string{"SCRIPT_NAME": c.path, "HTTP_HOST": c.host}
		for k, v := range c.p {
			p[k] = v
		}
		d, err := dispatchWith(t, db, p)
		if assert.NoError(t, err, c.path) {
			assert.Equal(t, c.want, d.Action, "%s %v", c.path, c.p)
		}
	}
}

func FuzzDispatch(f *testing.F) {
	for _, s := range []string{"/samples.hello.fcgi/extra", "/page.mcro", "/..%2f..", "/x.fcgi$y", "//x.fcgi", "/%24"} {
		f.Add(s, "", s)
	}
	f.Add("/cgi-bin/Scripter.acgi", "/x.fcgi", "/x.fcgi")
	db := newDB(f)
	s := &testSite{t: f, db: newDB(f)}
	s.route("all", "GET /*all x")
	f.Fuzz(func(t *testing.T, name, info, uri string) {
		p := map[string]string{"SCRIPT_NAME": name, "PATH_INFO": info, "REQUEST_URI": uri, "DOCUMENT_ROOT": "/srv/www",
			"REQUEST_METHOD": "GET"}
		d, err := dispatchWith(t, db, p)
		routed, routedErr := dispatchWith(t, s.db, p)
		assert.Equal(t, err == nil, routedErr == nil)
		if err != nil {
			return
		}
		assert.NoError(t, CheckPath(d.Path))
		assert.Equal(t, byte('/'), d.Path[0])
		assert.NotContains(t, d.Path, "$")
		// A route answers only what nothing else does.
		if routed.Route == nil {
			assert.Equal(t, d, routed)
			return
		}
		assert.Empty(t, d.Action)
		assert.NoError(t, CheckPath(routed.Path))
		assert.Equal(t, cleanWithSlash(routed.Path), routed.Path)
	})
}
