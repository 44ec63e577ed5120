package admin

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// TestSettingGroups checks that the page has each setting once, and those of the specification first.
func TestSettingGroups(t *testing.T) {
	var all []*site.Setting
	for _, g := range settingGroups() {
		all = append(all, g.settings...)
	}
	assert.ElementsMatch(t, site.Settings, all)
	assert.Equal(t, site.Settings[:9], all[:9])
}

// setting returns a setting of the JSON form.
func (b *browser) setting(name string) map[string]any {
	for _, g := range b.json("settings")["groups"].([]any) {
		for _, s := range g.(map[string]any)["settings"].([]any) {
			if m := s.(map[string]any); m["name"] == name {
				return m
			}
		}
	}
	return nil
}

func TestSettingsPage(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.webserver.chunkSize", objectdb.Number(-3))
	s.put("user.webserver.maxTime", objectdb.Number(30))
	a := ada.get("settings")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "The root has another value, which is not valid: -3 is not between 0 and 1048576.")
	for _, set := range site.Settings {
		assert.Contains(t, a.text(), set.Title)
		assert.Contains(t, a.text(), set.Meaning)
	}
	assert.Equal(t, map[string]any{
		"name": "maxTime", "title": "Longest run", "meaning": site.MaxTime.Meaning, "address": "user.webserver.maxTime",
		"kind": "number", "unit": "seconds", "value": 30.0, "default": 10.0, "from": "root",
	}, ada.setting("maxTime"))
	assert.Equal(t, "refused", ada.setting("chunkSize")["from"])
	assert.Equal(t, []any{"500", "200"}, ada.setting("errorStatus")["choices"])

	// As of then.
	before := ada.lastChange()
	s.put("user.webserver.maxTime", objectdb.Number(40))
	a = ada.get("settings?at=" + formatInt(before))
	assert.Contains(t, a.text(), "30 seconds")
	for _, form := range a.find("form", "id") {
		assert.Fail(t, "the past has a form", attributeOf(form, "id"))
	}
}

func TestSaveSettings(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	a := ada.post("settings", "do", "save", "set", "chunkSize", "chunkSize", "48", "was.chunkSize", "24",
		"set", "flDebug", "flDebug", "true", "was.flDebug", "false", "set", "maxTime", "maxTime", "10", "was.maxTime", "10")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.Number(48), s.get("user.webserver.chunkSize"))
	assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDebug"))
	assert.NotContains(t, ada.json("history")["changes"].([]any)[0].(map[string]any)["summary"], "maxTime",
		"it was not changed")
	page := ada.get(strings.Split(a.header.Get("Location"), "#")[0])
	assert.Contains(t, page.text(), "Saved. Undo Change")
	assert.Contains(t, page.text(), "debugging switches itself off after 30 minutes")

	// An empty box is not sent by browsers.
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "save", "set", "flDebug", "was.flDebug",
		"true").status)
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDebug"))

	// All or nothing.
	a = ada.post("settings", "do", "save", "set", "chunkSize", "chunkSize", "64", "was.chunkSize", "48",
		"set", "saveInterval", "saveInterval", "1.5", "was.saveInterval", "10")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.text(), "Set Save Interval: 1.5 is not a whole number")
	assert.Equal(t, objectdb.Number(48), s.get("user.webserver.chunkSize"))
	typed := ""
	for _, n := range a.find("input", "name") {
		if attributeOf(n, "name") == "chunkSize" {
			typed = attributeOf(n, "value")
		}
	}
	assert.Equal(t, "64", typed, "what was typed is still there")

	// One alone.
	a = ada.post("settings", "only", "chunkSize", "do", "save", "set", "chunkSize", "set", "saveInterval", "chunkSize",
		"64",
		"was.chunkSize", "48", "saveInterval", "1.5", "was.saveInterval", "10")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, objectdb.Number(64), s.get("user.webserver.chunkSize"))

	// Somebody else was faster.
	a = ada.post("settings", "do", "save", "set", "chunkSize", "chunkSize", "32", "was.chunkSize", "48")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.text(), "It was changed meanwhile, to 64.")
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "save", "set", "chunkSize", "chunkSize", "48",
		"was.chunkSize", "48").status)
	assert.Equal(t, objectdb.Number(64), s.get("user.webserver.chunkSize"), "not changed by this person")

	a = ada.post("settings", "do", "default", "set", "chunkSize")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, objectdb.Number(24), s.get("user.webserver.chunkSize"))
	s.update(func(tx *objectdb.Tx) error {
		if err := tx.Delete(site.ServerName.Address()); err != nil {
			return err
		}
		return tx.NewTable(site.ServerName.Address())
	})
	assert.Equal(t, "refused", ada.setting("serverName")["from"])
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "default", "set", "serverName").status)
	assert.Equal(t, objectdb.String(""), s.get("user.webserver.serverName"))

	a = ada.post("settings", "do", "save", "set", "cacheServers", "cacheServers", "http://a:1\r\n\r\n http://b:2 \r\n",
		"was.cacheServers", "")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.List{objectdb.String("http://a:1"), objectdb.String("http://b:2")},
		s.get("user.webserver.cacheServers"))
	assert.Contains(t, ada.get("settings").text(), "http://a:1, which scripter.conf does not list")

	a = ada.post("settings.json", "do", "save", "set", "flDebugSecrets", "flDebugSecrets", "true")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.json()["warnings"].(map[string]any)["flDebugSecrets"].([]any)[0], "passwords, cookies and tokens")
	assert.Positive(t, a.json()["change"])
}

func TestSettingsRefused(t *testing.T) {
	s := newSite(t)
	ada, rita, bob := s.person("ada", "owner"), s.person("rita", "reader"), s.person("bob", "author user.webserver")
	before := ada.lastChange()
	for why, fields := range map[string][]string{
		"a text for a number": {"set", "chunkSize", "chunkSize", "many"},
		"not finite":          {"set", "chunkSize", "chunkSize", "NaN"},
		"no flag":             {"set", "flDebug", "flDebug", "maybe"},
		"no choice":           {"set", "errorStatus", "errorStatus", "404"},
		"too long":            {"set", "serverName", "serverName", strings.Repeat("x", longestSetting+1)},
		"control characters":  {"set", "serverName", "serverName", "a\x00b"},
		"a relative path":     {"set", "serverPath", "serverPath", "sbin/httpd"},
		"a path of nothing":   {"set", "websiteFolderPath", "websiteFolderPath", "/no/such/folder"},
		"no server":           {"set", "cacheServers", "cacheServers", "not a server"},
		"no folder":           {"set", "cacheFolders", "cacheFolders", "relative"},
		"no name":             {"set", "serverId", "serverId", ""},
		"no path of URLs":     {"set", "adminPath", "adminPath", "scripter", "confirm", "yes"},
		"no setting":          {"set", "nothing", "nothing", "1"},
		"nothing at all":      nil,
	} {
		a := ada.post("settings", append([]string{"do", "save"}, fields...)...)
		assert.Equal(t, http.StatusBadRequest, a.status, why)
		a = ada.post("settings.json", append([]string{"do", "save"}, fields...)...)
		assert.Equal(t, http.StatusBadRequest, a.status, why)
		assert.NotEmpty(t, a.json()["error"], why)
		assert.Equal(t, before, ada.lastChange(), why)
	}
	assert.Equal(t, http.StatusBadRequest, ada.post("settings", "do", "explode", "set", "chunkSize").status)
	for _, b := range []*browser{rita, bob} {
		a := b.get("settings")
		assert.Equal(t, http.StatusOK, a.status)
		assert.Empty(t, a.find("input", "id"), "no fields")
		assert.Equal(t, http.StatusForbidden, b.post("settings", "do", "save", "set", "chunkSize", "chunkSize", "48").status)
		assert.Equal(t, http.StatusForbidden, b.post("settings", "do", "default", "set", "chunkSize").status)
		assert.Equal(t, http.StatusForbidden, b.post("settings/limits", "do", "set", "address", "user", "limit", "maxTime",
			"value", "3").status)
	}
	assert.Equal(t, before, ada.lastChange())
}

func TestSecretSetting(t *testing.T) {
	s := newSite(t)
	ada, rita := s.person("ada", "owner"), s.person("rita", "reader")
	const token = "swordfish-0123456789"
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "save", "set", "debugToken", "debugToken",
		token).status)
	require.Equal(t, objectdb.String(token), s.get("user.webserver.debugToken"))
	for _, b := range []*browser{ada, rita} {
		for _, path := range []string{"settings", "settings.json", "settings?make=debugToken", "history"} {
			lacks(t, b.get(path).body, token)
		}
	}
	assert.NotContains(t, ada.setting("debugToken"), "value")
	assert.Equal(t, "root", ada.setting("debugToken")["from"])

	// An empty field keeps it.
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "save", "set", "debugToken", "debugToken", "",
		"set", "slowLog", "slowLog", "5").status)
	assert.Equal(t, objectdb.String(token), s.get("user.webserver.debugToken"))
	// With a mistake elsewhere, what was typed is not sent back.
	a := ada.post("settings", "do", "save", "set", "debugToken", "debugToken", "another-0123456789", "set", "slowLog",
		"slowLog", "x")
	assert.Equal(t, http.StatusBadRequest, a.status)
	lacks(t, a.body, "another-0123456789")

	made := func() string {
		for _, n := range ada.get("settings?make=debugToken").find("input", "name") {
			if attributeOf(n, "name") == "debugToken" {
				return attributeOf(n, "value")
			}
		}
		return ""
	}
	assert.Regexp(t, `^[\w-]{32}$`, made())
	assert.NotEqual(t, made(), made())
	assert.Equal(t, objectdb.String(token), s.get("user.webserver.debugToken"), "only offered")
	lacks(t, ada.get("settings.json?make=debugToken").body, `"Text"`)
}

// TestLockOut checks that nobody moves or closes the web page by accident.
func TestLockOut(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	save := func(path string, more ...string) *answer {
		return ada.post("settings", append([]string{"do", "save", "set", "adminPath", "adminPath", path, "was.adminPath",
			"/scripter/"}, more...)...)
	}
	a := save("/elsewhere/")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "would be at /elsewhere/ from then on")
	assert.Equal(t, objectdb.String("/scripter/"), s.get("user.webserver.adminPath"), "only asked")
	a = save("")
	assert.Contains(t, a.text(), "This page at /scripter/ would be gone")
	assert.Equal(t, objectdb.String("/scripter/"), s.get("user.webserver.adminPath"), "only asked")
	a = ada.post("settings.json", "do", "save", "set", "adminPath", "adminPath", "")
	assert.Equal(t, http.StatusConflict, a.status)
	assert.NotEmpty(t, a.json()["confirm"])

	// The page with the question has the form.
	a = save("/elsewhere/")
	fields := []string{}
	for _, n := range a.find("input", "name") {
		if name := attributeOf(n, "name"); name != "csrf" {
			fields = append(fields, name, attributeOf(n, "value"))
		}
	}
	assert.True(t, slices.Contains(fields, "confirm"))
	a = ada.post("settings", fields...)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Contains(t, a.header.Get("Location"), "/elsewhere/settings?")
	assert.Equal(t, http.StatusNotFound, ada.get("settings").status)
	assert.Equal(t, http.StatusOK, ada.get("/elsewhere/settings.json").status, "still logged in")
	a = ada.post("/elsewhere/settings", "do", "default", "set", "adminPath", "confirm", "yes")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, http.StatusOK, ada.get("settings").status)
	a = save("", "confirm", "yes")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/", a.header.Get("Location"))
	assert.Equal(t, http.StatusNotFound, ada.get("").status)
}

func TestSettingsAreEscaped(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	require.Equal(t, http.StatusSeeOther, ada.post("settings", "do", "save", "set", "serverName", "serverName",
		hostile).status)
	s.put("user.webserver.chunkSize", objectdb.String(hostile))
	s.put("user.webserver.adminPath", objectdb.String("/scripter/"))
	s.update(func(tx *objectdb.Tx) error {
		for _, a := range []objectdb.Address{
			site.LimitRows.Child(hostile).Child("maxTime"), site.LimitRows.Child("user").Child(hostile),
			site.RequireRows.Child(hostile), {"user", "webserver", "actionTable", hostile},
			site.Overrides.Child(hostile).Child("/" + hostile),
			{"user", "webserver", "mimeTable", hostile, "type"}, site.DirectoryIndex.Child(hostile).Child(hostile),
		} {
			if err := tx.Put(a, objectdb.String(hostile)); err != nil {
				return err
			}
		}
		return nil
	})
	pages := []string{"settings", "settings?group=" + hostile, "settings?make=" + hostile}
	for _, table := range ruleTables() {
		pages = append(pages, "settings/"+table.page)
	}
	for _, p := range pages {
		a := ada.get(strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", `"`, "%22", "&", "%26").Replace(p))
		assert.Equal(t, http.StatusOK, a.status, p)
		lacks(t, a.body, "<script>alert")
	}
	lacks(t, ada.post("settings", "do", "save", "set", hostile).body, "<script>alert")
	lacks(t, ada.post("settings", "do", "save", "set", "chunkSize", "chunkSize", hostile).body, "<script>alert")
	lacks(t, ada.post("settings", "do", "save", "set", "adminPath", "adminPath", "/x/", "set", "serverName",
		"serverName", hostile).body, "<script>alert")
}
