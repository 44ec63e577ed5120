package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/valuetext"
)

// visitorSecrets are the secrets that the visitor of recordedSite has sent. The last one is the name of a field.
var visitorSecrets = []string{"swordfish", "opensesame", "hushcookie", "bWFyeTpvcGVuc2VzYW1l", "apikeyvalue", "oyster"}

// recordedSite returns a site that has recorded the secrets of a visitor as they are, and keeps all of
// them in the history too.
func recordedSite(t *testing.T) *testSite {
	s := debuggingSite(t, `local p = ... return "hello " .. (p.argTable.password or "nobody")`)
	s.put("user.webserver.history.scratchpad", objectdb.String("everything"))
	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	for range 2 { // the second one overwrites what the first one has left
		out := s.visit("POST", "/x.fcgi?token=swordfish", "password=swordfish&user=mary&oyster=1", map[string]string{
			"HTTP_COOKIE": "session=hushcookie", "HTTP_AUTHORIZATION": "Basic bWFyeTpvcGVuc2VzYW1l",
			"REMOTE_USER": "mary", "AUTH_TYPE": "Basic", "HTTP_X_API_KEY": "apikeyvalue",
		})
		require.Equal(t, http.StatusOK, out.Status)
	}
	return s
}

// secretObjects lists the tables of the recorded requests, and the objects in them that have a secret in their value
// or their name.
func (s *testSite) secretObjects() (list []objectdb.Address) {
	s.t.Helper()
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) error {
		return tx.Walk(objectdb.Address{"scratchpad"}, func(a objectdb.Address, n *objectdb.Node) error {
			text := a.Name()
			if n.Kind() != objectdb.KindTable {
				v, err := tx.Value(n)
				if err != nil {
					return err
				}
				text += valuetext.Format(v)
			}
			has := func(secret string) bool { return strings.Contains(text, secret) }
			if strings.Contains(a.String(), "000000002") {
				return nil // it is like the first one
			}
			if n.Kind() == objectdb.KindTable || slices.ContainsFunc(visitorSecrets, has) {
				list = append(list, a)
			}
			return nil
		})
	}))
	return list
}

// noSecrets opens a page in both forms and checks that it has no secret of the visitor.
func (b *browser) noSecrets(method, path string, fields ...string) {
	t := b.s.t
	t.Helper()
	form := url.Values{"csrf": {b.csrf}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	for _, accept := range []string{"text/html", "application/json"} {
		header := map[string]string{"Accept": accept}
		var a *answer
		if method == http.MethodGet {
			a = b.send(method, path, nil, header)
		} else {
			header["Content-Type"] = "application/x-www-form-urlencoded"
			a = b.send(method, path, strings.NewReader(form.Encode()), header)
		}
		assert.NotEqual(t, http.StatusInternalServerError, a.status, path)
		for _, secret := range visitorSecrets {
			isAsked := strings.Contains(path, secret) || strings.HasPrefix(path, "requests/") || strings.HasPrefix(path, "run/")
			if secret == "oyster" && isAsked {
				continue // the page of a request shows the names of fields
			}
			if i := strings.Index(a.body, secret); i >= 0 {
				assert.Fail(t, fmt.Sprintf("%s %s as %s shows %s", method, path, accept, secret), "%.120s", a.body[max(0, i-60):])
				break
			}
		}
	}
}

// TestRecordedSecrets looks for the secrets of a visitor, recorded as they are, in every page that readers and
// authors can open.
func TestRecordedSecrets(t *testing.T) {
	s := recordedSite(t)
	ada := s.person("ada", "owner")
	all := s.secretObjects()
	require.Greater(t, len(all), 20)
	then := ada.lastChange()
	for role, b := range map[string]*browser{
		"reader": s.person("rita", "reader"), "author": s.person("bob", "author user.pages scratchpad"),
	} {
		t.Run(role, func(t *testing.T) {
			for _, a := range append(all, nil) {
				at := "address=" + url.QueryEscape(a.String())
				for _, page := range []string{
					"at", "at?show=1&view=grid&sort=.&sum=1", "at?view=list&sort=size", "at?show=1&view=list&at=" + fmt.Sprint(then),
					"raw?show=1", "raw?at=" + fmt.Sprint(then), "tree", "run", "history", "history/diff?from=1",
					"complete?prefix=" + url.QueryEscape(a.String()+"."), "hover?name=" + url.QueryEscape(a.String()),
				} {
					joint := "?"
					if strings.Contains(page, "?") {
						joint = "&"
					}
					b.noSecrets("GET", page+joint+at)
				}
				b.noSecrets("POST", "edit?"+at, "do", "save", "kind", "string", "value", "x", "version", "1")
				b.noSecrets("POST", "at?"+at, "do", "copy", "to", "user.pages.copied")
				b.noSecrets("POST", "at?"+at, "do", "move", "to", "user.pages.moved")
				b.noSecrets("POST", "at?"+at, "do", "cell", "cell", a.String(), "value", "x", "version", "1")
			}
			for _, secret := range visitorSecrets {
				for q := "find?q=" + secret; q != ""; {
					m := b.json(q)
					assert.Empty(t, m["objects"], q)
					q = ""
					if next, ok := m["next"].(string); ok {
						q = "find?q=" + secret + "&from=" + next
					}
				}
				assert.Empty(t, b.json("requests?text=" + secret)["requests"])
			}
			b.noSecrets("GET", "find?q=scratchpad.cgiparams")
			for n := int64(1); n <= then; n++ {
				b.noSecrets("GET", fmt.Sprintf("history/%d", n))
			}
			for _, page := range []string{
				"", "requests", "requests?part=list", "requests/1", "requests/2?secrets=shown", "history", "status",
				"run/suites.webserverScripts.x?as=kept", "map?url=%2Fx.fcgi", "settings", "doctor", "saves",
			} {
				b.noSecrets("GET", page)
			}
			for _, do := range []string{"now", "then", "compare", "recorded"} {
				b.noSecrets("POST", "requests/1?secrets=shown", "do", do, "secrets", "shown")
			}
			b.noSecrets("POST", "run/suites.webserverScripts.x", "as", "kept", "request", "1")
		})
	}
	assert.Nil(t, s.get("user.pages.copied"))
	assert.Nil(t, s.get("user.pages.moved"))
}

// TestOwnersShowRecordedSecrets checks that an owner sees a recorded secret only when asking for it.
func TestOwnersShowRecordedSecrets(t *testing.T) {
	s := recordedSite(t)
	ada := s.person("ada", "owner")
	const at = "at/scratchpad.cgiparams.argTable.password"
	for _, path := range []string{
		at, "at/scratchpad.cgiparams.argTable", "at/scratchpad.cgiparams.argTable?view=grid", "at/scratchpad.cgiparams",
		"at/scratchpad.cgiparamsLog", "at?address=scratchpad.cgiparamsLog.[%22000000001%22]", "requests/1", "requests", "",
	} {
		page := ada.get(path).body
		for _, secret := range visitorSecrets[:len(visitorSecrets)-1] { // names are shown
			lacks(t, page, secret)
		}
	}
	assert.Empty(t, ada.json("find?q=swordfish")["objects"])
	for page, button := range map[string]string{
		at: "value.show", "at/scratchpad.cgiparams.argTable?view=list": "table.show",
		"at/scratchpad.cgiparams.argTable?view=grid": "table.show",
	} {
		show := ""
		for _, n := range ada.get(page).find("a", "href") {
			if textOf(n) == text(button) {
				show = attributeOf(n, "href")
			}
		}
		require.NotEmpty(t, show, page)
		assert.Contains(t, ada.get(show).body, "swordfish", page)
		lacks(t, ada.get(show).body, text(button))
		assert.Contains(t, ada.send("GET", show, nil, map[string]string{"Accept": "application/json"}).body, `"swordfish"`)
	}
	rita := s.person("rita", "reader")
	s.put("user.password", objectdb.String("hush"))
	lacks(t, rita.get("at/user?view=list").body, text("table.show"))
	lacks(t, rita.get("at/user?view=list").body, "4 B")
}
