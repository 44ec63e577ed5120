package gateway

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestCharset checks that a text in UTF-8 gets the charset, unless its script has
// made the header.
func TestCharset(t *testing.T) {
	s := newSite(t)
	s.put("suites.webserverScripts.plain", objectdb.Text("Grüße"))
	s.put("suites.webserverScripts.page", objectdb.Text("<html>Grüße</html>"))
	s.put("suites.webserverScripts.style", objectdb.Binary{Type: "text/css", Data: "/* Grüße */"})
	s.put("suites.webserverScripts.styleLatin", objectdb.Binary{Type: "text/css", Data: "/* Gr\xfc\xdfe */"})
	s.put("suites.webserverScripts.data", objectdb.Binary{Type: "application/json", Data: `"Grüße"`})
	s.put("suites.webserverScripts.picture", objectdb.Binary{Type: "image/svg+xml", Data: `<svg/>`})
	s.page("page.mcro", "<html>Grüße</html>")
	s.page("latin.mcro", "<html>Gr\xfc\xdfe</html>")
	s.page("empty.mcro", "")
	for name, source := range map[string]string{
		"text": `return "<h1>Hällo</h1>"`, "ascii": `return "Hello"`, "latin": `return "H\228llo"`,
		"written":      `write ("Hä") write ("llo") return ""`,
		"header":       `return webserver.httpheader () .. "Hällo"`,
		"typed":        `return webserver.httpheader ("200 OK", "text/plain") .. "Hällo"`,
		"table":        `return {body = "Hällo"}`,
		"tableTyped":   `return {headers = {["Content-Type"] = "Text/Plain;"}, body = "Hällo"}`,
		"tableCharset": `return {headers = {["Content-Type"] = "text/html;charset=iso-8859-1"}, body = "Hello"}`,
		"tableJSON":    `return {headers = {["Content-Type"] = "application/json"}, body = '"Hällo"'}`,
		"tableScript":  `return {headers = {["Content-Type"] = "application/javascript"}, body = '"Hällo"'}`,
		"tableXHTML":   `return {headers = {["Content-Type"] = "application/xhtml+xml"}, body = "<html/>"}`,
		"tableBroken":  `return {headers = {["Content-Type"] = "text/html; x"}, body = "Hällo"}`,
		"noType":       `return "HTTP/1.0 200 OK\r\n\r\nHällo"`,
		"built":        `return webserver.util.buildResponse (200, {}, "Hällo")`,
		"meta":         `return '<html><head><META  CHARSET = "ISO-8859-1"></head>Hello'`,
		"metaHTTP":     `return '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">'`,
		"metaOther":    `return '<meta name="description" content="charset=latin1">Hällo'`,
		"metaUTF8":     `return '<meta charset=UTF-8>Hällo'`,
		"metaLate":     `return ("x"):rep (2000) .. '<meta charset="ISO-8859-1">'`,
		"mention":      `return 'the word charset=latin1 in a text'`,
		"xml":          `return '<?xml version="1.0" encoding="ISO-8859-1"?><html>'`,
		"streamed":     `webserver.sendPartial ("Gr\195") webserver.sendPartial ("\188\195\159e") return ""`,
		"streamedHead": `webserver.sendPartial (webserver.httpheader () .. "Grüße") return ""`,
		"streamedOld":  `webserver.sendPartial ("Gr\252\223e") return ""`,
		"long":         `write (("x"):rep (262143)) write ("ü", ("y"):rep (1000)) return ""`,
		"longOld":      `write (("x"):rep (300000)) write ("\252") return ""`,
		"own":          `return webserver.errorMessage ("Hällo")`,
		"fails":        `error ("x")`,
	} {
		s.script(name, source)
	}
	kinds := map[string]string{
		"text": "text/html; charset=utf-8", "ascii": "text/html; charset=utf-8", "latin": "text/html",
		"written": "text/html; charset=utf-8",
		"header":  "text/html", "typed": "text/plain",
		"table": "text/html; charset=utf-8", "tableTyped": "Text/Plain; charset=utf-8",
		"tableCharset": "text/html;charset=iso-8859-1",
		"tableJSON":    "application/json", "tableScript": "application/javascript; charset=utf-8",
		"tableXHTML":  "application/xhtml+xml; charset=utf-8",
		"tableBroken": "text/html; x", "noType": "text/html; charset=utf-8", "built": "text/html; charset=utf-8",
		"meta": "text/html", "metaHTTP": "text/html", "metaUTF8": "text/html; charset=utf-8",
		"metaOther": "text/html; charset=utf-8", "metaLate": "text/html; charset=utf-8",
		"mention": "text/html; charset=utf-8", "xml": "text/html",
		"streamed": "text/html; charset=utf-8", "streamedHead": "text/html", "streamedOld": "text/html",
		"long": "text/html; charset=utf-8", "longOld": "text/html", "own": "text/html; charset=utf-8",
		"fails":   "text/html; charset=utf-8",
		"missing": "text/html; charset=utf-8",
		"plain":   "text/plain; charset=utf-8", "page": "text/html; charset=utf-8",
		"style": "text/css; charset=utf-8", "styleLatin": "text/css",
		"data": "application/json", "picture": "image/svg+xml",
	}
	pages := map[string]string{"page.mcro": "text/html; charset=utf-8",
		"latin.mcro": "text/html", "empty.mcro": "text/html"}
	check := func() {
		t.Helper()
		for name, want := range kinds {
			assert.Equal(t, want, s.ask("/"+name+".fcgi", nil).Get("Content-Type"), name)
		}
		for name, want := range pages {
			assert.Equal(t, want, s.ask("/"+name, nil).Get("Content-Type"), name)
		}
	}
	check()
	assert.Equal(t, "Grüße", s.ask("/streamed.fcgi", nil).Body)
	// The same if the supplied scripts run in Lua.
	s.put("suites.webserver.httpheader",
		objectdb.Script("local status, modifier = ...\nreturn system.verbs.builtins.webserver.httpHeader (status, modifier)"))
	s.put("system.verbs.traps.httpd.sdoc",
		objectdb.Script("local p = ...\nlocal page = webserver.handler (p)\nreturn page"))
	check()
	s.put("user.webserver.callbacks.filterPage.x", objectdb.Script("return nil"))
	for _, name := range []string{"text", "latin", "table", "page", "header"} {
		assert.Equal(t, kinds[name], s.ask("/"+name+".fcgi", nil).Get("Content-Type"), "filtered %s", name)
	}
	s.put("user.webserver.flAddCharset", objectdb.Boolean(false))
	for _, name := range []string{"text", "table", "page", "own", "fails", "missing"} {
		assert.Equal(t, "text/html", s.ask("/"+name+".fcgi", nil).Get("Content-Type"), "switched off: %s", name)
	}
	assert.Equal(t, "text/html", s.ask("/page.mcro", nil).Get("Content-Type"))
}

// TestMimeTableType checks that a response without a type of its own gets the type of its
// extension.
//
// Specification: 2.1.4
func TestMimeTableType(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.mimeTable.[\".mcro\"].type", objectdb.String("text/plain"))
	s.put("user.webserver.mimeTable.[\".fcgi\"].type", objectdb.String("text/xml"))
	s.page("page.mcro", "<html>Grüße</html>")
	s.script("text", `return "<x/>"`)
	s.script("header", `return webserver.httpheader () .. "<x/>"`)
	s.script("table", `return {body = "<x/>"}`)
	s.script("streamed", `webserver.sendPartial ("<x/>") return ""`)
	s.script("fails", `error ("x")`)
	s.put("suites.webserverScripts.feed", objectdb.Text("<rss/>"))
	check := func() {
		t.Helper()
		for path, want := range map[string]string{
			"/page.mcro": "text/plain; charset=utf-8", "/text.fcgi": "text/xml; charset=utf-8",
			"/table.fcgi":    "text/xml; charset=utf-8",
			"/streamed.fcgi": "text/xml; charset=utf-8", "/feed.fcgi": "text/xml; charset=utf-8", "/header.fcgi": "text/html",
			"/fails.fcgi": "text/html; charset=utf-8",
		} {
			assert.Equal(t, want, s.ask(path, nil).Get("Content-Type"), path)
		}
	}
	check()
	s.put("suites.webserver.httpheader",
		objectdb.Script("local status, modifier = ...\nreturn system.verbs.builtins.webserver.httpHeader (status, modifier)"))
	check()
}

// TestIsUTF8 cuts texts into two pieces at many places.
func TestIsUTF8(t *testing.T) {
	for _, text := range []string{"", "abc", "Grüße, 世界 🎉", "\xff", "abc\xc3", "\xe4\xb8", "🎉\xf0\x9f", "\x80",
		strings.Repeat("世", 50_000), strings.Repeat("世", 50_000) + "\xe4"} {
		for cut := 0; cut <= len(text); cut += max(1, len(text)/13) {
			got, err := isUTF8(text[:cut], bytes.NewReader([]byte(text[cut:])), false)
			require.NoError(t, err)
			assert.Equal(t, utf8.ValidString(text), got, "%.20q cut at %d", text, cut)
			if utf8.ValidString(text) {
				got, err := isUTF8(text[:cut], nil, true)
				assert.True(t, got && err == nil, "%.20q up to %d", text, cut)
			}
		}
	}
	for _, text := range []string{"\x80", "\xff", "ü\xbc", "\xc3a"} {
		got, _ := isUTF8(text, nil, true)
		assert.False(t, got, "%q", text)
	}
}

// FuzzCharset checks with any type and text that only valid UTF-8 gets a charset,
// and only once.
func FuzzCharset(f *testing.F) {
	f.Add("text/html", "<meta charset=latin1>Grüße", 3)
	f.Add("text/xml; x=\"", "<?xml version='1.0' encoding='x'?>\xff", 0)
	f.Add("TEXT/CSS ;", "@charset \"utf-8\";\xc3", 5)
	f.Fuzz(func(t *testing.T, kind, text string, cut int) {
		got, err := withCharset(kind, text, nil, false)
		require.NoError(t, err)
		if got != kind {
			require.True(t, utf8.ValidString(text))
			again, err := withCharset(got, text, nil, false)
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
		cut = max(0, min(cut, len(text)))
		whole, err := isUTF8(text[:cut], strings.NewReader(text[cut:]), false)
		require.NoError(t, err)
		require.Equal(t, utf8.ValidString(text), whole)
	})
}
