package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
)

// readOf returns the addresses in the field "read" of a JSON form, separated by blanks: of the site and, after "|",
// of supplied objects.
func readOf(t *testing.T, m map[string]any) string {
	t.Helper()
	read, ok := m["read"].(map[string]any)
	require.True(t, ok, m)
	var groups []string
	for _, name := range []string{"site", "supplied"} {
		var list []string
		for _, o := range read[name].([]any) {
			o := o.(map[string]any)
			a := o["address"].(string)
			if o["table"] == true {
				a += "[]"
			}
			list = append(list, a)
		}
		groups = append(groups, strings.Join(list, " "))
	}
	return strings.Join(groups, "|")
}

// links returns the targets of the links of a page.
func (a *answer) links() (list []string) {
	for _, n := range a.find("a", "href") {
		list = append(list, attributeOf(n, "href"))
	}
	return list
}

// TestRequestRead checks that the page of a request shows the objects that it has read, with links to those that
// still exist, and that nobody learns the names of objects that the role may not see.
func TestRequestRead(t *testing.T) {
	s := debuggingSite(t, `local n = 0
for name, v in pairs (own.rows) do n = n + v end
own.gone = nil
return n .. own.title .. own[ [[`+nasty+`]] ] .. user.webserver.serverName .. #user.webserver.users.default.eve`)
	ada, eve := s.person("ada", "owner"), s.person("eve", "reader")
	s.put("own.rows.one", objectdb.Number(1))
	s.put("own.title", objectdb.String("Title"))
	s.update(func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"own", nasty}, objectdb.String("!")) })
	require.Equal(t, 200, s.visit("GET", "/x.fcgi", "", nil).Status)

	own := objectdb.Address{"own", nasty}.String() + " own.rows[] own.rows.one own.title suites.webserverScripts.x"
	assert.Equal(t, own+"|user.webserver.serverName user.webserver.users.default.eve", readOf(t, ada.json("requests/1")))
	assert.Equal(t, own+"|user.webserver.serverName", readOf(t, eve.json("requests/1")))
	assert.EqualValues(t, 1, eve.json("requests/1")["read"].(map[string]any)["hidden"])

	page := eve.get("requests/1")
	require.Equal(t, 200, page.status)
	assert.Contains(t, page.text(), text("request.read"))
	assert.Contains(t, page.text(), text("reads.hidden", 1))
	assert.Contains(t, page.text(), "own.rows "+text("reads.table"))
	lacks(t, page.body, "default.eve")
	assert.Subset(t, page.links(), []string{
		"/scripter/at/own.title", "/scripter/at/suites.webserverScripts.x", "/scripter/at/user.webserver.serverName",
	})
	assert.Contains(t, ada.get("requests/1").links(), "/scripter/at/user.webserver.users.default.eve")

	s.update(func(tx *objectdb.Tx) error {
		for i := range 100 {
			if err := tx.Put(objectdb.Address{"own", "rows", fmt.Sprint(i)}, objectdb.Number(1)); err != nil {
				return err
			}
		}
		return nil
	})
	require.Equal(t, 200, s.visit("GET", "/x.fcgi", "", nil).Status)
	page = eve.get("requests/2")
	assert.EqualValues(t, 61, eve.json("requests/2")["read"].(map[string]any)["more"])
	assert.Contains(t, page.text(), text("reads.more", 61))
	assert.Contains(t, page.text(), text("reads.site")+" 44")

	s.update(func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"own", "title"}) })
	page = eve.get("requests/1")
	require.Equal(t, 200, page.status)
	assert.NotContains(t, page.links(), "/scripter/at/own.title", "it is not there any more")
	assert.Contains(t, page.text(), "own.title")
}

// TestRequestReadMasked checks that nobody learns the name of an object by a request with a secret that is
// the name of a table above it.
func TestRequestReadMasked(t *testing.T) {
	s := debuggingSite(t, `local p = ... return own.visits[p.searchTable.sid] .. #user.webserver.users.default.eve`)
	ada, eve := s.person("ada", "owner"), s.person("eve", "reader")
	s.put("own.visits.webserver", objectdb.Number(1))
	require.Equal(t, 200, s.visit("GET", "/x.fcgi?sid=WebServer", "", nil).Status)
	const own = `own.visits.["(masked)"] `
	const script = `suites.["(masked)"].x`
	assert.Equal(t, own+script+` user.["(masked)"].users.default.eve|`, readOf(t, ada.json("requests/1")))
	assert.Equal(t, strings.TrimSuffix(own, " ")+"|", readOf(t, eve.json("requests/1")))
	lacks(t, eve.get("requests/1").body, "default.eve")
}

// TestRequestReadOfOldRecords checks that the page says nothing if it is not known what a request has read, and
// that records that a script has made up do no harm.
func TestRequestReadOfOldRecords(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	s.person("ada", "owner")
	eve := s.person("eve", "reader")
	s.visit("GET", "/x.fcgi", "", nil)
	log := requestlog.Log.Child("000000001")
	require.Contains(t, eve.get("requests/1").text(), text("request.read"))
	s.put(log.Child("read").String(), objectdb.List{objectdb.String(nasty), objectdb.Number(1)})
	s.put(log.Child("readTables").String(), objectdb.String("x"))
	s.put(log.Child("readMore").String(), objectdb.Number(-1e300))
	assert.Equal(t, "|", readOf(t, eve.json("requests/1")))
	assert.Contains(t, eve.get("requests/1").text(), text("reads.nothing"))
	s.update(func(tx *objectdb.Tx) error { return tx.Delete(log.Child("read")) })
	assert.NotContains(t, eve.json("requests/1"), "read")
	assert.NotContains(t, eve.get("requests/1").text(), text("request.read"))
}

// TestRunRead checks that runs of scripts, of typed Lua and of requests say what they have read, also when they fail
// and when what they write is kept.
func TestRunRead(t *testing.T) {
	s := debuggingSite(t, `return "n is " .. own.n`)
	ada, bob := s.person("ada", "owner"), s.person("bob", "author own")
	s.put("own.n", objectdb.Number(1))
	s.put("own.count", objectdb.Script(`own.n = own.n + 1 return own.n`))
	s.put("own.fails", objectdb.Script(`error (own.n .. #user.webserver.users.default.ada)`))
	for _, keep := range []string{"", "yes"} {
		assert.Equal(t, "own.count own.n|", readOf(t, ranOf(t, ada, "run/own.count", "keep", keep)))
	}
	assert.Equal(t, "own.n|", readOf(t, ranOf(t, ada, "console", "lua", "return own.n")))
	m := ranOf(t, bob, "run/own.fails")
	assert.NotNil(t, m["failure"])
	assert.Equal(t, "own.fails own.n|", readOf(t, m))
	assert.EqualValues(t, 1, m["read"].(map[string]any)["hidden"])

	s.visit("GET", "/x.fcgi", "", nil)
	page := ada.post("requests/1", "do", "now")
	require.Equal(t, 200, page.status)
	assert.Contains(t, page.text(), text("ran.read"))
	assert.Equal(t, "own.n suites.webserverScripts.x|",
		readOf(t, ranOf(t, ada, "run/suites.webserverScripts.x", "as", "request", "url", "/x.fcgi", "method", "GET")))
	page = ada.post("run/own.count")
	assert.Contains(t, page.links(), "/scripter/at/own.n")
}
