package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// patience is how long a test waits for something that should happen at once: a
// busy machine may stop for seconds.
const patience = time.Minute

// makeRoot makes a root with the supplied objects.
func makeRoot(t *testing.T, file string) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(file, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	}))
	t.Cleanup(func() {
		db.Close()
		// A process that saves a copy may still be running: nothing waits for it.
		assert.Eventually(t, func() bool { return os.RemoveAll(filepath.Dir(file)) == nil }, patience, 10*time.Millisecond)
	})
	return db
}

// ask runs the program once.
func ask(args, env []string) (code int, out, log string) {
	var stdout, stderr bytes.Buffer
	env = append([]string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=/samples.tellTime.fcgi",
		"REQUEST_URI=/samples.tellTime.fcgi"}, env...)
	code = run(context.Background(), "", args, env, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestArgumentsAreIgnored checks that arguments have no effect: a query without "=" arrives as
// arguments.
func TestArgumentsAreIgnored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	makeRoot(t, file)
	env := []string{"SCRIPTER_ROOT=" + file}
	_, plain, _ := ask([]string{"Scripter.acgi"}, env)
	require.Contains(t, plain, "Status: 200 OK")
	for _, args := range [][]string{{"Scripter.acgi", "--root", "/etc/passwd"}, {"Scripter.acgi", "-h"},
		{"Scripter.acgi", file, file}} {
		code, out, _ := ask(args, env)
		assert.Zero(t, code)
		assert.Equal(t, len(plain), len(out), args)
	}
}

// TestBadInputIsLogged checks that the log has a line for a refused request, with the incident
// number that the visitor sees.
//
// Specification: 7.1
func TestBadInputIsLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	makeRoot(t, file)
	const handler = "/cgi-bin/Scripter.acgi"
	for _, c := range []struct{ env, want string }{
		{"REQUEST_METHOD=POST SCRIPT_NAME=/x.fcgi CONTENT_LENGTH=10", "the body has 0 of 10 declared bytes"},
		{"REQUEST_METHOD=POST SCRIPT_NAME=/x.fcgi CONTENT_LENGTH=ten", `CONTENT_LENGTH is \"ten\", not a number of bytes`},
		{"REQUEST_METHOD=GET SCRIPT_NAME=/x.fcgi HTTP_HOST=a/b", `the Host field \"a/b\" names no host`},
		{"REQUEST_METHOD=GET SCRIPT_NAME=/a/../x.fcgi", `has a \"..\" part`},
		{"REQUEST_METHOD=GET SCRIPT_NAME=" + handler + " PATH_INFO=/x.fcgi REQUEST_URI=" + handler + "/x.fcgi",
			"was called by its own URL"},
	} {
		var stdout, stderr bytes.Buffer
		env := append(strings.Fields(c.env), "GATEWAY_INTERFACE=CGI/1.1", "SCRIPTER_ROOT="+file)
		run(context.Background(), "", []string{"Scripter.acgi"}, env, strings.NewReader(""), &stdout, &stderr)
		assert.Regexp(t, "^Status: 40[04]", stdout.String(), c.env)
		assert.Contains(t, stderr.String(), c.want)
		if _, number, ok := strings.Cut(stdout.String(), "Incident <code>"); ok {
			assert.Contains(t, stderr.String(), "id="+number[:8])
		}
	}
}

// TestVerboseMessages checks that each request is logged while flVerboseMessages is on, and none
// while it is off.
//
// Specification: 2.3.9
func TestVerboseMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	db := makeRoot(t, file)
	_, _, log := ask([]string{"Scripter.acgi"}, []string{"SCRIPTER_ROOT=" + file})
	assert.Empty(t, log)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"user", "webserver", "flVerboseMessages"}, objectdb.Boolean(true))
	}))
	_, _, log = ask([]string{"Scripter.acgi"}, []string{"SCRIPTER_ROOT=" + file})
	assert.Regexp(t, `^level=INFO msg=request method=GET path=/samples.tellTime.fcgi action=SCRIPTER status=200 `, log)
}

// TestByHand checks that a user can ask for the version and for help. With REQUEST_METHOD set, the
// same argument is the query of a request.
func TestByHand(t *testing.T) {
	var out, log bytes.Buffer
	assert.Zero(t, run(context.Background(), "", []string{"scripter-cgi", "--version"}, nil, strings.NewReader(""),
		&out, &log))
	assert.Equal(t, gateway.Program()+"\n", out.String())
	out.Reset()
	assert.Zero(t, run(context.Background(), "", []string{"scripter-cgi", "--help"}, nil, strings.NewReader(""),
		&out, &log))
	assert.Contains(t, out.String(), "scripter call")
	out.Reset()
	env := []string{"REQUEST_METHOD=GET", "QUERY_STRING=--version"}
	run(context.Background(), "", []string{"scripter-cgi", "--version"}, env, strings.NewReader(""), &out, &log)
	assert.Contains(t, out.String(), "503")
}

// Specification: 2.1.6
func TestTwoLineFile(t *testing.T) {
	file, _ := makeRelayRoot(t)
	dir := t.TempDir()
	program := func(path string, args []string, named string) result {
		return program{path: path, args: args, name: "echo", env: []string{"SCRIPT_FILENAME=" + named}}.run(t)
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("#!"+os.Args[0]+"\nroot: "+file+"\n"), 0o755))
		return path
	}
	script := write("site.cgi")
	for name, got := range map[string]result{
		"started":               program(script, []string{script}, script),
		"behind an action":      program(script, []string{script, "/srv/www/page.mcro"}, "/srv/www/page.mcro"),
		"with a page's ending":  program(write("site.fcgi"), nil, ""),
		"as a name of its own":  program(script, []string{"anything"}, ""),
		"with a query in front": program(script, []string{script, "-h", "x"}, script),
	} {
		assert.Contains(t, got.out, "Status: 200 OK", "%s: %s", name, got.log)
	}
	// A visitor can name a file, which may be an upload.
	upload := write("upload.jpg")
	for name, got := range map[string]result{
		"as lighttpd gives it": program(os.Args[0], []string{os.Args[0], upload}, upload),
		"by a query":           program(os.Args[0], []string{os.Args[0], upload}, os.Args[0]),
		"as the program":       program(os.Args[0], []string{upload, upload}, upload),
	} {
		assert.Contains(t, got.out, "Status: 503", name)
		assert.Contains(t, got.log, "no root is named", name)
	}
}

// TestBadRoots checks that a root that cannot be opened gives one line in the web server's log and
// status 503 for the visitor, and that no file is created or changed.
//
// Specification: 7.1
func TestBadRoots(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.root")
	empty := filepath.Join(dir, "empty.root")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	damaged := filepath.Join(dir, "damaged.root")
	require.NoError(t, os.WriteFile(damaged, []byte(strings.Repeat("no SQLite here", 100)), 0o644))
	for _, file := range []string{missing, empty, damaged, dir} {
		before, _ := os.ReadFile(file)
		code, out, log := ask([]string{"Scripter.acgi"}, []string{"SCRIPTER_ROOT=" + file})
		assert.Equal(t, 1, code, file)
		assert.True(t, strings.HasPrefix(out, "Status: 503 "), out)
		assert.NotContains(t, out, dir, "the visitor sees no path")
		assert.Contains(t, log, file)
		assert.Equal(t, 1, strings.Count(log, "\n"), log)
		after, _ := os.ReadFile(file)
		assert.Equal(t, before, after)
	}
	_, err := os.Stat(missing)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, out, log := ask([]string{"Scripter.acgi"}, nil)
	assert.Contains(t, out, "Status: 503")
	assert.Contains(t, log, "SCRIPTER_ROOT")
}

// TestHistoryRules checks that the program follows the rules of the root for what is kept, and
// says who has made a change.
func TestHistoryRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	db := makeRoot(t, file)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for a, v := range map[string]objectdb.Value{
			"own.each": objectdb.Number(0), "own.thinned": objectdb.Number(0),
			"suites.webserverScripts.raise": objectdb.Script(
				`own.each, own.thinned = own.each + 1, own.thinned + 1 return "raised"`),
			`user.webserver.history.["own.each"]`: objectdb.String("everything"),
		} {
			at, err := objectdb.ParseAddress(a)
			if err != nil {
				return err
			}
			if err := tx.Put(at, v); err != nil {
				return err
			}
		}
		return nil
	}))
	for range 4 {
		var stdout, stderr bytes.Buffer
		env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=/raise.fcgi",
			"REQUEST_URI=/raise.fcgi", "REMOTE_USER=ada", "SCRIPTER_ROOT=" + file}
		run(context.Background(), "", []string{"Scripter.acgi"}, env, strings.NewReader(""), &stdout, &stderr)
		require.Contains(t, stdout.String(), "raised", stderr.String())
	}
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		for name, want := range map[string]int{"each": 5, "thinned": 2} { // with the one that has made it
			ids, err := tx.IDsAt(objectdb.Address{"own", name})
			if err != nil {
				return err
			}
			changes, err := tx.ChangesOf(ids)
			assert.Len(t, changes, want, name)
			if err != nil {
				return err
			}
		}
		for c, err := range tx.Changes(0) {
			assert.Equal(t, objectdb.Origin{Who: "ada", Why: "GET", Path: "/raise.fcgi"}, c.Origin)
			return err
		}
		return nil
	}))
}
