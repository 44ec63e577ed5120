package corpus

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A parityPair is a request that tries to leave something behind, and one that
// looks for it. Both are Lua text, which the script parity of the site runs.
type parityPair struct{ name, leave, find string }

// parityPairs are tried on every transport. What find returns there, after leave,
// must be what it returns in a CGI process that nothing came before.
var parityPairs = []parityPair{
	{"globals", `left = 1 _G.left = 2 rawset (_G, "left", 3) function leftToo () end`,
		`return tostring (rawget (_G, "left")) .. tostring (rawget (_G, "leftToo")) .. tostring (pcall (function () return left end))`},
	{"functions replaced", `type = nil tostring = function () return "left" end pairs = function () return next, {"left"} end error = print`,
		`local t = {} for k in pairs ({a = 1}) do t [#t + 1] = k end return type (1) .. tostring (nil) .. t [1]`},
	{"library tables", `string.left = 1 string.upper = function () return "left" end table.insert = nil math.pi = 3 os.time = nil table = nil coroutine = {}`,
		`local t = {} table.insert (t, string.upper ("x")) return tostring (string.left) .. t [1] .. math.floor (math.pi * 100) .. type (os.time) .. type (coroutine.wrap)`},
	{"methods of strings", `string.upper = function () return "left" end string.rep = nil string.left = function () end`,
		`local s = "x" return s:upper () .. s:rep (2) .. tostring (pcall (function () return s:left () end))`},
	{"metatable of strings", `pcall (function () getmetatable ("").__index = {left = 1} end) pcall (setmetatable, "", {__index = {left = 1}, __add = function () return "left" end})`,
		`return tostring (getmetatable ("")) .. tostring (("").left) .. tostring (pcall (function () return "a" + "b" end))`},
	{"metatable of _G", `pcall (setmetatable, _G, {__index = function () return "left" end}) pcall (function () getmetatable (_G).__index = function () return "left" end end)`,
		`return tostring (getmetatable (_G)) .. tostring (pcall (function () return nothingOfThatName end))`},
	{"metatables of the root", `pcall (setmetatable, user, {__index = {left = 1}}) pcall (rawset, user, "left", 1) local m = getmetatable (user) pcall (function () m.__index = {left = 1} end)`,
		`return tostring (getmetatable (user)) .. tostring (getmetatable (user.parity)) .. tostring (user.left) .. tostring (suites.left)`},
	{"metatables of parameters", `local p = ... pcall (setmetatable, p, {__index = {left = 1}}) pcall (setmetatable, p.headers, {__index = {left = 1}}) p.left = 1 p.headers.left = 1 p.cgi.left = 1`,
		`local p = ... return tostring (getmetatable (p)) .. tostring (p.left) .. tostring (p.headers.left) .. tostring (p.cgi.left)`},
	{"environments", `pcall (function () getfenv (0).left = 1 setfenv (0, {left = 1}) setfenv (tostring, {}) end) pcall (function () debug.getregistry ().left = 1 end)`,
		`return tostring (rawget (_G, "left")) .. tostring (pcall (function () return getfenv end)) .. tostring (1)`},
	{"upvalues of a script", `local l = require ("user.parity.library") l.count () l.count () l.word = "left"`,
		`local l = require ("user.parity.library") return l.word .. l.count ()`},
	{"loaded scripts", `local l = require ("user.parity.library") for k in pairs (l) do l [k] = "left" end pcall (function () package.loaded.string = {left = 1} end)`,
		`return type (require ("user.parity.library").count) .. tostring (pcall (function () return package end)) .. type (string.upper)`},
	{"coroutines", `held = coroutine.wrap (function () while true do coroutine.yield ("left") end end) held () local t = {} for i = 1, 900 do t [i] = coroutine.create (held) end`,
		`local n = 0 for i = 1, 900 do coroutine.create (function () end) n = n + 1 end return n .. tostring (coroutine.running ()) .. tostring (rawget (_G, "held"))`},
	{"random numbers", `math.randomseed (42)`,
		`local a = math.random (2 ^ 40) math.randomseed (42) local b = math.random (2 ^ 40) return tostring (a == b) .. b`},
	{"what a run may use", `local t = {} for i = 1, 1e4 do t [i] = {} end for i = 1, 3e5 do end pcall (string.rep, "x", 2 ^ 30)`,
		`local t = {} for i = 1, 1e4 do t [i] = {} end for i = 1, 3e5 do end return #t .. #("x"):rep (2 ^ 20)`},
	{"results of verbs", `local t = json.decode ('{"a": [1, 2]}') t.a [1] = "left" t.left = 1 local a = url.parseArgs ("a=1") a.a = "left" a.left = 1`,
		`local t = json.decode ('{"a": [1, 2]}') local a = url.parseArgs ("a=1") return t.a [1] .. tostring (t.left) .. tostring (a.a) .. tostring (a.left)`},
	{"values of the root", `local l = user.parity.list l [1] = "left" l [3] = "left" local t = odb.get ("user.parity.text")`,
		`return table.concat (user.parity.list, " ") .. user.parity.text`},
	{"compiled scripts", `user.parity.script = odb.script ('return "left"') user.parity.script () error ("not kept")`,
		`return user.parity.script ()`},
	{"parsed pages", `user.parity.text = "left" webserver.processMacros (user.parity.text) error ("not kept")`,
		`return webserver.processMacros (user.parity.text)`},
	{"new objects", `user.parity.left = {a = 1} odb.rename ("user.parity.list", "left2") odb.delete ("user.parity.library") error ("not kept")`,
		`local t = {} for name in odb.pairs (user.parity) do t [#t + 1] = name end return table.concat (t, " ")`},
	{"verbs hidden", `html.escape = 1 json = nil system.verbs.builtins.url.decode = "left" error ("not kept")`,
		`return html.escape ("<") .. type (json.decode) .. url.decode ("%41")`},
	{"half an answer", `write ("left") webserver.util.setCookie ("left", "1") error ("not kept")`,
		`return "nothing before"`},
	{"an error value", `error (setmetatable ({}, {__tostring = function () return "left" end}))`,
		`return tostring (pcall (error, "mine")) .. tostring (select (2, pcall (error)))`},
	{"tables of the libraries", `for name, t in pairs (_G) do if type (t) == "table" and name ~= "_G" then for k in pairs (t) do t [k] = nil end end end`,
		`return #string.format ("%5.1f", math.sqrt (2)) .. type (os.clock ()) .. #table.concat ({"a", "b"})`},
	{"odb replaced", `odb.get = function () return "left" end odb.left = 1 require = nil`,
		`return odb.get ("user.parity.text") .. tostring (odb.left) .. type (require)`},
}

//go:embed testdata/reachable.lua
var reachableSource string

// reachable is the list of all that a script can reach, held by hand: a name
// that appears here without anybody's will is a way out of the sandbox.
//
//go:embed testdata/reachable.txt
var reachable string

// parityTries is how often each request of a pair is sent, all at once: a transport
// may have several processes.
const parityTries = 4

// parity puts hostile pairs of requests through a transport. fresh is what the
// looking half of each finds in a process of its own.
func parity(t *testing.T, client Client, fresh map[string]string) {
	t.Run("parity", func(t *testing.T) {
		for _, p := range parityPairs {
			t.Run(p.name, func(t *testing.T) {
				client.runLua(t, p.leave)
				for _, got := range client.runLua(t, p.find) {
					if got != fresh[p.name] {
						t.Errorf("finds %q, in a fresh process %q", clip(got), clip(fresh[p.name]))
					}
				}
			})
		}
		t.Run("reachable", func(t *testing.T) {
			for _, got := range client.runLua(t, reachableSource) {
				sameLines(t, reachable, got)
			}
		})
	})
}

// sameLines tells which lines of a list are new, and which are missing.
func sameLines(t *testing.T, want, got string) {
	t.Helper()
	wanted, found := strings.Fields(strings.ReplaceAll(want, " ", "\x00")), strings.Fields(strings.ReplaceAll(got, " ", "\x00"))
	for _, line := range found {
		if !slices.Contains(wanted, line) {
			t.Errorf("a script can reach %q, which testdata/reachable.txt does not list: add it if that is meant", strings.ReplaceAll(line, "\x00", " "))
		}
	}
	for _, line := range wanted {
		if !slices.Contains(found, line) {
			t.Errorf("a script cannot reach %q, which testdata/reachable.txt lists", strings.ReplaceAll(line, "\x00", " "))
		}
	}
}

// runLua has a Lua text run, several times at once, and returns what each run
// answered: the body, or the status where it failed.
func (c Client) runLua(t *testing.T, source string) [parityTries]string {
	t.Helper()
	head := fmt.Sprintf("POST /parity.fcgi HTTP/1.0\r\nHost: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", c.Addr, len(source))
	var got [parityTries]string
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			conn, err := c.Dial()
			if err != nil {
				got[i] = err.Error()
				return
			}
			defer conn.Close()
			r, err := conn.Do([]byte(head + source))
			if err != nil {
				got[i] = err.Error()
				return
			}
			got[i] = parityAnswer(r.Status, r.Body)
			if cookie, ok := r.Field("Set-Cookie"); ok {
				got[i] += " and the cookie " + cookie
			}
		})
	}
	wg.Wait()
	return got
}

func parityAnswer(status int, body string) string {
	if status == 200 {
		return body
	}
	return fmt.Sprintf("status %d", status)
}

// freshAnswers asks what each pair looks for of a CGI process of its own, before
// anything else was asked of the site.
func (s *Site) freshAnswers(t *testing.T) map[string]string {
	t.Helper()
	fresh := make(map[string]string, len(parityPairs))
	for _, p := range parityPairs {
		fresh[p.name] = s.freshAnswer(t, p.find)
		if strings.HasPrefix(fresh[p.name], "status ") {
			t.Fatalf("parity: %s: what looks for it fails by itself: %s", p.name, fresh[p.name])
		}
	}
	return fresh
}

func (s *Site) freshAnswer(t *testing.T, source string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Program("scripter-cgi"))
	cmd.Dir = s.Programs
	cmd.Env = []string{
		"SCRIPTER_ROOT=" + s.Root, "GATEWAY_INTERFACE=CGI/1.1", "SERVER_SOFTWARE=Apache/2.4 (model)", "SERVER_PROTOCOL=HTTP/1.0",
		"REQUEST_METHOD=POST", "SCRIPT_NAME=/parity.fcgi", "REQUEST_URI=/parity.fcgi", "DOCUMENT_ROOT=" + s.WWW,
		"CONTENT_TYPE=text/plain", fmt.Sprint("CONTENT_LENGTH=", len(source)),
	}
	if uid, gid, ok := ServerUser(t); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(source), &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("scripter-cgi: %v\n%s", err, log.String())
	}
	head, body, ok := strings.Cut(out.String(), "\r\n\r\n")
	var status int
	if _, err := fmt.Sscanf(head, "Status: %d", &status); err != nil || !ok {
		t.Fatalf("scripter-cgi answered %q\n%s", clip(out.String()), log.String())
	}
	return parityAnswer(status, body)
}
