package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestLintTyped checks that a script is checked while it is typed, and is not stored for that.
func TestLintTyped(t *testing.T) {
	e := newEditor(t)
	version := e.put("user.s", objectdb.Script("return 1"))
	typed := func(text string) []any {
		t.Helper()
		a := e.send(http.MethodPost, "lint/user.s", strings.NewReader(text),
			map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-CSRF-Token": e.csrf})
		require.Equal(t, 200, a.status, a.body)
		return a.json()["findings"].([]any)
	}
	assert.Empty(t, typed("return 1"))
	assert.Equal(t, map[string]any{"name": "user.s", "line": 2.0, "column": 8.0, "rule": "undefined", "level": "warning",
		"message": "undefined name: usr; did you mean user?"}, typed("-- ü\nreturn usr.name")[0])
	wrong := typed("local a = 'ü' return )")[0].(map[string]any)
	assert.Equal(t, []any{"syntax", "error", 1.0, 22.0}, []any{wrong["rule"], wrong["level"], wrong["line"], wrong["column"]})
	assert.Len(t, typed("return '"+strings.Repeat("x", 2<<20)+"'"), 1, "longer than a script may be")

	page := e.sendForm("lint/user.s", map[string]string{"value": "return usr\r\n-- <b>", "version": fmt.Sprint(version)})
	assert.Equal(t, 200, page.status)
	assert.Contains(t, page.body, "undefined name: usr; did you mean user?")
	assert.Contains(t, page.body, "return usr\n-- &lt;b&gt;</textarea>")
	page = e.sendForm("lint/user.s", map[string]string{"value": "return 2", "version": fmt.Sprint(version)})
	assert.Contains(t, page.body, "No mistakes were found.")
	assert.Equal(t, objectdb.Script("return 1"), e.value("user.s"))
	assert.Equal(t, 403, e.send(http.MethodPost, "lint/user.s", strings.NewReader("x"), map[string]string{"Content-Type": "text/plain"}).status)
}

// TestNames checks what the editor learns of names.
func TestNames(t *testing.T) {
	e := newEditor(t)
	e.put("user.greet", objectdb.Script("-- Says hello.\n-- To all.\nreturn 1"))
	e.put("user.apiToken", objectdb.String("hush"))
	e.put("user.note", objectdb.Text("<b>"+strings.Repeat("long ", 100)))
	e.put(`user.["odd name"]`, objectdb.Number(1))
	hover := func(name string) map[string]any {
		t.Helper()
		return e.json("hover?name=" + url.QueryEscape(name))
	}
	assert.Equal(t, map[string]any{"title": "user.greet", "address": "user.greet", "href": "/scripter/at/user.greet",
		"text": "script\nSays hello.\nTo all."}, hover("user.greet"))
	assert.Equal(t, "string, (masked)", hover("user.apiToken")["text"])
	assert.Equal(t, `/scripter/at?address=user.%5B%22odd+name%22%5D`, hover("user.odd name")["href"])
	assert.Less(t, len(hover("user.note")["text"].(string)), 150)
	assert.Equal(t, "table, 9 objects", hover("suites.webserver.Macros")["text"])
	assert.Equal(t, "suites.webserver.httpheader", hover("webserver.httpHeader")["address"], "found through system.paths")
	assert.Contains(t, hover("text.pad")["text"], "Fails for:")
	assert.NotContains(t, hover("text:pad"), "href")
	assert.Empty(t, hover("nothing.at.all"))
	assert.Empty(t, hover(""))

	complete := func(prefix string) (from float64, labels []string) {
		t.Helper()
		m := e.json("complete?prefix=" + url.QueryEscape(prefix))
		for _, o := range m["options"].([]any) {
			labels = append(labels, o.(map[string]any)["label"].(string))
		}
		return m["from"].(float64), labels
	}
	from, labels := complete("user.gr")
	assert.Equal(t, 5.0, from)
	assert.Equal(t, []string{"greet"}, labels)
	from, labels = complete("webserver:httpH")
	assert.Equal(t, 10.0, from)
	assert.Equal(t, []string{"httpheader", "httpHeader2"}, labels)
	_, labels = complete("searchT")
	assert.Equal(t, []string{"searchTable"}, labels)
	_, labels = complete("zz")
	assert.Empty(t, labels)
}

// TestPreview checks that a page is shown with its markers replaced, and can do no harm.
func TestPreview(t *testing.T) {
	e := newEditor(t)
	e.put("user.n", objectdb.Number(1))
	e.put("suites.webserver.macros.count", objectdb.Script("user.n = user.n + 1 return user.n"))
	version := e.put("user.page", objectdb.Text("<p>stored</p>"))
	a := e.sendForm("preview/user.page", map[string]string{
		"value": "<script>alert(1)</script><p style='color: red'><!--#count--></p><!--#none-->", "version": fmt.Sprint(version)})
	require.Equal(t, 200, a.status, a.body)
	assert.Contains(t, a.body, "<script>alert(1)</script><p style='color: red'>2</p>")
	assert.Contains(t, a.body, "[Macro error: user.page, line 1, column 65: ")
	policy := a.header.Get("Content-Security-Policy")
	assert.True(t, strings.HasPrefix(policy, "sandbox; default-src 'none'; "), policy)
	for _, allowed := range []string{"script-src", "allow-", "connect-src", "frame-src"} {
		assert.NotContains(t, policy, allowed)
	}
	assert.Equal(t, "DENY", a.header.Get("X-Frame-Options"))
	assert.Equal(t, objectdb.Number(1), e.value("user.n"))
	assert.Equal(t, objectdb.Text("<p>stored</p>"), e.value("user.page"))
}

// TestRights checks what people see and change who are no owners.
func TestRights(t *testing.T) {
	e := newEditor(t)
	e.put("user.note", objectdb.Text("public"))
	e.put("user.own.note", objectdb.Text("own"))
	e.put("user.own.password", objectdb.String("hush, a secret"))
	e.put("user.script", objectdb.Script("return 1"))
	e.put("user.secret", objectdb.Binary{Type: "text/plain", Data: "hush, a secret"})
	old := fmt.Sprint(e.put("user.own.oldPassword", objectdb.String("hush, a secret")))
	e.put("user.own.oldPassword", objectdb.Boolean(true))
	gone := fmt.Sprint(e.put("user.own.gonePassword", objectdb.String("hush, a secret")))
	e.s.update(func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "own", "gonePassword"}) })
	for _, role := range []string{"reader", "author user.own"} {
		t.Run(role, func(t *testing.T) {
			p := &editor{e.s.person("bob", role), t}
			save := func(address, version string) int {
				t.Helper()
				return p.sendForm("edit/"+address, map[string]string{"do": "save", "value": "changed", "version": version, "kind": "text"}).status
			}
			page := p.get("at/user.note")
			assert.Contains(t, page.body, "public")
			lacks(t, page.body, "edit/user.note")
			assert.Equal(t, 403, save("user.note", fmt.Sprint(p.version("user.note"))))
			assert.Equal(t, objectdb.Text("public"), p.value("user.note"))
			assert.Equal(t, 403, save("user.made", "0"))
			assert.Equal(t, 403, p.sendForm("preview/user.note", map[string]string{"value": "<!--#clock.now ()-->"}).status)
			assert.Equal(t, 403, p.sendForm("edit/user.note", map[string]string{
				"do": "kind", "kind": "string", "version": fmt.Sprint(p.version("user.note"))}).status)
			for _, path := range []string{"at/user.own.password", "at/user.own.password?show=1", "at/user.own.password.json?show=1",
				"raw/user.own.password?show=1", "raw/user.secret?show=1", "hover?name=user.own.password", "at/user.webserver.users?show=1"} {
				lacks(t, p.get(path).body, "hush")
			}
			for _, secret := range []string{"user.own.password", "user.webserver.roles.bob", "user.webserver.users.default.ada"} {
				assert.Equal(t, 403, p.get("raw?show=1&address="+secret).status, secret)
				assert.Equal(t, 403, save(secret, fmt.Sprint(p.version(secret))), secret)
				conflict := p.sendForm("edit/"+secret, map[string]string{"do": "save", "value": "x", "version": "1", "kind": "string"})
				assert.Equal(t, 403, conflict.status, secret)
				lacks(t, conflict.body, "hush")
			}
			for secret, version := range map[string]string{"user.own.oldPassword": old, "user.own.gonePassword": gone} {
				for _, kind := range []string{"script", "boolean", "string", ""} {
					conflict := p.sendForm("edit/"+secret, map[string]string{"do": "save", "value": "false", "version": version, "kind": kind})
					assert.Contains(t, []int{403, 404, 409}, conflict.status, "%s %s", secret, kind)
					lacks(t, conflict.body, "hush")
				}
			}
			assert.Equal(t, role == "author user.own", strings.Contains(p.get("at/user.own.note").body, "edit/user.own.note"))
			want := 303
			if role == "reader" {
				want = 403
			}
			assert.Equal(t, want, save("user.own.note", fmt.Sprint(p.version("user.own.note"))))
		})
	}
}

// TestMasked checks that a secret is shown to an owner who asks for it, and only then.
func TestMasked(t *testing.T) {
	e := newEditor(t)
	version := e.put("user.apiToken", objectdb.String("hush"))
	for _, path := range []string{"at/user.apiToken", "at/user.apiToken.json", "at/user", "hover?name=user.apiToken"} {
		a := e.get(path)
		assert.Equal(t, 200, a.status)
		lacks(t, a.body, "hush")
	}
	assert.Equal(t, 403, e.get("raw/user.apiToken").status)
	assert.NotContains(t, e.json("at/user.apiToken"), "value")
	assert.Equal(t, "hush", e.json("at/user.apiToken?show=1")["value"])
	assert.Equal(t, "hush", e.get("raw/user.apiToken?show=1").body)
	page := e.get("at/user.apiToken?show=1")
	assert.Contains(t, page.body, `value="hush"`)
	assert.Contains(t, page.body, `action="/scripter/edit/user.apiToken?show=1"`)
	a := e.sendForm("edit/user.apiToken?show=1", map[string]string{"do": "save", "value": "new", "version": fmt.Sprint(version)})
	assert.Equal(t, objectdb.String("new"), e.value("user.apiToken"))
	assert.Contains(t, a.header.Get("Location"), "/scripter/at/user.apiToken?show=1&said=saved")
}

// TestValueOfThen checks that what was can be read and not changed.
func TestValueOfThen(t *testing.T) {
	e := newEditor(t)
	then := e.put("user.note", objectdb.Text("as it was"))
	e.put("user.note", objectdb.Text("now"))
	at := fmt.Sprintf("?at=%d", then)
	page := e.get("at/user.note" + at)
	assert.Contains(t, page.body, "as it was</textarea>")
	assert.Contains(t, page.body, "readonly")
	lacks(t, page.body, "/scripter/edit/")
	assert.Equal(t, "as it was", e.get("raw/user.note"+at).body)
	assert.Equal(t, "as it was", e.json("at/user.note" + at)["value"])
	fields := map[string]string{"do": "save", "value": "x", "version": fmt.Sprint(then)}
	status, m := e.sendJSON("edit/user.note"+at, fields)
	assert.Equal(t, 409, status)
	assert.Contains(t, m["error"], "the past")
	fields["do"], fields["kind"] = "kind", "string"
	status, _ = e.sendJSON("edit/user.note"+at, fields)
	assert.Equal(t, 409, status)
	assert.Equal(t, objectdb.Text("now"), e.value("user.note"))
}

// TestKinds checks which kinds a value can have without a loss, and that it can be brought back.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		value objectdb.Value
		want  string
	}{
		{objectdb.String("hello"), "script text outline binary address"},
		{objectdb.String("a b"), "script text outline binary"},
		{objectdb.String("12.5"), "script text number outline binary address"},
		{objectdb.String("12.50"), "script text outline binary address"},
		{objectdb.Text("true"), "script string boolean outline binary address"},
		{objectdb.String("2026-01-31T18:30:00Z"), "script text date outline binary"},
		{objectdb.String("2026-01-31T19:30:00+01:00"), "script text outline binary"},
		{objectdb.Text("[1, {\"a\": null}]"), "script string list outline binary"},
		{objectdb.Text("[1, 1.0]"), "script string outline binary"},
		{objectdb.Text("[{\"a\": 1, \"a\": 2}]"), "script string outline binary"},
		{objectdb.String("\xff"), "script text outline"},
		{objectdb.Number(12.5), "script text string outline"},
		{objectdb.List{objectdb.Number(1)}, "script text string outline"},
		{objectdb.Binary{Type: "image/png", Data: "x"}, ""},
		{objectdb.Binary{Type: plainType, Data: "x"}, "script text string outline"},
	} {
		assert.Equal(t, c.want, strings.Join(lossless(c.value), " "), "%#v", c.value)
		for _, name := range lossless(c.value) {
			k, err := objectdb.ParseKind(name)
			require.NoError(t, err)
			w, ok := converted(c.value, k)
			require.True(t, ok)
			text, _ := convertibleText(c.value)
			other, _ := convertibleText(w)
			if k != objectdb.KindList {
				assert.Equal(t, text, other, name)
			}
		}
	}
	e := newEditor(t)
	version := e.put("user.x", objectdb.String("return ("))
	convert := func(kind string) (int, map[string]any) {
		return e.sendJSON("edit/user.x", map[string]string{"do": "kind", "kind": kind, "version": fmt.Sprint(version)})
	}
	status, m := convert("script")
	assert.Equal(t, 422, status, m)
	status, m = convert("number")
	assert.Equal(t, 400, status)
	assert.Contains(t, m["error"], "without losing")
	for _, kind := range []string{"table", "nothing", "", "record"} {
		status, _ = convert(kind)
		assert.Equal(t, 400, status, kind)
	}
	status, m = convert("text")
	assert.Equal(t, 200, status, m)
	assert.Equal(t, objectdb.Text("return ("), e.value("user.x"))
	status, _ = convert("outline")
	assert.Equal(t, 409, status, "an old version")
}

// TestHostileValues checks that names and values stay text in the pages of values.
func TestHostileValues(t *testing.T) {
	e := newEditor(t)
	const hostile = `</textarea><script>alert(1)</script>"'&<img src=x onerror=alert(1)>` + "\n\u2028-->]]>"
	values := []objectdb.Value{
		objectdb.String(hostile), objectdb.Text(hostile), objectdb.Script(hostile), objectdb.Outline(hostile + "\n\t" + hostile),
		objectdb.List{objectdb.String(hostile)}, objectdb.Address{hostile, "x"}, objectdb.Binary{Type: "text/html", Data: hostile},
		objectdb.Binary{Type: `image/png; a="<script>"`, Data: hostile}, objectdb.Binary{Type: "application/zip", Data: hostile},
	}
	reader := &editor{e.s.person("bob", "reader"), t}
	for i, v := range values {
		a := objectdb.Address{"user", fmt.Sprint(i) + `<script>alert(1)</script>"'&`}
		version := e.put(a.String(), v)
		query := "?address=" + url.QueryEscape(a.String())
		for _, p := range []*editor{e, reader} {
			page := p.get("at" + query)
			assert.Equal(t, 200, page.status)
			assert.Empty(t, page.find("img", "onerror"))
			lacks(t, page.body, "<script>alert")
		}
		assert.Equal(t, 200, e.get("raw"+query).status)
		page := e.sendForm("edit"+query, map[string]string{"do": "save", "version": fmt.Sprint(version - 1), "value": hostile,
			"type": hostile, "kind": v.Kind().String()})
		assert.Contains(t, []int{303, 409, 422}, page.status)
		lacks(t, page.body, "<script>alert")
		page = e.sendForm("edit"+query, map[string]string{"do": hostile})
		assert.Equal(t, 400, page.status)
		lacks(t, page.body, "<script>alert")
	}
}

// TestBadEdits checks requests that no form of the page sends.
func TestBadEdits(t *testing.T) {
	e := newEditor(t)
	version := fmt.Sprint(e.put("user.note", objectdb.Text("a")))
	for name, c := range map[string]struct {
		path   string
		fields map[string]string
		status int
	}{
		"no action":      {"edit/user.note", map[string]string{}, 400},
		"the root":       {"edit", map[string]string{"do": "save"}, 400},
		"no address":     {"edit?address=a..b", map[string]string{"do": "save"}, 400},
		"no such object": {"edit/user.none", map[string]string{"do": "save", "value": "x"}, 404},
		"a table":        {"edit/user", map[string]string{"do": "save", "value": "x", "version": fmt.Sprint(e.version("user"))}, 409},
		"below a value":  {"edit/user.note.x", map[string]string{"do": "save", "value": "x", "kind": "text"}, 400},
		"no kind":        {"edit/user.none", map[string]string{"do": "save", "value": "x", "kind": "table"}, 400},
		"no version":     {"edit/user.note", map[string]string{"do": "save", "value": "x"}, 409},
		"odd version":    {"edit/user.note", map[string]string{"do": "save", "value": "x", "version": "99999999999999999999"}, 409},
		"later version":  {"edit/user.note", map[string]string{"do": "save", "value": "x", "version": "999999"}, 409},
		"no token":       {"edit/user.note", map[string]string{"do": "save", "value": "x", "version": version, "csrf": "x"}, 403},
	} {
		status, m := e.sendJSON(c.path, c.fields)
		assert.Equal(t, c.status, status, "%s: %v", name, m)
		assert.Equal(t, c.status, e.sendForm(c.path, c.fields).status, name)
	}
	assert.Equal(t, objectdb.Text("a"), e.value("user.note"))
	for _, path := range []string{"lint/user.note", "preview/user.note"} {
		assert.Contains(t, []int{404, 405}, e.get(path).status, path)
	}
}
