package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// suiteObject is a script of the suite, the macros or the glue. Its source begins
// with a comment: the line that says how it is called, what it does, and
// examples: lines of Lua after "> ", what they give after "=".
type suiteObject struct {
	folder, usage, meaning string
	examples               []suiteExample
	gone                   bool // it only says that there is no such thing any more
}

type suiteExample struct{ source, want string }

// suiteFolders are the folders whose scripts suite.md lists.
var suiteFolders = []string{
	"suites/webserver", "suites/webserver/util", "suites/webserver/macros",
	"apps/httpd", "apps/httpd/commands", "apps/httpd/root",
}

func suiteObjects(t *testing.T) []suiteObject {
	t.Helper()
	var list []suiteObject
	for _, folder := range suiteFolders {
		entries, err := fs.ReadDir(root.FS, folder)
		require.NoError(t, err)
		for _, e := range entries {
			if path.Ext(e.Name()) != ".lua" {
				continue
			}
			source, err := fs.ReadFile(root.FS, path.Join(folder, e.Name()))
			require.NoError(t, err)
			list = append(list, parseSuiteObject(t, folder, e.Name(), string(source)))
		}
	}
	require.Greater(t, len(list), 90)
	return list
}

func parseSuiteObject(t *testing.T, folder, file, source string) suiteObject {
	t.Helper()
	o := suiteObject{folder: folder}
	var words []string
	for line := range strings.Lines(source) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "--")
		if !ok {
			o.gone = strings.HasPrefix(line, "error (\"httpd.")
			break
		}
		line = strings.TrimPrefix(line, " ")
		last := len(o.examples) - 1
		code, isCode := strings.CutPrefix(line, "> ")
		want, isWant := strings.CutPrefix(line, "=")
		switch {
		case isCode && (last < 0 || o.examples[last].want != ""):
			o.examples = append(o.examples, suiteExample{source: code + "\n"})
		case isCode:
			o.examples[last].source += code + "\n"
		case isWant && last >= 0:
			o.examples[last].want += strings.TrimPrefix(want, " ") + "\n"
		case o.usage == "":
			o.usage = line
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	o.meaning = strings.Join(words, " ")
	name := strings.ToLower(strings.TrimSuffix(file, ".lua"))
	require.Regexp(t, `^([\w.]+\.)?`+name+` \(.*\)$`, strings.ToLower(strings.ReplaceAll(o.usage, "httpHeader", "httpheader")), "%s/%s: its first line", folder, file)
	return o
}

// TestSuite compares the page with the scripts' own comments.
//
// Specification: 2.3.9
func TestSuite(t *testing.T) {
	page := read(t, "suite.md")
	table := rows(page)
	for _, o := range suiteObjects(t) {
		if o.gone {
			why, _ := strings.CutPrefix(o.meaning, "Not there any more: ")
			assert.Equal(t, []string{why}, table[o.usage], "row of %s in suite.md:\n| `%s` | %s |", o.usage, o.usage, why)
		} else {
			assert.Equal(t, []string{cell(o.meaning)}, table[o.usage], "row in suite.md:\n| `%s` | %s |", o.usage, cell(o.meaning))
		}
		delete(table, o.usage)
	}
	for _, p := range []string{"httpd.appInfo.name", "httpd.appInfo.version", "httpd.appInfo.id", "httpd.appInfo.path"} {
		assert.Contains(t, table, p)
		delete(table, p)
	}
	// What is left are the names of 1998 for verbs that are called otherwise now.
	verbs := map[string]bool{}
	for _, v := range gateway.Verbs() {
		verbs[v.Name] = true
	}
	for old, cells := range table {
		assert.Regexp(t, `^(string|file|clock)\.\w+$`, old, "no object of the suite")
		assert.True(t, verbs[strings.Trim(cells[0], "`")], "%s is called %s", old, cells[0])
	}
}

// cell is a text as a cell of a table has it.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// TestSuiteExamples runs the examples of all scripts, each in a root of its own,
// while a request is answered. Those without an example say why they fail.
//
// Specification: 2.3.4, 2.3.9, 2.3.11, 2.3.12, 6.2.2, 6.2.4
func TestSuiteExamples(t *testing.T) {
	site := newSuiteSite(t)
	for _, o := range suiteObjects(t) {
		if o.gone {
			name, _, _ := strings.Cut(o.usage, " (")
			got := site.run(t, "return select (2, pcall ("+name+"))")
			assert.True(t, strings.HasPrefix(got, name+" is not there any more: "), "%s: %s", name, got)
			continue
		}
		assert.NotEmpty(t, o.examples, "%s has no example", o.usage)
		for _, e := range o.examples {
			assert.Equal(t, strings.TrimSuffix(e.want, "\n"), site.run(t, e.source), "%s:\n%s", o.usage, e.source)
		}
	}
}

// suiteSite is a root as init makes it, and a folder with one page.
type suiteSite struct {
	root   []byte
	folder string
}

func newSuiteSite(t *testing.T) suiteSite {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scripter.root")
	db, err := sqlitestore.Create(file, objectdb.Options{Relaxed: true, LockTime: -1}) // a busy machine takes its time
	require.NoError(t, err)
	require.NoError(t, db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	}))
	require.NoError(t, db.Close())
	s := suiteSite{folder: t.TempDir()}
	s.root, err = os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "hello.mcro"), []byte("Hello from <!--#scriptName-->"), 0o644))
	return s
}

// run answers a request by the script and gives the text of the response.
func (s suiteSite) run(t *testing.T, source string) string {
	t.Helper()
	if strings.Count(source, "\n") == 1 {
		source = "return " + source
	}
	script := "local params = ...\nlocal function example ()\n" + source + "end\n"
	if strings.Contains(source, "sendPartial") {
		script += "return example ()"
	} else {
		script += `return {headers = {["Content-Type"] = "text/plain"}, body = tostring ((example ()))}`
	}
	file := filepath.Join(t.TempDir(), "scripter.root")
	require.NoError(t, os.WriteFile(file, s.root, 0o644))
	db, err := sqlitestore.Open(file, objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "example"}, objectdb.Script(script))
	}))
	var answer bytes.Buffer
	outcome := gateway.New(gateway.Options{DB: db}).Answer(context.Background(), &gateway.Request{Form: gateway.NPH, Params: map[string]string{
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/example.fcgi", "REQUEST_URI": "/example.fcgi", "SERVER_SOFTWARE": "Apache/2.4.62 (Debian)",
		"SERVER_NAME": "localhost", "SERVER_PORT": "80", "HTTP_HOST": "localhost", "DOCUMENT_ROOT": s.folder, "REMOTE_ADDR": "192.0.2.1",
	}}, &answer)
	resp, err := httpheader.Parse(answer.String())
	require.NoError(t, err)
	if outcome.Err != nil {
		return fmt.Sprintf("%d: %s", resp.Status, gateway.Describe(outcome.Err))
	}
	return resp.Body
}

// TestSuiteUnknownTables: no folder of the suite is left out.
func TestSuiteUnknownTables(t *testing.T) {
	for _, top := range []string{"suites/webserver", "apps"} {
		require.NoError(t, fs.WalkDir(root.FS, top, func(name string, d fs.DirEntry, err error) error {
			if path.Ext(name) == ".lua" && !strings.HasPrefix(name, "suites/webserver/data/") {
				assert.True(t, slices.Contains(suiteFolders, path.Dir(name)), name)
			}
			return err
		}))
	}
}
