package admin

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestHome checks the first page: recent changes, failed requests and warnings.
func TestHome(t *testing.T) {
	s := newSite(t)
	ada, eve := s.person("ada", "owner"), s.person("eve", "reader")
	for _, b := range []*browser{ada, eve} {
		page := b.get("")
		require.Equal(t, 200, page.status, page.body)
		assert.Contains(t, page.body, `href="/scripter/at/suites.webserverScripts"`, "what to do next")
		assert.Empty(t, b.json("?")["warnings"])
	}
	data := ada.json("?")
	assert.Greater(t, data["objects"], 20.0)
	assert.Greater(t, data["bytes"], 10000.0)
	assert.Equal(t, false, data["about"])

	s.update(func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"user", nasty}, objectdb.String(nasty)) })
	s.put("suites.webserverScripts.x", objectdb.Script(`error ("boom")`))
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(true))
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	s.put("user.webserver.chunkSize", objectdb.String(nasty))
	s.put("user.webserver.serverPath", objectdb.String("/nowhere/"+nasty))
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(false))
	s.visit("GET", "/x.fcgi?password=hush", "", nil)
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(true))

	data = eve.json("?")
	var about []string
	for _, w := range data["warnings"].([]any) {
		about = append(about, w.(map[string]any)["address"].(string))
	}
	assert.Equal(t, []string{"user.webserver.flRefuseConnections", "user.webserver.flDebugSecrets",
		"user.webserver.serverPath", "user.webserver.chunkSize"}, about)
	failed := data["failed"].([]any)
	require.Len(t, failed, 1)
	assert.Equal(t, "/x.fcgi?password=(masked)", failed[0].(map[string]any)["url"])
	changes := data["changes"].([]any)
	require.Len(t, changes, homeRows)
	assert.Equal(t, "changed user.webserver.flRefuseConnections", changes[0].(map[string]any)["summary"])
	page := ada.get("")
	lacks(t, page.body, "<script>alert")
	assert.Contains(t, page.body, `href="/scripter/requests/1"`)

	first := changes[homeRows-1].(map[string]any)["number"]
	then := ada.get(fmt.Sprintf("?at=%v", first))
	require.Equal(t, 200, then.status, then.body)
	last := ada.json(fmt.Sprintf("?at=%v", first))
	assert.Equal(t, first, last["changes"].([]any)[0].(map[string]any)["number"])
	assert.Empty(t, last["failed"])
}

// TestHomeLater checks that what to do next is not said for ever.
func TestHomeLater(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	for i := range homeNew + 1 {
		s.put("user.n", objectdb.Number(i))
	}
	lacks(t, ada.get("").body, text("home.next"))
}
