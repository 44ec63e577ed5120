package admin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// hostile is a name, and a value, that would be a script in a page that did not escape it.
const hostile = `<script>alert(1)</script>"'&`

func TestObjectPages(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.greeting", objectdb.String("Hello"))
	a := ada.get("at/user")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "greeting string Hello 5 B")
	m := ada.json("at/user.json")
	assert.Equal(t, "user", m["address"])
	assert.Equal(t, "greeting", m["table"].(map[string]any)["objects"].([]any)[0].(map[string]any)["name"])
	assert.Equal(t, http.StatusNotFound, ada.get("at/user.nothing").status)
	assert.Equal(t, http.StatusBadRequest, ada.get("at?address=user..x").status)
	assert.Equal(t, http.StatusNotFound, ada.get("at/user.greeting.deeper").status)
	assert.Equal(t, http.StatusNotFound, ada.get("nothing").status)
	assert.Equal(t, http.StatusOK, ada.get("at").status)
}

func TestOddNames(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	for _, name := range []string{hostile, "a.b", "a/b", "..", ".", "%2F", "x?y#z", "json", "a$b", "été", " ", "with \"quotes\" and \\", "new\nline"} {
		at := objectdb.Address{"user", "odd", name}
		s.update(func(tx *objectdb.Tx) error { return tx.Put(at, objectdb.String(hostile)) })
		link := ""
		for _, n := range ada.get("at/user.odd").find("a", "href") {
			if strings.TrimSpace(textOf(n)) == strings.Join(strings.Fields(name), " ") && strings.Contains(attributeOf(n, "href"), "odd") {
				link = attributeOf(n, "href")
			}
		}
		require.NotEmpty(t, link, "%q", name)
		a := ada.get(link)
		assert.Equal(t, http.StatusOK, a.status, "%q: %s", name, link)
		lacks(t, a.body, "<script>alert")
		assert.Equal(t, at.String(), ada.json(link)["address"], link)
		require.Equal(t, http.StatusSeeOther, ada.post(link, "do", "delete").status)
		assert.Nil(t, s.get(at.String()))
	}
}

func TestObjectActions(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	a := ada.post("at/user", "do", "new", "name", "notes", "kind", "table")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	location := a.header.Get("Location")
	assert.Contains(t, location, "/scripter/at/user.notes?said=made&change=")
	page := ada.get(location)
	assert.Contains(t, page.text(), "Created. Undo Change")

	for _, k := range kinds {
		a := ada.post("at/user.notes", "do", "new", "name", "a "+k.String(), "kind", k.String())
		assert.Equal(t, http.StatusSeeOther, a.status, k)
		assert.Equal(t, http.StatusOK, ada.get(a.header.Get("Location")).status, k)
	}
	for why, fields := range map[string][]string{
		"no name":     {"do", "new", "name", "", "kind", "string"},
		"a long name": {"do", "new", "name", strings.Repeat("x", 256), "kind", "string"},
		"no kind":     {"do", "new", "name", "x", "kind", "thing"},
		"no action":   {"do", "explode"},
		"no target":   {"do", "move", "to", ""},
		"into itself": {"do", "move", "to", "user.notes.below"},
	} {
		assert.Equal(t, http.StatusBadRequest, ada.post("at/user.notes", fields...).status, why)
	}
	assert.Equal(t, http.StatusConflict, ada.post("at/user.notes", "do", "new", "name", "A NUMBER", "kind", "string").status)
	assert.Equal(t, http.StatusConflict, ada.post("at/user.notes", "do", "copy", "to", "user.webserver").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("at", "do", "delete").status, "the root")

	require.Equal(t, http.StatusSeeOther, ada.post("at/user.notes", "do", "copy", "to", "user.copied").status)
	require.Equal(t, http.StatusSeeOther, ada.post("at/user.copied", "do", "move", "to", "user.Copied").status, "spelled anew")
	require.Equal(t, http.StatusSeeOther, ada.post("at/user.Copied", "do", "move", "to", "user.moved").status)
	assert.Equal(t, objectdb.Number(0), s.get(`user.moved.["a number"]`))
	a = ada.post("at/user.moved", "do", "delete")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Nil(t, s.get(`user.moved.["a number"]`))

	// Undo is at hand, in the page after the deletion.
	page = ada.get(a.header.Get("Location"))
	undo := ""
	for _, n := range page.find("form", "action") {
		if action := attributeOf(n, "action"); strings.Contains(action, "/history/") {
			undo = action
		}
	}
	require.NotEmpty(t, undo)
	require.Equal(t, http.StatusSeeOther, ada.post(undo, "do", "undo").status)
	assert.Equal(t, objectdb.Number(0), s.get(`user.moved.["a number"]`))
}

func TestTablePages(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.update(func(tx *objectdb.Tx) error {
		for i := range 250 {
			if err := tx.Put(objectdb.Address{"user", "many", fmt.Sprintf("n%03d", i)}, objectdb.Number(1000-i)); err != nil {
				return err
			}
		}
		return nil
	})
	names := func(path string) (list []string) {
		for _, o := range ada.json(path)["table"].(map[string]any)["objects"].([]any) {
			list = append(list, o.(map[string]any)["name"].(string))
		}
		return list
	}
	// follow opens the page beside one.
	follow := func(path, rel string) string {
		for _, n := range ada.get(path).find("a", "rel") {
			if attributeOf(n, "rel") == rel {
				return attributeOf(n, "href")
			}
		}
		return ""
	}
	first := names("at/user.many")
	assert.Len(t, first, 100)
	second := follow("at/user.many", "next")
	assert.Equal(t, "n100", names(second)[0])
	third := follow(second, "next")
	assert.Equal(t, []string{"n200", "n249"}, []string{names(third)[0], names(third)[49]})
	assert.Empty(t, follow(third, "next"))
	back := follow(third, "prev")
	assert.Equal(t, names(second), names(back))
	assert.Equal(t, first, names(follow(back, "prev")))
	assert.Empty(t, follow(follow(back, "prev"), "prev"))

	down := "at/user.many?sort=name&order=down"
	assert.Equal(t, "n249", names(down)[0])
	assert.Equal(t, "n149", names(follow(down, "next"))[0])
	grid := ada.json("at/user.many?view=grid&sort=.")["table"].(map[string]any)["rows"].([]any)
	assert.Equal(t, "n249", grid[0].(map[string]any)["name"], "sorted by number")
}

func TestGrid(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.people.ada.age", objectdb.Number(36))
	s.put("user.people.ada.city", objectdb.String(hostile))
	s.put("user.people.bob.age", objectdb.Number(9))
	table := ada.json("at/user.people")["table"].(map[string]any)
	assert.Equal(t, "grid", table["view"])
	rows := ada.json("at/user.people?sort=.age")["table"].(map[string]any)["rows"].([]any)
	assert.Equal(t, "bob", rows[0].(map[string]any)["name"])
	a := ada.get("at/user.people")
	lacks(t, a.body, "<script>alert")
	version := ""
	for _, n := range a.find("td", "data-edit") {
		if attributeOf(n, "data-edit") == "user.people.bob.age" {
			version = attributeOf(n, "data-version")
		}
	}
	require.NotEmpty(t, version)

	save := func(fields ...string) *answer {
		return ada.post("at/user.people.json", append([]string{"do", "cell"}, fields...)...)
	}
	a = save("cell", "user.people.bob.age", "version", version, "value", "10")
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Equal(t, objectdb.Number(10), s.get("user.people.bob.age"))
	assert.NotEqual(t, version, fmt.Sprint(a.json()["version"]))
	assert.Positive(t, a.json()["change"])

	a = save("cell", "user.people.bob.age", "version", version, "value", "11")
	assert.Equal(t, http.StatusConflict, a.status, "changed meanwhile")
	conflict := a.json()["conflict"].(map[string]any)
	assert.Equal(t, "10", conflict["theirs"])
	assert.Equal(t, http.StatusBadRequest, save("cell", "user.people.bob.age", "version", fmt.Sprint(conflict["version"]), "value", "ten").status)
	assert.Equal(t, http.StatusBadRequest, save("cell", "user.webserver.chunkSize", "value", "1").status, "elsewhere")
	assert.Equal(t, objectdb.Number(10), s.get("user.people.bob.age"))
	require.Equal(t, http.StatusOK, save("cell", "user.people.bob.city", "version", "", "value", "Paris").status, "a new cell")
	assert.Equal(t, objectdb.String("Paris"), s.get("user.people.bob.city"))
	assert.Equal(t, http.StatusConflict, save("cell", "user.people.bob.gone", "version", "7", "value", "x").status)
}

func TestPaste(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.update(func(tx *objectdb.Tx) error { return tx.NewTable(objectdb.Address{"user", "rows"}) })
	const csv = "name,city\nada,London\n\"bob, jr\",\"" + "<b>Paris</b>" + "\"\n"
	a := ada.post("at/user.rows", "do", "paste", "text", csv, "header", "yes", "key", "name")
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Contains(t, a.text(), "2 rows would be added")
	lacks(t, a.body, "<b>Paris")
	assert.Nil(t, s.get("user.rows.ada.city"), "only shown")
	for want, fields := range map[string][]string{
		"London": {"text", csv, "header", "yes", "key", "name"},
		"Rome":   {"text", "name\tcity\ncarl\tRome", "header", "yes", "key", "name"},
		"Oslo":   {"text", `[{"city": "Oslo", "age": 3, "open": true, "none": null}]`},
		"Bonn":   {"text", `{"dora": {"city": "Bonn"}}`},
	} {
		require.Equal(t, http.StatusSeeOther, ada.post("at/user.rows", append([]string{"do", "import"}, fields...)...).status, want)
	}
	assert.Equal(t, objectdb.String("London"), s.get("user.rows.ada.city"))
	assert.Equal(t, objectdb.String("<b>Paris</b>"), s.get(`user.rows.["bob, jr"].city`))
	assert.Equal(t, objectdb.String("Rome"), s.get("user.rows.carl.city"))
	assert.Equal(t, objectdb.Number(3), s.get(`user.rows.["0001"].age`))
	assert.Nil(t, s.get(`user.rows.["0001"].none`))
	assert.Equal(t, objectdb.String("Bonn"), s.get("user.rows.dora.city"))
	for why, fields := range map[string][]string{
		"nothing":        {"text", "  "},
		"bad JSON":       {"text", `[{"a":`},
		"nested":         {"text", `[{"a": [1]}]`},
		"no such column": {"text", csv, "header", "yes", "key", "street"},
		"twice":          {"text", "name\nx\nX", "header", "yes", "key", "name"},
		"no name":        {"text", "name,b\n,1", "header", "yes", "key", "name"},
	} {
		assert.Equal(t, http.StatusBadRequest, ada.post("at/user.rows", append([]string{"do", "paste"}, fields...)...).status, why)
	}
	assert.Equal(t, http.StatusConflict, ada.post("at/user.rows", "do", "import", "text", csv, "header", "yes", "key", "name").status,
		"nothing is overwritten")
}

func FuzzParsePasted(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2", "a\tb", `[{"a":1}]`, `{"x":{"a":true}}`, "\"", "a;b\n1;2", "\uFEFFa\n"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, header bool) {
		p, err := parsePasted(text, header)
		if err != nil {
			return
		}
		for _, row := range p.rows {
			if len(row) != len(p.columns) {
				t.Fatalf("%d cells in %d columns", len(row), len(p.columns))
			}
		}
		if p.names == nil && p.nameRows("") == nil && len(p.names) != len(p.rows) {
			t.Fatal("rows without names")
		}
	})
}

func TestTree(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.deep.a.b.c", objectdb.String("x"))
	a := ada.get("at/user.deep.a.b.c")
	current := ""
	for _, n := range a.find("a", "aria-current") {
		current = attributeOf(n, "href")
	}
	assert.Equal(t, "/scripter/at/user.deep.a.b.c", current, "the tree is open down to the object")
	m := ada.json("tree?address=user.deep.a")
	assert.Equal(t, "b", m["items"].([]any)[0].(map[string]any)["name"])
	assert.Contains(t, ada.get("tree?address=user.deep").body, `data-open="/scripter/tree/user.deep.a"`)
	assert.Contains(t, ada.get("tree/user.deep.a").body, "user.deep.a.b")
	assert.Equal(t, http.StatusNotFound, ada.get("tree?address=nothing").status)
}

func TestFind(t *testing.T) {
	s := newSite(t)
	ada, rita := s.person("ada", "owner"), s.person("rita", "reader")
	s.put("user.story.treasure", objectdb.Text("one\nthe "+hostile+" Island\n"))
	s.put("user.password", objectdb.String("the secret Island"))
	objects := func(b *browser, q string) (list []string) {
		for path := "find?q=" + q; path != ""; {
			m := b.json(path)
			for _, o := range m["objects"].([]any) {
				list = append(list, o.(map[string]any)["address"].(string))
			}
			path = ""
			if next, ok := m["next"].(string); ok {
				path = "find?q=" + q + "&from=" + next
			}
		}
		return list
	}
	assert.Contains(t, objects(ada, "TREAS"), "user.story.treasure")
	assert.Equal(t, "user.story", objects(ada, "user.story")[0], "a typed address comes first")
	for _, b := range []*browser{ada, rita} {
		assert.Equal(t, []string{"user.story.treasure"}, objects(b, "island"), "no text of a secret is found")
	}
	assert.NotContains(t, strings.Join(objects(rita, "argon2id%24v"), " "), "users")
	a := ada.get("find?q=island")
	lacks(t, a.body, "<script>alert")
	assert.Contains(t, a.body, "<mark>Island</mark>")
	assert.Contains(t, a.body, "#line-2")
	assert.Contains(t, ada.get("find?q=xyzzy").text(), "Nothing is called xyzzy")
	assert.Equal(t, http.StatusOK, ada.get("find").status)
	assert.Equal(t, http.StatusBadRequest, ada.get("find?q=x&from=junk").status)
	assert.Equal(t, http.StatusNotFound, ada.get("find?q=x&in=user.nowhere").status)
}
