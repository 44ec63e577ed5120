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

// TestLargeValuesArePart checks that the page of a large value shows its beginning, and that this part cannot be stored
// as if it were all.
func TestLargeValuesArePart(t *testing.T) {
	e := newEditor(t)
	rita := e.s.person("rita", "reader")
	line := "é " + hostile + "\n"
	text := strings.Repeat(line, maxWhole/len(line)+1) + "the very end"
	list := make(objectdb.List, maxWholeList/10)
	for i := range list {
		list[i] = objectdb.String(fmt.Sprint("item ", i))
	}
	list = append(list, objectdb.String("the very end"))
	for name, v := range map[string]objectdb.Value{
		"text": objectdb.Text(text), "script": objectdb.Script("--" + strings.ReplaceAll(text, "\n", "\n--")), "outline": objectdb.Outline(text),
		"string": objectdb.String(text), "list": list, "deep": objectdb.List{list}, "file": objectdb.Binary{Type: "text/css", Data: text},
	} {
		t.Run(name, func(t *testing.T) {
			at := "user." + name
			version := e.put(at, v)
			for _, b := range []*browser{e.browser, rita} {
				page := b.get("at/" + at)
				require.Equal(t, 200, page.status)
				assert.Contains(t, page.text(), "which cannot be changed here")
				assert.Less(t, len(page.body), 6*shownPart+50_000)
				lacks(t, page.body, "the very end")
				lacks(t, page.body, "<script>alert")
				assert.Empty(t, page.find("textarea", ""))
				for _, n := range page.find("input", "name") {
					assert.NotEqual(t, "value", attributeOf(n, "name"), "nothing sends the part")
				}
			}
			assert.Contains(t, e.get("at/"+at+"?all=1").body, "the very end")
			assert.Contains(t, e.get("raw/"+at).body, "the very end")

			// What the page could send changes nothing.
			for _, fields := range []map[string]string{
				{"do": "save", "version": fmt.Sprint(version), "kind": v.Kind().String()},
				{"do": "save", "version": fmt.Sprint(version), "kind": v.Kind().String(), "type": "text/html"},
			} {
				page := e.sendForm("edit/"+at, fields)
				assert.Contains(t, []int{303, 400}, page.status)
				saved := e.value(at)
				if b, ok := saved.(objectdb.Binary); ok {
					assert.Equal(t, text, b.Data)
				} else {
					assert.True(t, objectdb.Equal(v, saved))
				}
			}
			// A refused text of the form with all of it comes back whole.
			if name == "script" {
				page := e.sendForm("edit/"+at, map[string]string{"do": "save", "version": fmt.Sprint(version), "kind": "script", "value": text})
				assert.Equal(t, http.StatusUnprocessableEntity, page.status)
				assert.Contains(t, page.body, "the very end</textarea>")
			}
		})
	}
}

// TestTypeOfBrokenText checks that a binary that is not valid text keeps its bytes when its type is changed,
// because its form has no text.
func TestTypeOfBrokenText(t *testing.T) {
	e := newEditor(t)
	for _, data := range []string{"caf\xe9", strings.Repeat("x", maxSummed+1), strings.Repeat("x", maxWhole+1)} {
		version := e.put("user.file", objectdb.Binary{Type: "text/css", Data: data})
		page := e.get("at/user.file")
		assert.Empty(t, page.find("textarea", ""))
		a := e.sendForm("edit/user.file", map[string]string{"do": "save", "version": fmt.Sprint(version), "kind": "binary", "type": "text/html"})
		assert.Equal(t, 303, a.status)
		assert.True(t, objectdb.Equal(objectdb.Binary{Type: "text/html", Data: data}, e.value("user.file")))
	}
}
