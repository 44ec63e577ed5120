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

// TestThen looks at the site as of a change, and follows its links.
func TestThen(t *testing.T) {
	s, folder := newWebSite(t)
	s.put("user.word", objectdb.String("before"))
	s.put("suites.webserverScripts.show", objectdb.Script(`scratchpad.n = 1
return "<html><head><title>t</title></head><a href='show.fcgi?a=1#x' target=_top>self</a> <a href='/p.mcro'>page</a> <a href='#y'>y</a> "
.. "<a href='//evil.test/'>out</a> <a href='/scripter/'>own</a> <img src='/picture.fcgi'><img src='a.png'><script>alert(1)</script>" .. user.word`))
	s.put("suites.webserverScripts.go", objectdb.Script(`return {status = 303, headers = {Location = "/show.fcgi"}}`))
	s.put("suites.webserverScripts.away", objectdb.Script(`return {status = 303, headers = {Location = "http://evil.test/"}}`))
	writeFile(t, folder, "p.mcro", "<p><!--#user.word--></p>")
	writeFile(t, folder, "default.mcro", "home <!--#user.word-->")
	writeFile(t, folder, "plain.html", "plain")
	ada := s.person("ada", "owner")
	changes := ada.json("history")["changes"].([]any)
	n := int64(changes[0].(map[string]any)["number"].(float64))
	s.put("user.word", objectdb.String("after"))

	at := fmt.Sprint(n)
	part := func(page string) string { return "then/page?at=" + at + "&url=" + url.QueryEscape(page) }
	page := ada.get("then?at=" + at)
	require.Equal(t, http.StatusOK, page.status)
	assert.Equal(t, "/scripter/then/page?at="+at+"&url=%2F", page.attr("iframe", "src"))
	assert.Equal(t, "allow-same-origin", page.attr("iframe", "sandbox"))
	assert.Contains(t, page.header.Get("Content-Security-Policy"), "frame-src 'self'")
	assert.Contains(t, page.body, "You see the root as change "+at)
	assert.Contains(t, ada.get("history/"+at).body, "/scripter/then?at="+at)
	assert.Equal(t, "/scripter/history", ada.get("then").header.Get("Location"))

	a := ada.get(part("/show.fcgi"))
	require.Equal(t, http.StatusOK, a.status, a.body)
	policy := a.header.Get("Content-Security-Policy")
	assert.True(t, strings.HasPrefix(policy, "sandbox allow-same-origin; default-src 'none';"), policy)
	for _, never := range []string{"allow-scripts", "allow-forms", "allow-top", "allow-popups", "script-src"} {
		assert.NotContains(t, policy, never)
	}
	assert.Equal(t, "SAMEORIGIN", a.header.Get("X-Frame-Options"))
	assert.Empty(t, a.header.Values("Set-Cookie"))
	assert.Contains(t, a.body, "before")
	assert.Contains(t, a.body, `<base href="/show.fcgi">`)
	link := func(page string) string { return strings.ReplaceAll("/scripter/"+part(page), "&", "&amp;") }
	assert.Contains(t, a.body, `<a href="`+link("/show.fcgi?a=1")+`#x" data-was="_top">`)
	assert.Contains(t, a.body, `<a href="`+link("/p.mcro")+`">`)
	assert.Contains(t, a.body, `<a href="`+link("/show.fcgi")+`#y">`)
	assert.Contains(t, a.body, `<img src="`+link("/picture.fcgi")+`">`)
	assert.Contains(t, a.body, `<img src='a.png'>`)
	assert.Contains(t, a.body, `<a href='//evil.test/'>`)
	assert.Contains(t, a.body, `<a href='/scripter/'>`)
	assert.Contains(t, ada.get(part("/p.mcro")).body, "before")
	assert.Contains(t, ada.get(part("/")).body, "home before")
	assert.Nil(t, s.get("scratchpad.n"), "nothing is kept")

	assert.Equal(t, "/scripter/"+part("/show.fcgi"), ada.get(part("/go.fcgi")).header.Get("Location"))
	assert.Equal(t, http.StatusNotFound, ada.get(part("/away.fcgi")).status)
	assert.Equal(t, "/plain.html", ada.get(part("/plain.html")).header.Get("Location"))
	for _, bad := range []string{"//evil.test/", "http://evil.test/", "/../x.mcro", "/scripter/at", "x"} {
		assert.Equal(t, http.StatusBadRequest, ada.get(part(bad)).status, bad)
		assert.Equal(t, http.StatusBadRequest, ada.get("then?at="+at+"&url="+url.QueryEscape(bad)).status, bad)
	}
	assert.Equal(t, http.StatusBadRequest, ada.get("then/page?url=%2Fp.mcro").status)
	assert.Equal(t, http.StatusNotFound, ada.post(part("/p.mcro")).status)

	eve := s.person("eve", "reader")
	assert.Equal(t, http.StatusForbidden, eve.get("then?at="+at).status)
	assert.Equal(t, http.StatusForbidden, eve.get(part("/p.mcro")).status)
	lacks(t, eve.get("history/"+at).body, "/scripter/then?")
	assert.Equal(t, http.StatusSeeOther, s.browser().get(part("/p.mcro")).status)
}
