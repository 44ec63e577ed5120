package admin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestEditorAsks asks what the editor of a script asks, at the addresses that its page names. One of
// the objects has a name that no path can have.
func TestEditorAsks(t *testing.T) {
	for _, address := range []string{"user.hello", `user.["hello world.json"]`} {
		e := newEditor(t)
		e.put(address, objectdb.Script("return string.format (1)\n"))
		page := e.get("at?address=" + url.QueryEscape(address))
		ask := func(attribute, query string) map[string]any {
			to := page.attr("textarea", attribute)
			require.NotEmpty(t, to, attribute)
			if query != "" {
				to += map[bool]string{true: "&", false: "?"}[strings.Contains(to, "?")] + query
				return e.json(to)
			}
			a := e.send(http.MethodPost, to, strings.NewReader("local x = = 1"),
				map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-CSRF-Token": e.csrf})
			return a.json()
		}
		assert.NotEmpty(t, ask("data-complete", "prefix=string.fo")["options"], address)
		assert.NotEmpty(t, ask("data-hover", "name=string.format")["title"], address)
		assert.NotEmpty(t, ask("data-lint", "")["findings"], address)
	}
}
