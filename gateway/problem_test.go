package gateway

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestWantsJSON checks which requests get problems instead of pages.
func TestWantsJSON(t *testing.T) {
	const form, data = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct {
		accept, contentType string
		want                bool
	}{
		{"", "", false},
		{"*/*", "", false},
		{"*/*", data, true},
		{"", "Application/JSON; charset=utf-8", true},
		{"", "application/merge-patch+json", true},
		{"", "text/json-ish", false},
		{"", form, false},
		{"application/json", form, true},
		{"text/html", data, false},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "", false},
		{"application/json, text/html", "", true},
		{"application/json;q=0.5, text/html", "", false},
		{"application/json;q=0, text/html;q=0", data, true},
		{"application/problem+json;q=2", "", false},
		{"APPLICATION/JSON ; Q=0.5", "", true},
	} {
		r := &Request{Params: map[string]string{"HTTP_ACCEPT": c.accept, "CONTENT_TYPE": c.contentType}}
		assert.Equal(t, c.want, r.wantsJSON(), "%s, %s", c.accept, c.contentType)
	}
}

// TestProblems checks the answers of the gateway itself to a program, and what the developer gets.
func TestProblems(t *testing.T) {
	s := newSite(t)
	s.script("x", `return params.json.a.b`)
	ask := func(method, body string, more map[string]string) (int, string, string) {
		vars := map[string]string{"REQUEST_METHOD": method, "CONTENT_TYPE": "application/json"}
		for name, value := range more {
			vars[name] = value
		}
		r := s.request("/x.fcgi", vars)
		if body != "" {
			vars["CONTENT_LENGTH"] = "3"
			r = s.request("/x.fcgi", vars)
			r.Body = strings.NewReader(body)
		}
		resp, _ := s.answer(r)
		return resp.Status, resp.Get("Content-Type"), resp.Body
	}
	status, kind, body := ask("POST", "{x}", nil)
	assert.Equal(t, 400, status)
	assert.Equal(t, "application/problem+json", kind)
	assert.Contains(t, body, `"detail":"The body is not JSON: at byte 1: `)

	status, _, body = ask("POST", "{} ", nil)
	assert.Equal(t, 500, status)
	assert.NotContains(t, body, "attempt to index")
	s.put("user.webserver.debugToken", objectdb.String("token"))
	status, kind, body = ask("POST", "{} ", map[string]string{"HTTP_SCRIPTER_TOKEN": "token"})
	assert.Equal(t, 500, status)
	assert.Equal(t, "application/problem+json", kind)
	assert.Contains(t, body, "attempt to index")

	status, kind, _ = ask("TRACE", "", nil)
	assert.Equal(t, 405, status)
	assert.Equal(t, "application/problem+json", kind)
	s.put("user.webserver.errorStatus", objectdb.Number(200))
	status, _, _ = ask("POST", "{} ", nil)
	assert.Equal(t, 500, status, "a program needs the status")
	s.put("user.webserver.maxBody", objectdb.Number(0))
	status, kind, _ = ask("POST", "{} ", nil)
	assert.Equal(t, 413, status)
	assert.Equal(t, "application/problem+json", kind)
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(true))
	status, kind, body = ask("GET", "", nil)
	assert.Equal(t, 503, status)
	assert.Equal(t, "application/problem+json", kind)
	assert.Contains(t, body, "maintenance")
}

// TestJSONParams checks that the parameter json is made once, when a script reads it, within the limits, and
// is no bare name.
func TestJSONParams(t *testing.T) {
	s := newSite(t)
	ask := func(source, body string) (int, string) {
		s.script("x", source)
		r := s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "PUT", "CONTENT_TYPE": "application/json"})
		r.Body = strings.NewReader(body)
		r.Params["CONTENT_LENGTH"] = strconv.Itoa(len(body))
		resp, _ := s.answer(r)
		return resp.Status, resp.Body
	}
	status, body := ask(`return "not read"`, "{")
	assert.Equal(t, 200, status)
	assert.Equal(t, "not read", body)
	_, body = ask(`local ok, why = pcall (function () return params.json end) return tostring (ok) .. " " .. tostring (why):match ("not JSON")`, "{")
	assert.Equal(t, "false not JSON", body)
	_, body = ask(`local first = params.json return tostring (type (json.encode) == "function" and first == params.json and JSON.encode (first))`,
		`{"a":[]}`)
	assert.Equal(t, `{"a":[]}`, body)
	_, body = ask(`for name in pairs (params) do assert (name ~= "json") end return params.json.a`, `{"a":"after pairs"}`)
	assert.Equal(t, "after pairs", body)
	_, body = ask(`return tostring (params.json == json.null)`, `null`)
	assert.Equal(t, "true", body)
	_, body = ask(`return tostring (params.json)`, ``)
	assert.Equal(t, "nil", body)
	s.put("user.webserver.maxInstructions", objectdb.Number(0.1))
	status, body = ask(`return #params.json`, "["+strings.Repeat("1,", 50_000)+"1]")
	assert.Equal(t, 500, status, body)
}

func FuzzAccepted(f *testing.F) {
	f.Add("text/html,application/json;q=0.9")
	f.Add(";q=;,=,application/x+json;q=NaN")
	f.Fuzz(func(t *testing.T, field string) {
		data, page := accepted(field)
		assert.True(t, 0 <= data && data <= 1 && 0 <= page && page <= 1)
	})
}
