package gateway

import (
	"flag"
	"html"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
)

var updateMarkers = flag.Bool("update-markers", false, "rewrite testdata/markers.txt")

// TestMarkersReach tries in a new root what a marker can call, show or pass as an
// argument: every object, every verb, every name that a script can reach, every
// parameter of the request. It compares the list with testdata/markers.txt. Everything
// else must be refused as a marker, as a call and as an argument.
func TestMarkersReach(t *testing.T) {
	s := newSite(t)
	s.put("workspace.echo", objectdb.Script(`return "got " .. type (...) .. " " .. tostring (...)`))
	s.put("user.webserver.debugToken", objectdb.String("seesame"))
	s.put("user.webserver.users.default.ada", objectdb.String("seesame"))
	s.put("user.webserver.roles.ada", objectdb.String("seesame"))
	s.put("user.webserver.sessions.abc", objectdb.String("seesame"))
	s.put("user.webserver.failedLogins.abc", objectdb.String("seesame"))
	s.put("user.webserver.lastLogins.ada", objectdb.String("seesame"))
	s.put("scratchpad.cgiparams.password", objectdb.String("seesame"))
	s.put("system.temp.probes.x", objectdb.String("seesame"))
	params := map[string]string{
		"HTTP_AUTHORIZATION": "Basic YWRhOnNlZXNhbWU=", "HTTP_COOKIE": "id=seesame", "HTTP_SCRIPTER_TOKEN": "seesame",
		"HTTP_PROXY_AUTHORIZATION":    "seesame",
		"REDIRECT_HTTP_AUTHORIZATION": "seesame", "DB_PASSWORD": "seesame",
		"HTTP_REFERER": "http://a.test/", "QUERY_STRING": "q=1",
	}
	var names []string
	for _, c := range paramCells {
		names = append(names, c.name)
	}
	for name := range params {
		names = append(names, "cgi."+name)
		if h, ok := strings.CutPrefix(name, "HTTP_"); ok {
			names = append(names, "headers."+fieldName(h))
		}
	}
	names = append(names, "cookies.id", "searchTable.q")
	reachable, err := os.ReadFile("../internal/corpus/testdata/reachable.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(reachable)) {
		if name, _, _ := strings.Cut(line, " "); name != "metatable" {
			names = append(names, strings.Replace(name, "verbs.", "system.verbs.builtins.", 1))
		}
	}
	var list []string
	r := &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}, Developer: true}
	for name, value := range params {
		r.Params[name] = value
	}
	_, err = s.g.runner.Run(t.Context(), runner.Options{ReadOnly: true}, func(run *runner.Run) error {
		c := s.g.newExchange(r, nil).newDispatched(run)
		require.NoError(t, c.begin())
		require.NoError(t, c.Tx.Walk(nil, func(a objectdb.Address, _ *objectdb.Node) error {
			if len(a) > 0 {
				names = append(names, a.String())
			}
			return nil
		}))
		e := &evaluator{c: c, page: "test", parts: &parts{}}
		eval := func(marker string) string {
			e.out = &pageText{}
			require.NoError(t, e.Insert(macros.Parse(marker).Markers()[0]), marker)
			return e.out.String()
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			m := macros.Parse("<!--#" + name + "-->").Markers()[0]
			require.NoError(t, m.Err, name)
			path := m.Expr.(macros.Name).Path
			found, err := e.lookup(path)
			require.NoError(t, err, name)
			switch {
			case !found.Found:
			case callable(found.Value) && e.checkCall(found, path) == nil:
				list = append(list, "call "+name)
				continue
			case callable(found.Value), found.Origin == script.FromLua, e.checkArgument(found, path) != nil:
			case isTable(found.Value):
				list = append(list, "pass "+name)
				continue
			default:
				list = append(list, "see "+name)
				continue
			}
			for _, marker := range []string{"<!--#" + name + "-->", "<!--#" + name + " ()-->", "<!--#raw (" + name + ")-->"} {
				text := eval(marker)
				if found.Found {
					assert.Contains(t, text, "[Macro error: ", marker)
				}
				assert.NotContains(t, text, "seesame", marker)
			}
			text := eval("<!--#workspace.echo (" + name + ")-->")
			if !strings.Contains(text, "[Macro error: ") {
				assert.Equal(t, "got string "+name, text, "as an argument it is its name")
			}
		}
		return nil
	})
	require.NoError(t, err)
	got := strings.Join(list, "\n") + "\n"
	if *updateMarkers {
		require.NoError(t, os.WriteFile("testdata/markers.txt", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/markers.txt")
	require.NoError(t, err)
	const how = "if that is intended: go test ./gateway -run TestMarkersReach -update-markers"
	listed := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, line := range list {
		assert.True(t, slices.Contains(listed, line),
			"a marker can %s, which testdata/markers.txt does not list; %s", line, how)
	}
	for _, line := range listed {
		assert.True(t, slices.Contains(list, line), "a marker cannot %s, which testdata/markers.txt lists; %s", line, how)
	}
}

// isTable reports whether a value is a table: a marker can only pass it to a call.
func isTable(v script.Value) bool {
	if o, ok := v.(*script.Object); ok {
		return o.Kind() == objectdb.KindTable
	}
	_, ok := v.(*script.Table)
	return ok
}

// TestMarkersCallNoCode checks what a marker must not do, wherever markers are
// expanded, and which error its author sees.
func TestMarkersCallNoCode(t *testing.T) {
	const code, secret = "is not for pages: markers call ", "is a secret: markers cannot see it"
	s := newSite(t)
	s.put("user.webserver.debugToken", objectdb.String("seesame"))
	s.put("user.webserver.users.default.ada", objectdb.String("seesame"))
	s.put("user.webserver.roles.ada", objectdb.String("seesame"))
	s.put("user.webserver.sessions.abc", objectdb.String("seesame"))
	s.put("user.webserver.failedLogins.abc", objectdb.String("seesame"))
	s.put("user.webserver.lastLogins.ada", objectdb.String("seesame"))
	s.put("user.greeting", objectdb.String("hi"))
	s.put("user.prices", objectdb.List{objectdb.Number(1)})
	s.put("user.stock.tea", objectdb.Number(7))
	s.put("user.source.x", objectdb.Script(`return "seesame"`))
	s.put("user.apply",
		objectdb.Script(`local f, x = ... return type (f) == "function" and "ran " .. tostring (f (x)) or f`))
	s.put("user.leak", objectdb.Script(`params = {password = "seesame"} f = loadstring return ""`))
	s.put("user.show",
		objectdb.Script(`return webserver.processMacros ((...), {double = function (x) return x .. x end, given = "<g>"})`))
	for marker, want := range map[string]string{
		`pcall (loadstring ("return 'seesame'"))`:             code,
		`loadstring ("return 'seesame'")`:                     code,
		`load`:                                                "load " + code,
		`require ("user.source.x")`:                           code,
		`string.rep ("x", 5)`:                                 code,
		`odb.set ("user.greeting", "changed")`:                code,
		`odb.get ("user.webserver.debugToken")`:               code,
		`system.verbs.builtins.webserver.setDirtyRoot ()`:     code,
		`webserver.setDirtyRoot ()`:                           code,
		`suites.webserver.getPref ("debugToken")`:             code,
		`WebServer.GetPref ("debugToken")`:                    code,
		`webserver.debugCGI ()`:                               code,
		`webserver.sendPartial ("seesame")`:                   code,
		`webserver.handler (searchTable)`:                     code,
		`webserver.dispatch (searchTable)`:                    code,
		`webserver.expandPage (searchTable)`:                  code,
		`webserver.parseArgs ("flDebug=true", user.stock)`:    code,
		`webserver.util.setCookie (searchTable, "a", "b")`:    code,
		`httpd.addUser ("eve", "seesame")`:                    code,
		`user.webserver.actions.MACRO (searchTable)`:          code,
		`system.verbs.traps.httpd.sdoc (searchTable)`:         code,
		`write ("seesame")`:                                   code,
		`user.webserver.debugToken`:                           secret,
		`user.["webserver"].["DEBUGTOKEN"]`:                   secret,
		`raw (user.webserver.debugToken)`:                     secret,
		`user.webserver.users.default.ada`:                    secret,
		`user.webserver.roles.ada`:                            secret,
		`user.webserver.sessions.abc`:                         secret,
		`json.encode (user.webserver.Sessions)`:               secret,
		`user.webserver.failedLogins.abc`:                     secret,
		`user.webserver.lastLogins.ada`:                       secret,
		`html.escape (user.webserver.debugToken)`:             secret,
		`user.apply (user.webserver.debugToken)`:              secret,
		`text.upper (text.lower (user.webserver.debugToken))`: secret,
		`user.apply (user.webserver)`:                         "user.webserver contains secrets",
		`json.encode (user)`:                                  "user contains secrets",
		`html.escape (user.source)`:                           "user.source contains scripts",
		`html.escape (system.verbs.builtins.text)`:            "contains scripts",
		`password`:                                          secret,
		`html.escape (password)`:                            secret,
		`browserFilter (password, "x", "y")`:                secret,
		`passwordFilter (html.escape (password), "x", "y")`: secret,
		`headers.authorization`:                             secret,
		`headers.Cookie`:                                    secret,
		`json.encode (headers)`:                             secret,
		`cgi.HTTP_COOKIE`:                                   secret,
		`cookies.id`:                                        secret,
		`fullRequest`:                                       secret,
		`_G.pcall (user.apply)`:                             "_G.pcall names nothing",
		`suites.webserver.encodeArgs (user.source)`:         "user.source contains scripts",
		`webserver.processMacros (user.source)`:             "user.source contains scripts",
		`params.password`:                                   "params.password names nothing",
		`f ("return 1")`:                                    "names nothing that could be called",
		`webserver.processMacros ("<!--#user.webserver.debugToken-->")`: secret,
		`user.show ("<!--#pcall (loadstring)-->")`:                      code,
		// What markers can do.
		`user.apply (odb.set, "user.greeting")`:                     "odb.set",
		`user.apply (pcall)`:                                        "pcall",
		`user.apply (user.source.x)`:                                "user.source.x",
		`html.escape (user.source.x)`:                               "user.source.x",
		`user.apply (loadstring, "return 1")`:                       "loadstring",
		`webserver.util.filter ("!x", "not called", odb.delete)`:    "attempt to call local 'holds'",
		`passwordFilter (password, "seesame", "open")`:              "open",
		`raw (user.source.x)`:                                       "seesame",
		`json.encode (user.stock)`:                                  `{"tea":7}`,
		`json.encode (user.prices)`:                                 `[1]`,
		`text.upper (user.greeting)`:                                "HI",
		`user.show ("<!--#double (user.greeting)--><!--#given-->")`: "hihi&lt;g&gt;",
		`user.webserver.chunkSize`:                                  "24",
		`httpd.appInfo.name`:                                        "Test",
		`suites.webserverScripts.samples.tellTime`:                  "It is now",
	} {
		s.page("x.mcro", "<!--#user.leak ()--><!--#"+marker+"-->")
		s.put("suites.webserverScripts.x", objectdb.Text("<!--#user.leak ()--><!--#"+marker+"-->"))
		s.put("user.webserver.prefs.fileNotFoundPage", objectdb.Text("<!--#user.leak ()--><!--#"+marker+"-->"))
		refused := false
		for _, path := range []string{"/x.mcro", "/x.fcgi", "/nothing.fcgi"} {
			vars := map[string]string{"HTTP_AUTHORIZATION": "Basic YWRhOnNlZXNhbWU=", "HTTP_COOKIE": "id=seesame"}
			s.log.Take()
			body := s.ask(path, vars).Body
			if path != "/nothing.fcgi" { // the developer does not see the site's page there
				r := s.request(path, vars)
				r.Developer = true
				resp, _ := s.answer(r)
				assert.Contains(t, html.UnescapeString(resp.Body), html.UnescapeString(want), "%s %s", path, marker)
				refused = strings.Contains(resp.Body, "[Macro error: ")
			}
			if refused {
				assert.NotContains(t, body, "seesame", "%s %s", path, marker)
				assert.Empty(t, body, "%s %s", path, marker)
				assert.Contains(t, s.log.String(), "macro failed", "%s %s", path, marker)
			}
		}
	}
	assert.Equal(t, objectdb.String("hi"), s.get("user.greeting"))
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDirtyRoot"))
}

// TestMarkersAndRequirements checks that a marker on a public page shows an object that
// requires a user only to a user.
func TestMarkersAndRequirements(t *testing.T) {
	s := newSite(t)
	s.put("suites.webserverScripts.members.list", objectdb.Script(`return "list"`))
	s.put("suites.webserverScripts.members.text", objectdb.Text("text"))
	s.put("suites.webserverScripts.page",
		objectdb.Text(`[<!--#suites.webserverScripts.members.list ()--><!--#webserverScripts.Members.text--><!--#html.escape (suites.webserverScripts.members.text)-->]`))
	for range 2 {
		assert.Equal(t, "[listtexttext]", s.ask("/page.fcgi", nil).Body)
	}
	s.put(`user.webserver.requires.["suites.webserverScripts.members"]`, objectdb.String("user"))
	for range 2 {
		assert.Equal(t, "[]", s.ask("/page.fcgi", nil).Body)
		assert.Equal(t, "[listtexttext]", s.ask("/page.fcgi", map[string]string{"REMOTE_USER": "ada"}).Body)
	}
}
