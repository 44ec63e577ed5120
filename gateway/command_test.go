package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestExpandText checks that a preview shows the page and the errors of its markers, and that it
// changes nothing.
func TestExpandText(t *testing.T) {
	s := newSite(t)
	s.put("user.n", objectdb.Number(1))
	s.put("suites.webserver.macros.count", objectdb.Script(`user.n = user.n + 1 return user.n`))
	s.put("suites.webserver.macros.part", objectdb.Script(`user.n = 9 webserver.sendPartial ("a", false) return "b"`))
	r := &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}}
	expand := func(text string) string {
		t.Helper()
		page, err := s.g.ExpandText(context.Background(), r, "user.page", text)
		require.NoError(t, err)
		return page
	}
	assert.Equal(t, "<p>2, 3</p>", expand("<p><!--#count-->, <!--#count--></p>"))
	assert.Equal(t, "<p>2</p>", expand("<p><!--#count--></p>"))
	assert.Contains(t, expand("<p>\n<!--#nothing.at.all--></p>"), "[Macro error: user.page, line 2, column 1: ")
	assert.Contains(t, expand("<!--#part-->"), "there is no client to send to")
	assert.Equal(t, objectdb.Number(1), s.get("user.n"))
}
