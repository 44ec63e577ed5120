package admin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// editor is a person with a browser who edits values.
type editor struct {
	*browser
	t *testing.T
}

func newEditor(t *testing.T) *editor { return &editor{newSite(t).person("ada", "owner"), t} }

// put stores a value, as another person does, and returns its version.
func (e *editor) put(address string, v objectdb.Value) (version int64) {
	e.t.Helper()
	e.s.put(address, v)
	return e.version(address)
}

func (e *editor) value(address string) objectdb.Value {
	e.t.Helper()
	return e.s.get(address)
}

func (e *editor) version(address string) (version int64) {
	e.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(e.t, err)
	require.NoError(e.t, e.s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		o, err := tx.Stat(a)
		version = o.Version
		return err
	}))
	return version
}

// submit sends fields as a form with files does. A field "file NAME" is a file.
func (e *editor) submit(path string, fields map[string]string, header map[string]string) *answer {
	e.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	if fields["csrf"] == "" {
		require.NoError(e.t, m.WriteField("csrf", e.csrf))
	}
	for name, value := range fields {
		if file, ok := strings.CutPrefix(name, "file "); ok {
			w, err := m.CreateFormFile("file", file)
			require.NoError(e.t, err)
			_, err = io.WriteString(w, value)
			require.NoError(e.t, err)
			continue
		}
		require.NoError(e.t, m.WriteField(name, value))
	}
	require.NoError(e.t, m.Close())
	all := map[string]string{"Content-Type": m.FormDataContentType()}
	maps.Copy(all, header)
	return e.browser.send(http.MethodPost, path, &body, all)
}

// sendForm sends fields as a browser without the script does.
func (e *editor) sendForm(path string, fields map[string]string) *answer {
	e.t.Helper()
	return e.submit(path, fields, nil)
}

// sendJSON sends fields as the script of the page does, and returns the status and the answer.
func (e *editor) sendJSON(path string, fields map[string]string) (status int, m map[string]any) {
	e.t.Helper()
	a := e.submit(path, fields, map[string]string{"Accept": "application/json"})
	return a.status, a.json()
}

// save saves a text over a version, and returns the status and the answer.
func (e *editor) save(address, text string, version int64, more ...string) (int, map[string]any) {
	e.t.Helper()
	fields := map[string]string{"do": "save", "value": text, "version": fmt.Sprint(version)}
	for i := 0; i+1 < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	return e.sendJSON("edit?address="+url.QueryEscape(address), fields)
}

// TestSaveKinds checks for each kind what its page shows and what can be stored.
func TestSaveKinds(t *testing.T) {
	e := newEditor(t)
	date := time.Date(2026, 1, 31, 18, 30, 5, 123456789, time.UTC)
	for name, c := range map[string]struct {
		value objectdb.Value
		typed string
		want  objectdb.Value
		wrong string // a text that is refused, and why
		why   string
	}{
		"script":  {objectdb.Script("return 1"), "return 2\r\n", objectdb.Script("return 2\n"), "return (", "line 1"},
		"text":    {objectdb.Text("<p>a</p>"), "<p>b</p>", objectdb.Text("<p>b</p>"), "", ""},
		"outline": {objectdb.Outline("a\n\tb"), "a\n\tc", objectdb.Outline("a\n\tc"), "", ""},
		"string":  {objectdb.String("a"), "b c ", objectdb.String("b c "), "", ""},
		"number":  {objectdb.Number(0.1), " 1e300", objectdb.Number(1e300), "one", "decimal"},
		"boolean": {objectdb.Boolean(false), "true", objectdb.Boolean(true), "yes", "true or false"},
		"date": {objectdb.Date{Time: date}, "2026-02-01T00:00:00.000000001Z",
			objectdb.Date{Time: time.Date(2026, 2, 1, 0, 0, 0, 1, time.UTC)}, "tomorrow", "it is like"},
		"list": {objectdb.List{objectdb.Date{Time: date}, objectdb.Binary{Type: "image/png", Data: "\xff"}}, `[1, {"a": null}]`,
			objectdb.List{objectdb.Number(1), objectdb.Record{{Name: "a", Value: objectdb.Null{}}}}, `[1,`, "ends too early"},
		"address": {objectdb.Address{"user", "name"}, `user.["odd name"]`, objectdb.Address{"user", "odd name"}, "a..b", "name is wanted"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &editor{e.browser, t}
			at := "user." + name
			version := e.put(at, c.value)
			page := e.get("at/" + at)
			require.Equal(t, 200, page.status)
			assert.Contains(t, page.body, fmt.Sprintf(`name="version" value="%d"`, version))
			assert.Contains(t, page.body, `data-save`)

			if c.wrong != "" {
				status, m := e.save(at, c.wrong, version)
				assert.Equal(t, 422, status)
				assert.Contains(t, strings.ToLower(m["error"].(string)), c.why)
				again := e.sendForm("edit/"+at, map[string]string{"do": "save", "value": c.wrong, "version": fmt.Sprint(version)})
				assert.Equal(t, 422, again.status)
				assert.Contains(t, again.body, `role="alert"`)
				if name != "boolean" && name != "date" {
					assert.Contains(t, again.body, c.wrong, "what was typed is not lost")
				}
				assert.Equal(t, c.value, e.value(at))
			}

			status, m := e.save(at, c.typed, version)
			require.Equal(t, 200, status, m)
			assert.Equal(t, true, m["saved"])
			assert.EqualValues(t, e.version(at), m["version"])
			assert.NotZero(t, m["change"])
			assert.Equal(t, c.want, e.value(at))

			status, m = e.save(at, c.typed, e.version(at))
			require.Equal(t, 200, status)
			assert.Zero(t, m["change"], "it had this value already")
			back := e.sendForm("edit/"+at, map[string]string{"do": "save", "value": c.typed, "version": fmt.Sprint(e.version(at))})
			assert.Equal(t, 303, back.status)
			assert.Equal(t, "/scripter/at/"+at+"?said=unchanged", back.header.Get("Location"))
		})
	}
}

// TestHistoryOfSave checks that a save is a change of the person.
func TestHistoryOfSave(t *testing.T) {
	e := newEditor(t)
	version := e.put("user.note", objectdb.Text("a"))
	_, m := e.save("user.note", "b", version)
	require.NoError(t, e.s.db.View(t.Context(), func(tx *objectdb.Tx) error {
		c, err := tx.Change(int64(m["change"].(float64)))
		assert.Equal(t, objectdb.Origin{Person: true, Who: "ada", Why: "web page", Path: "save user.note"}, c.Origin)
		return err
	}))
}

// TestConflict checks that nothing is overwritten that somebody else has stored meanwhile.
func TestConflict(t *testing.T) {
	e := newEditor(t)
	first := e.put("user.note", objectdb.Text("a\nb\nc\nd\n"))
	second := e.put("user.note", objectdb.Text("A\nb\nc\nd\n"))
	status, m := e.save("user.note", "a\r\nb\r\nc\r\nD\r\n", first)
	require.Equal(t, 409, status)
	assert.Equal(t, map[string]any{
		"base": "a\nb\nc\nd\n", "mine": "a\nb\nc\nD\n", "theirs": "A\nb\nc\nd\n", "merged": "A\nb\nc\nD\n", "clashes": 0.0,
		"version": float64(second), "kind": "text", "who": "test", "when": m["conflict"].(map[string]any)["when"],
		"change": float64(second), "href": fmt.Sprintf("/scripter/history/%d", second),
	}, m["conflict"])
	assert.Equal(t, objectdb.Text("A\nb\nc\nd\n"), e.value("user.note"))

	page := e.sendForm("edit/user.note", map[string]string{"do": "save", "version": fmt.Sprint(first), "value": "</textarea><script>\nb\nc\nd\n"})
	assert.Equal(t, 409, page.status)
	assert.Contains(t, page.body, fmt.Sprintf(`name="version" value="%d"`, second))
	assert.Contains(t, page.body, "&lt;&lt;&lt;&lt;&lt;&lt;&lt; yours\n&lt;/textarea&gt;&lt;script&gt;\n=======\nA\n&gt;&gt;&gt;&gt;&gt;&gt;&gt; theirs\nb\n")
	assert.NotContains(t, page.body, "</textarea><script>")
	assert.Equal(t, objectdb.Text("A\nb\nc\nd\n"), e.value("user.note"))

	status, _ = e.save("user.note", "A\nb\nc\nD\n", second)
	assert.Equal(t, 200, status)

	t.Run("the same change twice", func(t *testing.T) {
		status, m := e.save("user.note", "A\nb\nc\nD\n", first)
		assert.Equal(t, 200, status)
		assert.Zero(t, m["change"])
	})
	t.Run("changed and changed back", func(t *testing.T) {
		e.put("user.note", objectdb.Text("a\nb\nc\nd\n"))
		status, m := e.save("user.note", "mine", first)
		assert.Equal(t, 200, status, m)
		assert.Equal(t, objectdb.Text("mine"), e.value("user.note"))
	})
	t.Run("what was read is not known", func(t *testing.T) {
		status, m := e.save("user.note", "mine too", 99999)
		assert.Equal(t, 409, status)
		c := m["conflict"].(map[string]any)
		assert.Nil(t, c["base"])
		assert.Equal(t, "<<<<<<< yours\nmine too\n=======\nmine\n>>>>>>> theirs\n", c["merged"])
		page := e.sendForm("edit/user.note", map[string]string{"do": "save", "version": "99999", "value": "mine too"})
		assert.Contains(t, page.text(), "The history does not have what you had read")
	})
	t.Run("another kind", func(t *testing.T) {
		e.put("user.note", objectdb.Number(5))
		status, m := e.save("user.note", "mine", first)
		assert.Equal(t, 409, status)
		c := m["conflict"].(map[string]any)
		assert.Equal(t, "number", c["kind"])
		assert.Equal(t, "5", c["theirs"])
		assert.NotContains(t, c, "merged")
	})
	t.Run("a table now", func(t *testing.T) {
		require.NoError(t, e.s.db.Update(t.Context(), func(tx *objectdb.Tx) error {
			require.NoError(t, tx.Delete(objectdb.Address{"user", "note"}))
			return tx.NewTable(objectdb.Address{"user", "note"})
		}))
		page := e.sendForm("edit/user.note", map[string]string{"do": "save", "version": fmt.Sprint(first), "value": "my text"})
		assert.Equal(t, 409, page.status)
		assert.Contains(t, page.body, "my text")
		assert.Contains(t, page.body, "It is a table now")
	})
}

// TestWhoChangedIt checks that a conflict says who or what made the change.
func TestWhoChangedIt(t *testing.T) {
	e := newEditor(t)
	e.s.server.Now = func() time.Time { return time.Now().Add(130 * time.Second) }
	const end = ", while you edited it. Nothing is stored yet, and nothing is lost."
	first := e.put("user.note", objectdb.Text("first"))
	for i, c := range []struct {
		origin    objectdb.Origin
		who, said string
	}{
		{objectdb.Origin{Person: true, Who: "grace", Why: "web page", Path: "save user.note"}, "grace",
			"grace changed user.note 2 minutes ago"},
		{objectdb.Origin{Person: true, Who: "ada", Why: "web page", Path: "save user.note"}, "ada",
			"You changed user.note 2 minutes ago elsewhere"},
		{objectdb.Origin{Person: true, Who: "ada", Why: "scripter put"}, "ada",
			"ada changed user.note 2 minutes ago with scripter put"},
		{objectdb.Origin{Person: true, Why: "scripter sync"}, "somebody",
			"Somebody changed user.note 2 minutes ago with scripter sync"},
		{objectdb.Origin{Why: "POST", Path: "/x.fcgi"}, "a visitor",
			"A visitor changed user.note 2 minutes ago (POST /x.fcgi)"},
		{objectdb.Origin{Who: "eve", Why: "POST", Path: "/x.fcgi (request 3)"}, "eve",
			"The visitor eve changed user.note 2 minutes ago (POST /x.fcgi (request 3))"},
		{objectdb.Origin{Why: "sweep"}, "Scripter", "Scripter changed user.note 2 minutes ago (sweep)"},
		{objectdb.Origin{}, "Scripter", "Scripter changed user.note 2 minutes ago"},
	} {
		require.NoError(t, e.s.db.Update(t.Context(), func(tx *objectdb.Tx) error {
			tx.Origin = c.origin
			return tx.Put(objectdb.Address{"user", "note"}, objectdb.Text(fmt.Sprint("theirs ", i)))
		}))
		status, m := e.save("user.note", "mine", first)
		require.Equal(t, 409, status)
		assert.Equal(t, c.said+end, m["error"])
		assert.Equal(t, c.who, m["conflict"].(map[string]any)["who"])
		page := e.sendForm("edit/user.note", map[string]string{"do": "save", "version": fmt.Sprint(first), "value": "mine"})
		assert.Contains(t, page.text(), c.said+end+" See the change")
	}
	for d, want := range map[time.Duration]string{
		-time.Minute: "just now", 4 * time.Second: "just now", 59 * time.Second: "59 seconds ago", time.Minute: "1 minute ago",
		59 * time.Minute: "59 minutes ago", 90 * time.Minute: "1 hour ago", 47 * time.Hour: "47 hours ago", 49 * time.Hour: "2 days ago",
	} {
		assert.Equal(t, want, ago(d), d)
	}
}

// TestDeletedMeanwhile checks that a text is not lost whose object is gone, and can be stored again.
func TestDeletedMeanwhile(t *testing.T) {
	e := newEditor(t)
	version := e.put("user.a.note", objectdb.Script("return 1"))
	require.NoError(t, e.s.db.Update(t.Context(), func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Person: true, Who: "test", Why: "scripter put"}
		return tx.Delete(objectdb.Address{"user", "a"})
	}))
	fields := map[string]string{"do": "save", "version": fmt.Sprint(version), "kind": "script", "value": "return 2"}
	status, m := e.sendJSON("edit/user.a.note", fields)
	assert.Equal(t, 409, status)
	c := m["conflict"].(map[string]any)
	assert.Equal(t, true, c["deleted"])
	assert.Equal(t, "test", c["who"])
	assert.Regexp(t, `^test deleted user\.a\.note .+ with scripter put, while you edited it\. Nothing is stored, and your text is below\.$`, m["error"])
	assert.Equal(t, "return 2", c["mine"])
	assert.Equal(t, "return 1", c["base"])
	page := e.sendForm("edit/user.a.note", fields)
	assert.Contains(t, page.body, "return 2</textarea>")
	assert.Contains(t, page.body, `name="version" value="0"`)

	fields["version"], fields["value"] = "0", "return ("
	page = e.sendForm("edit/user.a.note", fields)
	assert.Equal(t, 422, page.status)
	assert.Contains(t, page.body, "return (</textarea>", "nor is one that does not compile")
	fields["value"] = "return 3"
	status, _ = e.sendJSON("edit/user.a.note", fields)
	assert.Equal(t, 200, status)
	assert.Equal(t, objectdb.Script("return 3"), e.value("user.a.note"))
}

// TestForce checks that a script that does not compile is stored only if the person insists.
func TestForce(t *testing.T) {
	e := newEditor(t)
	version := e.put("user.s", objectdb.Script("return 1"))
	status, m := e.save("user.s", "local a\nreturn )", version)
	assert.Equal(t, 422, status)
	assert.Equal(t, true, m["force"])
	finding := m["findings"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{2.0, 8.0, "syntax"}, []any{finding["line"], finding["column"], finding["rule"]})
	page := e.sendForm("edit/user.s", map[string]string{"do": "save", "version": fmt.Sprint(version), "value": "local a\nreturn )"})
	assert.Contains(t, page.body, `href="#line-2"`)
	status, _ = e.save("user.s", "local a\nreturn )", version, "force", "1")
	assert.Equal(t, 200, status)
	assert.Equal(t, objectdb.Script("local a\nreturn )"), e.value("user.s"))
}

// TestNanoseconds checks that an input of dates keeps what it cannot show.
func TestNanoseconds(t *testing.T) {
	e := newEditor(t)
	was := time.Date(2026, 1, 31, 18, 30, 5, 123456789, time.UTC)
	version := e.put("user.then", objectdb.Date{Time: was})
	page := e.get("at/user.then")
	assert.Contains(t, page.body, `value="2026-01-31T18:30:05"`)
	assert.Contains(t, page.body, "0.123456789")
	_, m := e.save("user.then", "", version, "moment", "2026-01-31T18:30:05")
	assert.Zero(t, m["change"])
	assert.Equal(t, objectdb.Date{Time: was}, e.value("user.then"))
	e.save("user.then", "", version, "moment", "2026-01-31T18:31")
	assert.Equal(t, objectdb.Date{Time: time.Date(2026, 1, 31, 18, 31, 0, 0, time.UTC)}, e.value("user.then"))
	status, m := e.save("user.then", "", e.version("user.then"), "moment", "2026-13-31T18:31")
	assert.Equal(t, 422, status)
	assert.Contains(t, m["error"], "is not a date and time")

	e.put("user.early", objectdb.Date{Time: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)})
	assert.Contains(t, e.get("at/user.early").body, `name="value" value="0000-01-01T00:00:00Z"`)
}

// TestLineEnds checks that lines which stay keep their ends, although browsers send others.
func TestLineEnds(t *testing.T) {
	for _, c := range []struct{ name, before, typed, want string }{
		{"plain", "a\nb\n", "a\r\nB\r\n", "a\nB\n"},
		{"windows", "a\r\nb\r\n", "a\r\nB\r\nc", "a\r\nB\r\nc"},
		{"windows, sent plain", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"},
		{"old Mac", "a\rb\rc", "a\r\nx\r\nb\r\nc", "a\rx\rb\rc"},
		{"mixed", "a\r\nb\nc\rd", "a\r\nb\r\nc\r\nd", "a\r\nb\nc\rd"},
		{"mixed, first line new", "a\r\nb\nc\rd", "x\r\na\r\nb\r\nc\r\nd", "x\r\na\r\nb\nc\rd"},
		{"mixed, lines gone", "a\r\nb\nc\rd\n", "a\r\nd\r\n", "a\r\nd\n"},
		{"mixed, a line changed", "a\r\nb\nc\rd\n", "a\nB\nc\nd\n", "a\r\nB\nc\rd\n"},
		{"no end", "a\r\nb", "a\nb\nc", "a\r\nb\r\nc"},
		{"one line", "a\rb", "ab", "ab"},
		{"nothing", "", "", ""},
		{"emptied", "a\r\nb\r\n", "", ""},
	} {
		assert.Equal(t, c.want, withLineEnds(c.before, c.typed), c.name)
	}
}

// FuzzLineEnds checks that a text comes back as it was if nobody changes it, and as typed otherwise.
func FuzzLineEnds(f *testing.F) {
	f.Add("a\r\nb\nc\rd", "a\nb\n")
	f.Add("\r\n\r\r\n\n", "\n\n\r\n")
	f.Fuzz(func(t *testing.T, before, typed string) {
		_, plain := lineEnds(before)
		require.Equal(t, before, withLineEnds(before, plain))
		require.Equal(t, before, withLineEnds(before, strings.ReplaceAll(plain, "\n", "\r\n")))
		_, want := lineEnds(typed)
		_, got := lineEnds(withLineEnds(before, typed))
		require.Equal(t, want, got)
	})
}

// TestOddTexts checks that a text which a browser cannot send back as it is cannot be edited there.
func TestOddTexts(t *testing.T) {
	e := newEditor(t)
	for _, v := range []objectdb.Value{
		objectdb.Text("a\x00b"), objectdb.String("\xff"), objectdb.Script("--\xff"), objectdb.Binary{Type: "text/css", Data: "\xff"},
		objectdb.Binary{Type: "application/zip", Data: "abc"}, objectdb.Text(strings.Repeat("x", maxEdited+1)),
	} {
		e.put("user.odd", v)
		page := e.get("at/user.odd")
		assert.Equal(t, 200, page.status)
		assert.NotContains(t, page.body, `<textarea class="tall" name="value"`)
		assert.Contains(t, page.body, `type="file"`)
		raw := e.get("raw/user.odd")
		status, m := e.sendJSON("edit/user.odd", map[string]string{
			"do": "save", "version": fmt.Sprint(e.version("user.odd")), "file odd": raw.body, "type": "text/css"})
		assert.Equal(t, 200, status, m)
	}
	e.put("user.lines", objectdb.Text("\n\nthird"))
	assert.Contains(t, e.get("at/user.lines").body, ">\n\n\nthird</textarea>", "an HTML parser drops the first line end")
	e.put("user.two", objectdb.String("one\ntwo"))
	assert.Contains(t, e.get("at/user.two").body, "one\ntwo</textarea>", "a string of two lines is no input of one")
}

// TestUpload checks files that replace values.
func TestUpload(t *testing.T) {
	e := newEditor(t)
	const png = "\x89PNG\r\n\x1a\n-----"
	version := e.put("user.logo", objectdb.Binary{Type: "application/octet-stream"})
	upload := func(fields map[string]string) (int, map[string]any) {
		fields["do"], fields["version"] = "save", fmt.Sprint(version)
		status, m := e.sendJSON("edit/user.logo", fields)
		version = e.version("user.logo")
		return status, m
	}
	status, m := upload(map[string]string{"file logo.PNG": png, "type": "application/octet-stream"})
	require.Equal(t, 200, status, m)
	assert.Equal(t, objectdb.Binary{Type: "image/png", Data: png}, e.value("user.logo"))
	page := e.get("at/user.logo")
	assert.Contains(t, page.body, `<img src="/scripter/raw/user.logo"`)
	assert.Contains(t, page.body, "16 MB")

	upload(map[string]string{"file": "nothing"})
	upload(map[string]string{"file noname": png})
	assert.Equal(t, objectdb.Binary{Type: "image/png", Data: png}, e.value("user.logo"), "the type that the content has")
	upload(map[string]string{"file a.svg": "<svg onload='alert(1)'/>"})
	assert.Equal(t, "image/svg+xml", e.value("user.logo").(objectdb.Binary).Type)
	page = e.get("at/user.logo")
	assert.NotContains(t, page.body, "<img")
	assert.Contains(t, page.body, "&lt;svg onload=")
	status, m = upload(map[string]string{"value": "<svg/>", "type": "nonsense"})
	assert.Equal(t, 422, status)
	assert.Contains(t, m["error"], "MIME type")
	status, _ = upload(map[string]string{"value": "<svg/>", "type": "text/xml"})
	assert.Equal(t, 200, status)
	assert.Equal(t, objectdb.Binary{Type: "text/xml", Data: "<svg/>"}, e.value("user.logo"))

	e.put("user.large", objectdb.Binary{Type: "text/css", Data: strings.Repeat("x", maxSummed+1)})
	page = e.get("at/user.large")
	assert.Contains(t, page.body, "too long for a page")
	assert.Contains(t, page.body, `href="/scripter/at/user.large?sum=1"`)
	assert.Len(t, e.json("at/user.large?sum=1")["sha256"], 64)

	e.put("user.s", objectdb.Script("return 1"))
	status, _ = e.sendJSON("edit/user.s", map[string]string{"do": "save", "version": fmt.Sprint(e.version("user.s")),
		"file s.lua": "return 'from a file'\r\n"})
	assert.Equal(t, 200, status)
	assert.Equal(t, objectdb.Script("return 'from a file'\r\n"), e.value("user.s"))
}

// TestRaw checks that values are sent so that no browser takes them for a page of this site.
func TestRaw(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct {
		value    objectdb.Value
		address  string
		kind     string
		filename string
		body     string
	}{
		{objectdb.Binary{Type: "text/html", Data: "<script>alert(1)</script>"}, "user.page", "text/html", "page.html", ""},
		{objectdb.Binary{Type: "image/svg+xml", Data: "<svg/>"}, "user.drawing", "image/svg+xml", "drawing.svg", ""},
		{objectdb.Binary{Type: "image/png", Data: "x"}, `user.["logo.png"]`, "image/png", "logo.png", ""},
		{objectdb.Binary{Type: "x/y", Data: "x"}, `user.["../etc/p \"\r\n:*"]`, "x/y", `_etc_p _____.bin`, ""},
		{objectdb.Text("<b>"), "user.t", "text/plain; charset=utf-8", "t.txt", "<b>"},
		{objectdb.Script("return"), "user.s", "text/plain; charset=utf-8", "s.lua", "return"},
		{objectdb.String("\xff"), "user.odd", "application/octet-stream", "odd.str", "\xff"},
		{objectdb.List{objectdb.Number(1)}, "user.l", "application/json", "l.json", "[\n\t1\n]\n"},
	} {
		e.put(c.address, c.value)
		a := e.get("raw?address=" + url.QueryEscape(c.address))
		require.Equal(t, 200, a.status, c.address)
		assert.Equal(t, c.kind, a.header.Get("Content-Type"))
		assert.Equal(t, "default-src 'none'; sandbox", a.header.Get("Content-Security-Policy"))
		assert.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
		assert.True(t, strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment; filename="), a.header.Get("Content-Disposition"))
		assert.Contains(t, a.header.Get("Content-Disposition"), c.filename)
		if c.body != "" {
			assert.Equal(t, c.body, a.body)
		}
	}
	assert.Equal(t, 404, e.get("raw/user.none").status)
	assert.Equal(t, 400, e.get("raw/user").status)
}
