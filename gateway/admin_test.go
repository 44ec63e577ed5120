package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// echoAdmin is a web page that tells what has arrived.
type echoAdmin struct{ answers bool }

func (e *echoAdmin) Answers(*site.Snapshot) bool { return e.answers }

func (e *echoAdmin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Cookie", r.Header.Get("Cookie"))
	w.Header().Add("Set-Cookie", "a=1")
	w.Header().Add("Set-Cookie", "b=2")
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, "%s %s %s %s tls=%v %s %s [%s]", r.Method, r.Host, r.URL.Path, r.URL.RawQuery, r.TLS != nil, r.RemoteAddr,
		r.Header.Get("Content-Type"), body)
}

// TestAdmin passes requests on to the web page, as web servers split their paths.
func TestAdmin(t *testing.T) {
	db := newDB(t)
	page := &echoAdmin{answers: true}
	g := New(Options{DB: db})
	g.SetAdmin(page)
	ask := func(more map[string]string, body string) string {
		p := map[string]string{"REQUEST_METHOD": "POST", "SCRIPT_NAME": "/scripter/at/user.x", "QUERY_STRING": "a=%2F",
			"HTTP_HOST": "example.org", "HTTPS": "on", "REMOTE_ADDR": "192.0.2.7", "REMOTE_PORT": "99",
			"CONTENT_TYPE": "text/plain", "CONTENT_LENGTH": fmt.Sprint(len(body)), "HTTP_COOKIE": "s=1"}
		for name, value := range more {
			p[name] = value
		}
		var b strings.Builder
		g.Answer(context.Background(), &Request{Params: p, Body: strings.NewReader(body), Form: Parsed}, &b)
		return b.String()
	}
	answer := ask(nil, "text")
	assert.Contains(t, answer, "Status: 202 Accepted")
	assert.Contains(t, answer, "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n")
	assert.Contains(t, answer, "X-Cookie: s=1")
	assert.Contains(t, answer, "Cache-Control: private, no-cache")
	assert.True(t, strings.HasSuffix(answer, "POST example.org /scripter/at/user.x a=%2F tls=true 192.0.2.7:99 text/plain [text]"), answer)

	for _, path := range [][2]string{
		{"/scripter", "/at/user.x"}, {"/scripter/", "at/user.x"}, {"", "/scripter/at/user.x"},
		{"/cgi-bin/Scripter.acgi", "/scripter/at/user.x"}, {"//scripter//at/user.x", ""},
	} {
		uri := map[string]string{"SCRIPT_NAME": path[0], "PATH_INFO": path[1], "REQUEST_URI": "/scripter/at/user.x"}
		assert.Contains(t, ask(uri, ""), " /scripter/at/user.x ", path)
	}
	assert.Contains(t, ask(map[string]string{"SCRIPT_NAME": "/scripter"}, ""), " /scripter ")
	assert.Contains(t, ask(map[string]string{"SCRIPT_NAME": "/scripter/at/user.page.mcro"}, ""), " /scripter/at/user.page.mcro ")
	assert.NotContains(t, ask(map[string]string{"SCRIPT_NAME": "/scripterx/at"}, ""), "202")
	assert.Contains(t, ask(map[string]string{"HTTPS": ""}, ""), "tls=false")

	// Maintenance does not keep its owner out.
	update(t, db, func(tx *objectdb.Tx) error { return tx.Put(site.FlRefuseConnections.Address(), objectdb.Boolean(true)) })
	assert.Contains(t, ask(nil, ""), "202")
	update(t, db, func(tx *objectdb.Tx) error {
		return tx.Put(site.FlRefuseConnections.Address(), objectdb.Boolean(false))
	})

	// Another path, and none.
	update(t, db, func(tx *objectdb.Tx) error { return tx.Put(site.AdminPath.Address(), objectdb.String("/_people/")) })
	assert.Contains(t, ask(nil, ""), "Status: 404")
	assert.Contains(t, ask(map[string]string{"SCRIPT_NAME": "/_people/x"}, ""), " /_people/x ")
	update(t, db, func(tx *objectdb.Tx) error { return tx.Put(site.AdminPath.Address(), objectdb.String("")) })
	assert.Contains(t, ask(map[string]string{"SCRIPT_NAME": "/_people/x"}, ""), "Status: 404")

	// While the web page is not there, its path is that of any script.
	update(t, db, func(tx *objectdb.Tx) error {
		if err := tx.Put(site.AdminPath.Address(), objectdb.String("/scripter/")); err != nil {
			return err
		}
		if err := tx.Put(site.ScriptFolders.Address(), objectdb.String("*")); err != nil {
			return err
		}
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "own"}, objectdb.Script(`return "own"`))
	})
	page.answers = false
	assert.Contains(t, ask(map[string]string{"SCRIPT_NAME": "/scripter/own.fcgi"}, ""), "own")
	page.answers = true
	require.NotContains(t, ask(map[string]string{"SCRIPT_NAME": "/scripter/own.fcgi"}, ""), "\r\n\r\nown")
}

// TestAdminBody refuses a body above the limit before the web page sees it.
func TestAdminBody(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *objectdb.Tx) error { return tx.Put(site.MaxBody.Address(), objectdb.Number(1)) })
	g := New(Options{DB: db})
	g.SetAdmin(&echoAdmin{answers: true})
	var b strings.Builder
	body := strings.Repeat("x", 2<<20)
	g.Answer(context.Background(), &Request{Params: map[string]string{"REQUEST_METHOD": "POST", "SCRIPT_NAME": "/scripter/",
		"CONTENT_LENGTH": fmt.Sprint(len(body))}, Body: strings.NewReader(body), Form: Parsed}, &b)
	assert.Contains(t, b.String(), "Status: 413")
}
