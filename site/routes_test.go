package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestParseRoute checks how rows are read, and how they are written again.
func TestParseRoute(t *testing.T) {
	for text, want := range map[string]string{
		"GET /items/{id} shop.item":                  "GET /items/{id} | shop.item | id",
		"get  post /contact   /contact.mcro":         "GET POST /contact | /contact.mcro | ",
		"/about about":                               "GET /about | about | ",
		"* /api/*call suites.webserverScripts.api.x": "* /api/*call | api.x | call",
		"GET / home":                                 "GET / | home | ",
		"GET /a/ x":                                  "GET /a/ | x | ",
		"GET /{year:number}/{m_2:number} SUITES.webserverScripts.x": "GET /{year:number}/{m_2:number} | x | year m_2",
		`GET /caf%C3%A9/%7Bx%7D shop.["odd.name"]`:                  `GET /caf%C3%A9/%7Bx%7D | shop.["odd.name"] | `,
		"GET /x a-b.c":    `GET /x | ["a-b"].c | `,
		"GET /x _private": "GET /x | _private | ",
	} {
		r, err := ParseRoute(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, r.Methodic()+" | "+r.Target()+" | "+strings.Join(r.Pattern.Names(), " "), text)
		again, err := ParseRoute(r.Methodic() + " " + r.Target())
		require.NoError(t, err, text)
		assert.Equal(t, r.Methodic()+r.Target(), again.Methodic()+again.Target())
	}
	for text, want := range map[string]string{
		"":                                       "no pattern",
		"GET":                                    "no pattern",
		"GET /x":                                 "does not say what answers",
		"HEAD /x y":                              "HEAD",
		"TRACE /x y":                             `"TRACE" is no method`,
		"GET * /x y":                             "beside other methods",
		"GET GET /x y":                           "GET twice",
		"GET /a//b x":                            "empty segment",
		"GET /a/../b x":                          `no path has the segment ".."`,
		"GET /a%2Fb x":                           "no path has the segment",
		"GET /a/%2e x":                           "no path has the segment",
		"GET /a%0d x":                            "no path has the segment",
		"GET /a%zz x":                            "percent sign",
		`GET /a\b x`:                             `written %5C`,
		"GET /a?b x":                             "written %3F",
		"GET /{id}.html x":                       "whole segment",
		"GET /{id x":                             "whole segment",
		"GET /{} x":                              "no name",
		"GET /* x":                               "no name",
		"GET /{a-b} x":                           "letters, digits and _",
		"GET /{1a} x":                            "letters, digits and _",
		"GET /{id:text} x":                       "the only type is number",
		"GET /*a/b x":                            "nothing can follow",
		"GET /{a}/{a} x":                         "two parameters with the name a",
		"GET /x /y?z":                            "not the path of a page",
		"GET /x /y/":                             "not the path of a page",
		"GET /x /../y.mcro":                      `".." part`,
		"GET /x a-b..c":                          "",
		"GET /x a..b":                            "",
		"GET /x suites.webserverScripts":         "cannot answer",
		"GET " + strings.Repeat("/a", 33) + " x": "more than 32 segments",
		"GET /" + strings.Repeat("a", 1000) + " x": "longer than 1000 bytes",
		"GET /{" + strings.Repeat("a", 65) + "} x": "1 to 64 characters",
	} {
		_, err := ParseRoute(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
}

// routesOf returns the routes of rows "host name text".
func routesOf(t testing.TB, rows ...string) *Routes {
	routes := &Routes{}
	for _, row := range rows {
		words := strings.SplitN(row, " ", 3)
		r, err := ParseRoute(words[2])
		require.NoError(t, err, row)
		r.Host, r.Name = words[0], words[1]
		routes.add(&r)
	}
	return routes
}

// TestRoutesOrder checks which of several routes answers.
func TestRoutesOrder(t *testing.T) {
	routes := routesOf(t,
		"* home GET / x",
		"* items GET /items x",
		"* folder GET /items/ x",
		"* new GET /items/new x",
		"* number GET /items/{id:number} x",
		"* item GET /items/{name} x",
		"* change POST DELETE /items/{id} x",
		"* part GET /items/{id}/parts/{part} x",
		"* deep GET /items/17/*rest x",
		"* all * /api/*call x",
		"* blog GET /blog/*path x",
		"* rest GET /rest/*path x",
		"* restEnd GET /rest/end x",
		"one.test any GET /items/*rest x",
		"one.test own GET /own x",
	)
	for _, c := range []struct{ host, method, path, want string }{
		{"h", "GET", "/", "home"},
		{"h", "HEAD", "/", "home"},
		{"h", "GET", "/items", "items"},
		{"h", "GET", "/items/", "folder"},
		{"h", "GET", "/items/new", "new"},
		{"h", "GET", "/Items/new", ""},
		{"h", "GET", "/items/NEW", "item"},
		{"h", "GET", "/items/17", "number"},
		{"h", "GET", "/items/123456789012345", "number"},
		{"h", "GET", "/items/1234567890123456", "item"},
		{"h", "GET", "/items/-1", "item"},
		{"h", "GET", "/items/x", "item"},
		{"h", "POST", "/items/17", "change"},
		{"h", "POST", "/items/new", "change"},
		{"h", "PUT", "/items/17", "405 GET, HEAD, POST, DELETE, OPTIONS"},
		{"h", "PUT", "/items", "405 GET, HEAD, OPTIONS"},
		{"h", "GET", "/items/18/parts/2", "part"},
		{"h", "GET", "/items/17/parts/2", "deep"},
		{"h", "GET", "/items/17/", "deep"},
		{"h", "GET", "/items/x/", ""},
		{"h", "GET", "/items/x/parts/", ""},
		{"h", "OPTIONS", "/api/", "all"},
		{"h", "PATCH", "/api/a/b/", "all"},
		{"h", "GET", "/api", ""},
		{"h", "GET", "/blog/2026/11", "blog"},
		{"h", "GET", "/rest/end", "restEnd"},
		{"h", "GET", "/rest/end/more", "rest"},
		{"one.test", "GET", "/items/new", "any"},
		{"ONE.test", "GET", "/items/17", "any"},
		{"one.test", "POST", "/items/17", "change"},
		{"one.test", "PUT", "/items/17", "405 GET, HEAD, POST, DELETE, OPTIONS"},
		{"one.test", "GET", "/own", "own"},
		{"two.test", "GET", "/own", ""},
		{"*", "GET", "/items", "items"},
		{"h", "GET", "", ""},
		{"h", "GET", "items", ""},
	} {
		r, allowed := routes.Match(c.host, c.method, c.path)
		got := ""
		switch {
		case r != nil:
			got = r.Name
		case allowed != "":
			got = "405 " + allowed
		}
		assert.Equal(t, c.want, got, "%s %s %s", c.host, c.method, c.path)
	}
}

// TestPatternParameters checks the parameters of a path.
func TestPatternParameters(t *testing.T) {
	for _, c := range [][3]string{
		{"/items/{id}", "/items/a b", "id=a b"},
		{"/items/{id}/x/{q}", "/items/1/x/ä$?", "id=1 q=ä$?"},
		{"/blog/*path", "/blog/", "path="},
		{"/blog/*path", "/blog/2026/11/", "path=2026/11/"},
		{"/*all", "/", "all="},
		{"/{a}/*b", "/x/y", "a=x b=y"},
	} {
		p, err := ParsePattern(c[0])
		require.NoError(t, err)
		var list []string
		p.Each(c[1], func(name, value string) { list = append(list, name+"="+value) })
		assert.Equal(t, c[2], strings.Join(list, " "), c[0])
	}
}

// TestRoutesInRoot checks rows of the root: those that are none, and two with the same pattern.
func TestRoutesInRoot(t *testing.T) {
	s := newSite(t)
	assert.False(t, s.now().Routes().Any())
	s.put(`user.webserver.routes.["*"].b`, objectdb.String("GET POST /x/{a} one"))
	s.put(`user.webserver.routes.["*"].a`, objectdb.Text("GET /x/{b} two"))
	s.put(`user.webserver.routes.["*"].c`, objectdb.String("PUT /x/{c} three"))
	s.put(`user.webserver.routes.["*"].broken`, objectdb.String("GET x"))
	s.put(`user.webserver.routes.["*"].number`, objectdb.Number(1))
	s.put(`user.webserver.routes.misplaced`, objectdb.String("GET /misplaced x"))
	s.put(`user.webserver.routes.["Two.test"].a`, objectdb.String("GET /two /two.html"))
	s.put(`user.webserver.routes.["*"].page`, objectdb.String("GET /p/x.mcro one"))
	s.put(`suites.webserverScripts.two`, objectdb.Script(""))
	s.put(`suites.webserverScripts.three`, objectdb.Number(3))
	now := s.now()
	got := map[string]string{}
	require.NoError(t, s.try(func(tx *objectdb.Tx) error {
		for _, r := range now.Routes().All() {
			notes, err := now.RouteNotes(tx, r)
			require.NoError(t, err)
			got[r.Host+" "+r.Name] = strings.Join(notes, "; ")
		}
		return nil
	}))
	assert.Equal(t, map[string]string{
		"* a":         "",
		"* b":         "the route a has the same pattern and method, and answers in its place: GET /x/{b}",
		"* c":         "suites.webserverScripts.three is a number, which cannot be served",
		"* broken":    `it has no pattern that begins with /: say "GET /items/{id} shop.item"`,
		"* number":    "it is a number, not a text",
		"* misplaced": `it lies beside the tables of the hosts: it belongs into user.webserver.routes.["*"]`,
		"* page":      "it never answers: the extension .mcro belongs to the action MACRO; there is no suites.webserverScripts.one",
		"Two.test a":  "/two.html is no page: its extension does not belong to the action MACRO",
	}, got)
	r, _ := now.Routes().Match("h", "GET", "/x/1")
	assert.Equal(t, "a", r.Name)
	r, _ = now.Routes().Match("h", "POST", "/x/1")
	assert.Equal(t, "b", r.Name, "the other method of a route that is partly the same")
	r, _ = now.Routes().Match("two.TEST", "GET", "/two")
	assert.Equal(t, "a", r.Name)
	assert.Nil(t, now.Routes().Named("h", "broken"))
	assert.Equal(t, "/x/{b}", now.Routes().Named("h", "A").Pattern.String())
	assert.Equal(t, "/two", now.Routes().Named("two.test", "a").Pattern.String())
}

// TestSetRoute checks what the command and the web page refuse, and that nothing is stored then.
func TestSetRoute(t *testing.T) {
	s := newSite(t)
	var warnings []string
	set := func(host, name, text string) error {
		return s.try(func(tx *objectdb.Tx) (err error) {
			_, warnings, err = SetRoute(tx, host, name, text)
			return err
		})
	}
	require.NoError(t, set("*", "item", "get  /items/{id}  shop.item"))
	assert.Equal(t, []string{"there is no suites.webserverScripts.shop.item"}, warnings)
	assert.Equal(t, objectdb.String("GET /items/{id} shop.item"), s.get(`user.webserver.routes.["*"].item`))
	require.NoError(t, set("One.test", "item", "GET /items/{id} /item.mcro"))
	assert.Empty(t, warnings)
	require.NoError(t, set("*", "item", "GET /items/{key} shop.item"), "it replaces itself")
	for _, c := range [][4]string{
		{"*", "other", "GET POST /items/{x} y", "the route item has the same pattern and method: GET /items/{key}"},
		{"*", "a", "* /items/{x} y", "the route item has the same pattern"},
		{"*", "a.b", "GET /x y", "letters, digits, _ and -"},
		{"*", "", "GET /x y", "1 to 64 characters"},
		{"", "a", "GET /x y", "is not a host"},
		{"h:80", "a", "GET /x y", "is not a host"},
		{"*", "a", "GET /x.fcgi y", "the extension .fcgi belongs to the action SCRIPTER"},
		{"*", "a", "GET /scripter/x y", "user.webserver.adminPath"},
		{"*", "a", "GET /scripter y", "user.webserver.adminPath"},
		{"*", "a", "GET /Scripter.acgi/x y", "handler's own name"},
		{"*", "a", "GET /x /y.html", "is no page"},
		{"*", "a", "GET x", "no pattern"},
	} {
		err := set(c[0], c[1], c[2])
		require.Error(t, err, c[2])
		assert.Contains(t, err.Error(), c[3])
	}
	assert.Len(t, s.now().Routes().All(), 2)
	require.NoError(t, s.try(func(tx *objectdb.Tx) error { return RemoveRoute(tx, "ONE.test", "item") }))
	require.Error(t, s.try(func(tx *objectdb.Tx) error { return RemoveRoute(tx, "*", "none") }))
	assert.Len(t, s.now().Routes().All(), 1)
}

// TestRoutePath checks the reverse: the path of a route with parameters, and what would not lead back.
func TestRoutePath(t *testing.T) {
	s := newSite(t)
	for name, text := range map[string]string{
		"item": "GET /items/{id} x", "new": "GET /items/new x", "day": "POST /{y:number}/{m:number} x",
		"blog":  "GET /blog/*path x",
		"about": "GET /caf%C3%A9/ x", "all": "* /{a}/{b}/{c} x",
	} {
		s.put(`user.webserver.routes.["*"].`+name, objectdb.String(text))
	}
	s.put(`user.webserver.routes.["one.test"].item`, objectdb.String("GET /own/{id} x"))
	now := s.now()
	for _, c := range [][3]string{
		{"item", "id=17", "/items/17"},
		{"ITEM", "id=a b?&#%\"'<ä+;$", "/items/a%20b%3F%26%23%25%22%27%3C%C3%A4%2B%3B%24"},
		{"item", "", "error: the route item (/items/{id}): the parameter id is missing"},
		{"item", "id=", "error: the route item (/items/{id}): the parameter id is empty"},
		{"item", "id=a/b", "only a *id could have a slash"},
		{"item", "id=..", `has a ".." part`},
		{"item", "id=.", "empty segment or one that is a dot"},
		{"item", "id=a\\b", "backslash"},
		{"item", "id=a\nb", "line end"},
		{"item", "id=new", `the path "/items/new" leads to the route new (/items/new)`},
		{"item", "id=a.fcgi", "the extension .fcgi belongs to the action SCRIPTER"},
		{"item", "id=a.html", "/items/a.html"},
		{"day", "y=2026 m=11", "/2026/11"},
		{"day", "y=2026 m=-1", "the parameter m is \"-1\", not 1 to 15 digits"},
		{"blog", "path=", "/blog/"},
		{"blog", "path=2026/11/x.y", "/blog/2026/11/x.y"},
		{"blog", "path=/x", "empty segment"},
		{"blog", "path=x/../../y", `has a ".." part`},
		{"about", "", "/caf%C3%A9/"},
		{"all", "a=scripter b=x c=y", "user.webserver.adminPath"},
		{"all", "a=x b=nph-scripter.acgi c=y", "handler's own name"},
		{"none", "", `error: there is no route "none" (user.webserver.routes)`},
	} {
		values := map[string]string{}
		for field := range strings.SplitSeq(c[1], " ") {
			if name, value, ok := strings.Cut(field, "="); ok {
				values[name] = value
			} else if field != "" {
				values["id"] += " " + field
			}
		}
		p, err := now.RoutePath("h", c[0], func(name string) (string, bool) {
			v, ok := values[name]
			return v, ok
		})
		if err != nil {
			p = "error: " + err.Error()
		}
		assert.Contains(t, p, c[2], "%s %s", c[0], c[1])
		assert.Equal(t, strings.HasPrefix(c[2], "/"), err == nil, "%s %s: %v", c[0], c[1], err)
	}
	p, err := now.RoutePath("One.test", "item", func(string) (string, bool) { return "1", true })
	require.NoError(t, err)
	assert.Equal(t, "/own/1", p)
}

// plainMatch is Match without a tree: each pattern by itself, then the best of those that match.
func plainMatch(routes *Routes, host, method, path string) string {
	var best *Route
	other := false
	for _, h := range []string{host, "*"} {
		for _, r := range routes.rows {
			if r.Host != h || !plainMatches(r.Pattern.parts, strings.Split(path, "/")[1:]) {
				continue
			}
			takes := r.Methods == nil || slices.Contains(r.Methods, method) ||
				method == "HEAD" && slices.Contains(r.Methods, "GET")
			if !takes {
				other = true
				continue
			}
			if best == nil || best.Host == h && slices.Compare(kindsOf(r), kindsOf(best)) < 0 {
				best = r
			}
		}
	}
	switch {
	case best != nil:
		return best.Name
	case other:
		return "405"
	}
	return ""
}

func plainMatches(parts []patternPart, segments []string) bool {
	for i, part := range parts {
		if i == len(segments) {
			return false
		}
		s := segments[i]
		switch part.kind {
		case partRest:
			return true
		case partLiteral:
			if s != part.text {
				return false
			}
		case partNumber:
			if s == "" || len(s) > 15 || strings.Trim(s, "0123456789") != "" {
				return false
			}
		case partName:
			if s == "" {
				return false
			}
		}
	}
	return len(parts) == len(segments)
}

func kindsOf(r *Route) (kinds []partKind) {
	for _, part := range r.Pattern.parts {
		kinds = append(kinds, part.kind)
	}
	return kinds
}

// FuzzRoutes reads rows and a request as routes, and compares the match with that of plainMatch. What
// Path makes of the parameters of a match is the path again.
func FuzzRoutes(f *testing.F) {
	f.Add("GET /items/{id} x\nPOST /items/{id} x\nGET /items/new x\n* /items/*rest x", "GET", "/items/new")
	f.Add("GET /{a}/b/{c:number} x\nGET /a/{b}/3 x\nGET / x\n/a/b/ x", "HEAD", "/a/b/3")
	f.Add("PUT /a%20b/%7Bc x\n* /*all a.b", "PUT", "/a b/{c")
	f.Fuzz(func(t *testing.T, rows, method, path string) {
		routes := &Routes{}
		for i, text := range strings.Split(rows, "\n") {
			r, err := ParseRoute(text)
			if err != nil {
				continue
			}
			again, err := ParseRoute(r.Methodic() + " " + r.Target())
			if err != nil || again.Methodic() != r.Methodic() || again.Target() != r.Target() {
				t.Fatalf("%q is written %q %q: %v", text, r.Methodic(), r.Target(), err)
			}
			r.Name, r.Host = fmt.Sprint(i), []string{"*", "h"}[i%2]
			routes.add(&r)
		}
		if CheckPath(path) != nil || path[0] != '/' {
			return
		}
		r, allowed := routes.Match("h", method, path)
		got := ""
		if r != nil {
			got = r.Name
		} else if allowed != "" {
			got = "405"
		}
		if want := plainMatch(routes, "h", method, path); want != got {
			t.Fatalf("%s %q of\n%s\nis %q, not %q", method, path, rows, got, want)
		}
		if r == nil {
			return
		}
		values := map[string]string{}
		r.Pattern.Each(path, func(name, value string) { values[name] = value })
		made, err := r.Pattern.Path(func(name string) (string, bool) { return values[name], true })
		if err != nil || made != path {
			t.Fatalf("the path of %v is %q, not %q: %v", values, made, path, err)
		}
	})
}
