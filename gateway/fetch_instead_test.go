package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/site"
)

// TestFetchInTests checks that a test asks nobody, and gets what it says.
func TestFetchInTests(t *testing.T) {
	s := newSite(t)
	o := s.other(nil)
	s.script("rates", `local a, why = http.fetch ("https://bank.example/rates", {json = {1}, headers = {["X-Key"] = "k"}})
		return a and a.status .. a.body .. (a.headers ["x-a"] or "") or why`)
	s.pass(`local asked = expect.fetch ("POST https://bank.example/rates", {status = 201, body = "one", headers = {["X-A"] = "b"}})
		expect.fetch ("POST https://bank.example/rates", "timed out")
		expect.fetch ("https://other.example/*", {json = {a = {1, 2}}})
		expect.equal (request {path = "/rates.fcgi"}.body, "201oneb")
		expect.equal (request {path = "/rates.fcgi"}.body, "timed out")
		expect.equal (request {path = "/rates.fcgi"}.body, "timed out")
		expect.equal (#asked, 3)
		expect.equal (asked [1], {method = "POST", url = "https://bank.example/rates", body = "[1]",
			headers = {["x-key"] = "k", ["content-type"] = "application/json"}})
		expect.equal (http.fetch ("https://other.example/x?y").json ().a [2], 2)
		expect.equal (http.fetch ("https://other.example/").url, "https://other.example/")
		expect.error (function () http.fetch ("https://bank.example/rates") end,
			'a test asks no other host; say what it answers: expect.fetch %("https://bank.example/rates", {body = …}%)')
		expect.error (function () http.fetch (user.other) end, "a test asks no other host")
		expect.error (function () http.fetch ("https://other.example/", {headers = {Host = "x"}}) end, "is made by http.fetch")
		expect.error (function () expect.fetch ("bank", {}) end, "a URL, or a method and a URL")
		expect.error (function () expect.fetch ("https://x/", {stauts = 3}) end, "an answer has no field stauts")
		expect.error (function () expect.fetch ("https://x/", {status = 3}) end, "status is a number from 100 to 599")`)
	assert.Empty(t, o.requests())
	_, err := s.g.Runner().Eval(t.Context(), runner.Options{}, `expect.fetch ("https://x/", {})`)
	assert.ErrorContains(t, err, "undefined name: expect")
}

// TestFetchRecorded checks what is recorded of fetches, and that a replay gets it and asks nobody.
func TestFetchRecorded(t *testing.T) {
	s := debugging(t)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Set-Cookie", "id=hush")
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/secret":
			io.WriteString(w, `{"access_token": "hush"}`)
		case "/long":
			io.WriteString(w, strings.Repeat("x", 70000))
		case "/binary":
			io.WriteString(w, "\xff")
		case "/slow":
			time.Sleep(200 * time.Millisecond)
		case "/moved":
			http.Redirect(w, r, "/a", http.StatusFound)
		default:
			io.WriteString(w, r.URL.Path)
		}
	}))
	defer server.Close()
	s.list(site.KeyFetchPrivate, strings.TrimPrefix(server.URL, "http://"))
	s.put("user.other", objectdb.String(server.URL))
	s.script("x", `local texts = {}
		for i, path in ipairs {"/a?q=1&token=hush", "/b", "/a?q=1&token=hush", "/slow", "/moved"} do
			local a, why = http.fetch (user.other .. path, {timeout = 0.1, headers = {Authorization = "hush"}})
			texts [i] = a and a.body or "none"
		end
		for _, path in ipairs {"/secret", "/long", "/binary"} do
			local ok, a = pcall (http.fetch, user.other .. path)
			texts [#texts + 1] = ok and #a.body or a:match ("has no body: [^;]*")
		end
		return table.concat (texts, " ")`)
	assert.Equal(t, "/a /b /a none /a 24 70000 1", s.ask("/x.fcgi", nil).Body)
	k := s.lastRecorded()
	require.Len(t, k.Fetches, 8)
	first := k.Fetches[0]
	assert.Equal(t, []any{"GET", server.URL + "/a?q=1&token=" + requestlog.Masked, 200, "/a", 2}, []any{
		first.Method, first.URL, first.Status, first.Body, first.Size})
	assert.Equal(t, []string{requestlog.Masked}, first.Header["Set-Cookie"])
	assert.Contains(t, k.Fetches[3].Failure, "has not answered")
	assert.Equal(t, server.URL+"/a", k.Fetches[4].End)
	assert.Equal(t, 70000, k.Fetches[6].Size)
	assert.NotContains(t, s.recordedText(), "hush")

	before := asked.Load()
	text, _, _ := s.replay(k, ReplayOptions{})
	assert.Contains(t, text, "/a /b /a none /a has no body: it was masked has no body: it is too long to be recorded has no body: it is no text")
	s.script("x", `return select (2, pcall (http.fetch, user.other .. "/new"))`)
	text, _, _ = s.replay(k, ReplayOptions{Commit: true})
	assert.Contains(t, text, "the recorded request has not fetched this (GET http://127.0.0.1:")
	assert.Equal(t, before, asked.Load())

	// With secrets.
	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	s.script("x", `return http.fetch (user.other .. "/secret?token=hush").body`)
	assert.Contains(t, s.ask("/x.fcgi", nil).Body, "hush")
	k = s.lastRecorded()
	require.Len(t, k.Fetches, 1)
	assert.Equal(t, []string{server.URL + "/secret?token=hush", `{"access_token": "hush"}`}, []string{k.Fetches[0].URL, k.Fetches[0].Body})
	text, _, _ = s.replay(k, ReplayOptions{})
	assert.Contains(t, text, `{"access_token": "hush"}`)
	shown := k.WithoutSecrets().Fetches[0]
	assert.NotContains(t, shown.URL+shown.Body, "hush")
	assert.Equal(t, "it was masked", shown.Lost)
}
