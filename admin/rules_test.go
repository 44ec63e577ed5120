package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// rows returns the rows of a table's JSON form.
func (b *browser) rows(page string) (list []map[string]any) {
	for _, r := range b.json("settings/" + page)["rows"].([]any) {
		list = append(list, r.(map[string]any))
	}
	return list
}

// TestRules adds, changes and removes a row of each table.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		page             string
		add, keys        []string // fields of the form, and the keys of the row
		change, newKeys  []string
		address, removed string // of the value, before and after the change
		want, changed    objectdb.Value
	}{
		{
			"limits", []string{"address", "suites.webserverScripts", "limit", "maxTime", "value", "30"},
			[]string{"suites.webserverScripts", "maxTime"},
			[]string{"address", "suites.webserverScripts", "limit", "maxMemory", "value", "32"},
			[]string{"suites.webserverScripts", "maxMemory"},
			`user.webserver.limits.["suites.webserverScripts"].maxTime`,
			`user.webserver.limits.["suites.webserverScripts"].maxMemory`,
			objectdb.Number(30), objectdb.Number(32),
		}, {
			"actions", []string{"name", "SHOUT", "handler", "/cgi-bin/Scripter.acgi"}, []string{"SHOUT"},
			[]string{"name", "SHOUT", "handler", "/cgi-bin/nph-Scripter.acgi"}, []string{"SHOUT"},
			`user.webserver.actionTable.SHOUT`, `user.webserver.actionTable.SHOUT`,
			objectdb.String("/cgi-bin/Scripter.acgi"), objectdb.String("/cgi-bin/nph-Scripter.acgi"),
		}, {
			"types", []string{"extension", ".lp", "type", "text/html", "action", "MACRO"}, []string{".lp"},
			[]string{"extension", ".lp", "type", "text/plain", "action", ""}, []string{".lp"},
			`user.webserver.mimeTable.[".lp"].action`, `user.webserver.mimeTable.[".lp"].type`,
			objectdb.String("MACRO"), objectdb.String("text/plain"),
		}, {
			"overrides", []string{"host", "*", "prefix", "/pages/", "action", "macro"}, []string{"*", "/pages/"},
			[]string{"host", "example.org", "prefix", "/pages/", "action", "MACRO"}, []string{"example.org", "/pages/"},
			`user.webserver.overrides.["*"].["/pages/"]`, `user.webserver.overrides.["example.org"].["/pages/"]`,
			objectdb.String("MACRO"), objectdb.String("MACRO"),
		}, {
			"index", []string{"host", "*", "prefix", "/sub/", "files", "a.html  b.mcro"}, []string{"*", "/sub/"},
			[]string{"host", "*", "prefix", "/sub/", "files", "b.mcro"}, []string{"*", "/sub/"},
			`user.webserver.directoryIndex.["*"].["/sub/"]`, `user.webserver.directoryIndex.["*"].["/sub/"]`,
			objectdb.String("a.html b.mcro"), objectdb.String("b.mcro"),
		}, {
			"routes", []string{"host", "*", "name", "item", "route", "get  /items/{id}", "target", "shop.item"},
			[]string{"*", "item"},
			[]string{"host", "example.org", "name", "item", "route", "* /items/{id}", "target", "/item.mcro"},
			[]string{"example.org", "item"},
			`user.webserver.routes.["*"].item`, `user.webserver.routes.["example.org"].item`,
			objectdb.String("GET /items/{id} shop.item"), objectdb.String("* /items/{id} /item.mcro"),
		}, {
			"requires", []string{"address", "suites . webserverScripts", "requires", "user ada"},
			[]string{"suites.webserverScripts"},
			[]string{"address", "suites.webserverScripts", "requires", "anyone"}, []string{"suites.webserverScripts"},
			`user.webserver.requires.["suites.webserverScripts"]`, `user.webserver.requires.["suites.webserverScripts"]`,
			objectdb.String("user ada"), objectdb.String("anyone"),
		}, {
			"history", []string{"address", "suites", "keep", "Thinned  LARGE"}, []string{"suites"},
			[]string{"address", "suites", "keep", "nothing"}, []string{"suites"},
			`user.webserver.history.suites`, `user.webserver.history.suites`,
			objectdb.String("thinned large"), objectdb.String("nothing"),
		},
	} {
		t.Run(test.page, func(t *testing.T) {
			s := newSite(t)
			ada := s.person("ada", "owner")
			page := "settings/" + test.page
			before := len(ada.rows(test.page))
			if test.page == "requires" {
				test.add[1] = "suites.webserverScripts"
			}
			a := ada.post(page, append([]string{"do", "set"}, test.add...)...)
			require.Equal(t, http.StatusSeeOther, a.status, a.body)
			assert.Equal(t, test.want, s.get(test.address))
			assert.Contains(t, ada.get(a.header.Get("Location")).text(), "Saved. Undo Change")
			assert.Len(t, ada.rows(test.page), before+1)

			a = ada.post(page, append([]string{"do", "set"}, test.add...)...)
			assert.Equal(t, http.StatusBadRequest, a.status, "it is there already")
			assert.Contains(t, a.text(), "there is a row")

			edit := ada.get(page + "?" + url.Values{"row": test.keys}.Encode())
			for i := 0; i < len(test.add); i += 2 {
				if test.page != "overrides" && test.page != "index" {
					assert.Contains(t, edit.body, `value="`+test.add[i+1]+`"`, "the form has the row")
					break
				}
			}
			assert.Contains(t, edit.text(), "Change "+strings.Join(test.keys, " "))
			fields := append([]string{"do", "set"}, test.change...)
			for _, k := range test.keys {
				fields = append(fields, "was", k)
			}
			a = ada.post(page, fields...)
			require.Equal(t, http.StatusSeeOther, a.status, a.body)
			assert.Equal(t, test.changed, s.get(test.removed))
			assert.Len(t, ada.rows(test.page), before+1, "changed, not added")

			fields = []string{"do", "remove"}
			for _, k := range test.newKeys {
				fields = append(fields, "was", k)
			}
			a = ada.post(page, fields...)
			require.Equal(t, http.StatusSeeOther, a.status, a.body)
			assert.Nil(t, s.get(test.removed))
			assert.Len(t, ada.rows(test.page), before)
			assert.Equal(t, http.StatusNotFound, ada.post(page, fields...).status, "removed already")
		})
	}
}

func TestRulesRefused(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	for page, rows := range map[string][][]string{
		"limits": {
			{"address", "user..x", "limit", "maxTime", "value", "3"}, {"address", "user", "limit", "chunkSize", "value", "3"},
			{"address", "user", "limit", "maxTime", "value", "long"}, {"address", "user", "limit", "maxTime", "value", "-1"},
			{"address", strings.Repeat("x.", 200) + "x", "limit", "maxTime", "value", "3"},
		},
		"actions": {{"name", "a b", "handler", "/x"}, {"name", "A", "handler", "x"}, {"name", "A", "handler", "/../x"}, {}},
		"types": {{"extension", "lp", "type", "text/html"}, {"extension", ".lp", "type", "text"}, {"extension", ".lp",
			"type", "text/html", "action", "NONE"}},
		"overrides": {{"host", "a b", "prefix", "/", "action", "MACRO"}, {"host", "*", "prefix", "x", "action", "MACRO"},
			{"host", "*", "prefix", "/", "action", ""}},
		"index": {{"host", "*", "prefix", "/", "files", "../x"}, {"host", "*", "prefix", "/", "files",
			strings.Repeat("x", longestCell+1)}},
		"routes": {{"host", "*", "name", "a", "route", "GET items", "target", "x"},
			{"host", "*", "name", "a", "route", "GET /x.fcgi", "target", "x"}, {"host", "*", "name", "a", "route", "GET /x"},
			{"host", "*", "name", "a b", "route", "GET /x", "target", "x"}, {"host", "", "name", "a", "route", "GET /x", "target",
				"x"}, {"host", "*", "name", "a", "route", "GET /x", "target", "/x.html"}},
		"requires": {{"address", "suites.webserverScripts", "requires", "nobody"}, {"address", "user.notes", "requires",
			"user"}},
		"history": {{"address", "user..x", "keep", "nothing"}, {"address", "user", "keep", "forever"}, {"address", "user",
			"keep", "nothing large"}, {"address", "user"}},
	} {
		before := ada.lastChange()
		for _, row := range rows {
			a := ada.post("settings/"+page, append([]string{"do", "set"}, row...)...)
			assert.Equal(t, http.StatusBadRequest, a.status, "%s %v", page, row)
			assert.Contains(t, a.text(), "Nothing was saved", "%s %v", page, row)
			assert.Equal(t, http.StatusBadRequest, ada.post("settings/"+page+".json", append([]string{"do", "set"},
				row...)...).status)
		}
		assert.Equal(t, http.StatusBadRequest, ada.post("settings/"+page, "do", "remove").status)
		assert.Equal(t, http.StatusBadRequest, ada.post("settings/"+page, "do", "explode").status)
		assert.Equal(t, before, ada.lastChange(), page)
	}
	assert.Equal(t, http.StatusNotFound, ada.get("settings/nothing").status)
	assert.Equal(t, http.StatusNotFound, ada.post("settings/nothing", "do", "set").status)

	// What somebody else has changed or removed meanwhile.
	require.Equal(t, http.StatusSeeOther, ada.post("settings/actions", "do", "set", "name", "X", "handler", "/b").status)
	set := []string{"do", "set", "name", "X", "handler", "/c", "was", "X", "before", "X", "before"}
	changed := ada.post("settings/actions", append(set, "/a", "before", "")...)
	assert.Equal(t, http.StatusBadRequest, changed.status)
	assert.Contains(t, changed.text(), "the row was changed meanwhile, to X /b")
	assert.Equal(t, objectdb.String("/b"), s.get("user.webserver.actionTable.X"))
	require.Equal(t, http.StatusSeeOther, ada.post("settings/actions", append(set, "/b", "before", "")...).status)
	assert.Equal(t, objectdb.String("/c"), s.get("user.webserver.actionTable.X"))
	a := ada.post("settings/actions", "do", "set", "name", "X", "handler", "/cgi-bin/Scripter.acgi", "was", "GONE")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.text(), "the row GONE is not there any more")
}

func TestRuleNotes(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	// Removing what is still needed is asked for, and what is missing then is told.
	a := ada.post("settings/actions", "do", "remove", "was", "SCRIPTER")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "the extension .fcgi is still bound to it")
	assert.NotNil(t, s.get("user.webserver.actionTable.SCRIPTER"), "only asked")
	require.Equal(t, http.StatusSeeOther, ada.post("settings/actions", "do", "remove", "was", "SCRIPTER", "confirm",
		"yes").status)
	assert.Contains(t, ada.get("settings/types").text(), `"SCRIPTER" is no action`)

	s.put(`user.webserver.limits.["user.nothing"].maxTime`, objectdb.Number(3))
	s.put(`user.webserver.limits.["no address!"].x`, objectdb.String("3"))
	s.put(`user.webserver.requires.["suites.webserverScripts"]`, objectdb.String("nonsense"))
	assert.Contains(t, ada.get("settings/limits").text(), "there is no user.nothing")
	assert.Contains(t, ada.get("settings/requires").text(), "admits nobody: it begins with")
	s.put(`user.webserver.routes.["*"].a`, objectdb.String("GET /a nothing"))
	s.put(`user.webserver.routes.["*"].b`, objectdb.String("nonsense"))
	assert.Contains(t, ada.get("settings/routes").text(), "there is no suites.webserverScripts.nothing")
	assert.Contains(t, ada.get("settings/routes").text(), "it has no pattern that begins with /")
	s.put(`user.webserver.history.["user.nothing"]`, objectdb.String("nothing"))
	s.put(`user.webserver.history.scratchpad`, objectdb.String("forever"))
	assert.Contains(t, ada.get("settings/history").text(), "there is no user.nothing")
	assert.Contains(t, ada.get("settings/history").text(), `it begins with "forever"`)
	for _, r := range ada.rows("limits") {
		require.Equal(t, http.StatusSeeOther, ada.post("settings/limits", "do", "remove", "was", r["address"].(string),
			"was", r["limit"].(string)).status)
	}
	assert.Empty(t, ada.rows("limits"), "what means nothing can be removed too")
}

// TestHistoryRules checks that a supplied rule is shown although it has no row, and can be replaced by one.
func TestHistoryRules(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	rule := func() map[string]any {
		for _, r := range ada.rows("history") {
			if r["address"] == "system.temp" {
				return r
			}
		}
		return nil
	}
	for _, r := range ada.rows("history") {
		if r["supplied"] == nil {
			a := ada.post("settings/history", "do", "remove", "was", r["address"].(string))
			require.Equal(t, http.StatusSeeOther, a.status, a.body)
		}
	}
	supplied := map[string]any{"address": "system.temp", "keep": "nothing", "supplied": true}
	assert.Equal(t, supplied, rule())
	set := []string{"do", "set", "address", "system.temp", "keep", "thinned"}
	require.Equal(t, http.StatusSeeOther, ada.post("settings/history", set...).status)
	assert.Equal(t, map[string]any{"address": "system.temp", "keep": "thinned"}, rule())
	require.Equal(t, http.StatusSeeOther, ada.post("settings/history", "do", "remove", "was", "system.temp").status)
	assert.Equal(t, supplied, rule())
	assert.Equal(t, http.StatusNotFound, ada.post("settings/history", "do", "remove", "was", "system.temp").status)
}
