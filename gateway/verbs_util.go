package gateway

import (
	"fmt"
	"strconv"
	"strings"

	"scripter/httpform"
	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/form"
)

// headVerbs read and write URL-encoded fields, heads of requests and heads of responses,
// those of webserver.util under their names of 1998.
var headVerbs = []script.Verb{
	{
		Name: "webserver.util.parseHeaders",
		Doc: "Reads the head of a request: gives its first line and a table of its fields. Names stay " +
			"as they were sent; a field that comes again makes a list.",
		Params: []script.Param{script.Arg("request", "string", "such as params.fullRequest")},
		Results: []script.Param{{Name: "line", Type: "string"},
			{Name: "fields", Type: "table<string, string|string[]>"}},
		Errors:  "more fields than maxFields",
		Example: `select (2, webserver.util.parseHeaders ("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n")).Host`,
		Gives:   "a.test",
		Func:    verbParseHeaders,
	},
	{
		Name: "webserver.util.parseCookies",
		Doc: "Reads a Cookie field into a table; values stay as they were sent. Of a name that comes " +
			"again the first counts.",
		Params:  []script.Param{script.Arg("field", "string", "")},
		Results: script.Returns("table", ""),
		Example: `webserver.util.parseCookies ("a=1; b=two").b`,
		Gives:   "two",
		Func: func(v *script.Call) error {
			v.Return(parseCookies(v.String(1)))
			return nil
		},
	},
	{
		Name: "webserver.util.setCookie",
		Doc: "Adds a Set-Cookie field (RFC 6265, 4.1) to the response of this request, when it is " +
			"given the parameters, or to a response table. The value is URL-encoded.",
		Params: []script.Param{
			script.Arg("table", "table", "the parameters, or a response table"),
			script.Arg("name", "string", ""),
			script.Arg("value", "any", ""),
			script.Opt("domain", "string", `""`, "all hosts below it"),
			script.Opt("expires", "any", "", "a date, or its text; without it the cookie goes with the browser"),
			script.Opt("path", "string", `"/"`, ""),
			script.Opt("secure", "boolean", "false", "for https only"),
			script.Opt("httpOnly", "boolean", "false", "scripts of the page do not see it"),
			script.Opt("sameSite", "string", `""`, `"Lax", "Strict" or "None"`),
		},
		Results: script.Returns("string", "the value of the field"),
		Errors:  "a name, domain or path that a cookie cannot have; outside a request",
		Example: `webserver.util.setCookie ({}, "colour", "dark red", "", odb.date ("2030-01-31"))`,
		Gives:   "colour=dark+red; Expires=Thu, 31 Jan 2030 00:00:00 GMT; Path=/",
		Func:    verbSetCookie,
	},
	{
		Name:   "webserver.util.parseAuth",
		Doc:    "Name and password of an Authorization field (RFC 7617). Nobody has verified them.",
		Params: []script.Param{script.Arg("field", "string", "")},
		Results: []script.Param{
			{Name: "username", Type: "string", Doc: `"" when the field is of another kind`},
			{Name: "password", Type: "string"},
		},
		Example: `webserver.util.parseAuth ("Basic QWRhOnNlc2FtZQ==")`,
		Gives:   "Ada",
		Func: func(v *script.Call) error {
			user, password := basicAuth(v.String(1))
			v.Return(user, password)
			return nil
		},
	},
	{
		Name: "webserver.util.buildResponse",
		Doc: "A complete HTTP/1.1 response with Date, Server and Content-Length. A list in the headers " +
			"makes a field several times.",
		Params: []script.Param{
			script.Arg("code", "any", `such as 404 or "404 Not Here"`),
			script.Opt("headers", "table", "", ""),
			script.Opt("body", "any", "", ""),
		},
		Results: script.Returns("string", ""),
		Errors:  "a status outside 200 to 599, a field that a script cannot send; outside a request",
		Example: `webserver.util.buildResponse (404, {["X-Why"] = "gone"}, "no"):match ("^[^\r]*")`,
		Gives:   "HTTP/1.1 404 Not Found",
		Func:    verbBuildResponse,
	},
	{
		Name:    "webserver.parseArgs",
		Doc:     "Reads URL-encoded text into a Lua table, which it returns. A name seen again makes a list.",
		Params:  []script.Param{script.Arg("text", "any", "")},
		Results: script.Returns("table<string, string|string[]>", ""),
		Errors:  "more fields than maxFields",
		Example: `webserver.parseArgs ("x=1&y=a+b").y`,
		Gives:   "a b",
		Func:    verbParseArgs,
	},
	{
		Name:    "webserver.encodeArgs",
		Doc:     "The inverse of parseArgs, in the order of the names.",
		Params:  []script.Param{script.Arg("table", "table", "")},
		Results: script.Returns("string", ""),
		Example: `webserver.encodeArgs ({y = "a b", x = 1})`,
		Gives:   "x=1&y=a+b",
		Page:    true,
		Func:    form.Encode,
	},
}

func verbParseHeaders(v *script.Call) error {
	max, err := maxFieldsOf(v)
	if err != nil {
		return err
	}
	line, rest := cutLine(v.String(1))
	t := script.NewTable()
	for count := 1; rest != ""; count++ {
		var field string
		if field, rest = cutLine(rest); field == "" {
			break
		}
		for strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t") { // a line that goes on (RFC 9112, 5.2)
			var more string
			more, rest = cutLine(rest)
			field += " " + strings.TrimSpace(more)
		}
		if int64(count) > max.Most {
			return max.Error("the head has more than %d fields", max.Most)
		}
		name, value, _ := strings.Cut(field, ":")
		form.Add(t, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	v.Return(line, t)
	return nil
}

// cutLine cuts a line off, which ends in CR LF, LF or CR.
func cutLine(s string) (line, rest string) {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return s, ""
	}
	if strings.HasPrefix(s[i:], "\r\n") {
		return s[:i], s[i+2:]
	}
	return s[:i], s[i+1:]
}

func verbSetCookie(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	t := v.Table(1)
	field, err := cookieField(v)
	if err != nil {
		return err
	}
	if t == c.params || t.Get("connectionID") != nil {
		c.fields = append(c.fields, httpheader.Field{Name: "Set-Cookie", Value: field})
	} else if err := addCookie(t, field); err != nil {
		return err
	}
	v.Return(field)
	return nil
}

// addCookie adds a field to a response table.
func addCookie(t *script.Table, field string) error {
	headers, ok := t.Get("headers").(*script.Table)
	if !ok {
		if t.Get("headers") != nil {
			return fmt.Errorf("the response's headers are no table")
		}
		headers = script.NewTable()
		t.Set("headers", headers)
	}
	form.Add(headers, "Set-Cookie", field)
	return nil
}

// cookieField makes the value of a Set-Cookie field (RFC 6265, 4.1).
func cookieField(v *script.Call) (string, error) {
	name, value := v.String(2), v.Text(3)
	if !isToken(name) {
		v.Bad(2, "a cookie's name is letters, digits and some signs, without blanks")
	}
	var b strings.Builder
	b.WriteString(name + "=")
	b.Write(httpform.Escape(nil, value))
	attribute := func(i int, name, value string) {
		if value == "" {
			return
		}
		for _, r := range []byte(value) {
			if r < ' ' || r == ';' || r >= 0x7f {
				v.Bad(i, "%s has a control character or a semicolon", name)
			}
		}
		b.WriteString("; " + name + "=" + value)
	}
	attribute(4, "Domain", v.OptString(4, ""))
	if d, ok := v.Value(5).(objectdb.Date); ok {
		attribute(5, "Expires", httpheader.FormatDate(d.Time))
	} else {
		attribute(5, "Expires", v.OptString(5, ""))
	}
	attribute(6, "Path", v.OptString(6, "/"))
	if v.OptBool(7, false) {
		b.WriteString("; Secure")
	}
	if v.OptBool(8, false) {
		b.WriteString("; HttpOnly")
	}
	switch same := v.OptString(9, ""); same {
	case "":
	case "Lax", "Strict", "None":
		b.WriteString("; SameSite=" + same)
	default:
		v.Bad(9, `"Lax", "Strict" or "None" expected`)
	}
	return b.String(), nil
}

func verbBuildResponse(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	t := script.NewTable()
	t.Set("status", v.Value(1))
	t.Set("headers", v.Value(2))
	t.Set("body", v.Value(3))
	resp, err := c.tableResponse(t)
	if err != nil {
		return err
	}
	if resp.Body != "" {
		if err := c.nameCharset(resp, nil, false); err != nil {
			return err
		}
	}
	resp.Proto = "HTTP/1.1"
	if !resp.Has("Date") {
		resp.Add("Date", httpheader.FormatDate(v.Thread().Now()))
	}
	resp.Set("Content-Length", strconv.Itoa(len(resp.Body)))
	if err := resp.Check(); err != nil {
		return err
	}
	text, err := nphText(resp)
	if err != nil {
		return err
	}
	v.Return(text)
	return nil
}

// maxFieldsOf returns the limit of fields, outside of a request that of the settings.
func maxFieldsOf(v *script.Call) (runner.Bound, error) {
	if c, err := hostOf(v); err == nil {
		return c.Count(site.MaxFields), nil
	}
	s, err := siteOf(v.Thread())
	if err != nil {
		return runner.Bound{}, err
	}
	return runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: int64(s.Number(site.MaxFields))}, nil
}

func verbParseArgs(v *script.Call) error {
	max, err := maxFieldsOf(v)
	if err != nil {
		return err
	}
	t, err := form.Parse(v.Text(1), max.Most)
	if err != nil {
		return formError(err, formBounds{fields: max})
	}
	v.Return(t)
	return nil
}
