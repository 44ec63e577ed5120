package gateway

import (
	"cmp"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"scripter/httpform"
	"scripter/script"
	"scripter/site"
)

// connections counts requests, for connectionID. It starts with a number that differs between
// processes: milliseconds, cut to 32 bits so that Lua prints all digits.
var connections atomic.Uint64

func init() { connections.Store(uint64(time.Now().UnixMilli()) & (1<<32 - 1)) }

// parameters make the cells of a request's parameter table when they are read: most scripts
// read few of them.
type parameters struct {
	request    *Request
	body       string
	spool      *spool // the body, if it is spooled
	brief      bool   // only the beginnings of files are shown
	target     Target
	connection uint64
	form       requestForm
	websiteDir string // settings, as they were when the request began
	program    string
	bounds     formBounds
}

// paramCells are the cells of the parameter table: those of the CGI Framework (specification,
// 2.3: what lies at scratchpad.cgiparams), and path, route, searchTable, json, fields, headers, cookies,
// files, allFiles and cgi, which it did not have. The bare name json is that of the verbs.
var (
	paramCells = [...]struct {
		name  string
		value func(p *parameters, vars map[string]string) script.Value
	}{
		{"pathArgs", (*parameters).pathArgs},
		{"httpSearchArgs", variable("QUERY_STRING")},
		{"postArgs", (*parameters).postArgs},
		{"method", variable("REQUEST_METHOD")},
		{"path", func(p *parameters, _ map[string]string) script.Value {
			return routeParameters(p.target.Route, p.target.Path)
		}},
		{"route", (*parameters).route},
		{"scriptName", func(p *parameters, _ map[string]string) script.Value { return p.target.Path }},
		{"action", func(p *parameters, _ map[string]string) script.Value { return p.target.Action }},
		{"actionPath", func(p *parameters, _ map[string]string) script.Value { return p.target.handler }},
		{"contentType", variable("CONTENT_TYPE")},
		{"referer", variable("HTTP_REFERER")},
		{"userAgent", variable("HTTP_USER_AGENT")},
		{"username", (*parameters).user},
		{"password", (*parameters).password},
		{"fromUser", variable("HTTP_FROM")},
		{"clientAddress", variable("REMOTE_HOST", "REMOTE_ADDR")},
		{"clientIP", variable("REMOTE_ADDR")},
		{"serverName", (*parameters).serverName},
		{"serverPort", variable("SERVER_PORT")},
		{"websiteFolder", (*parameters).websiteFolder},
		{"serverPath", func(p *parameters, _ map[string]string) script.Value { return p.program }},
		{"appName", (*parameters).appName},
		{"appID", func(*parameters, map[string]string) script.Value { return "" }},
		{"binaryID", func(p *parameters, _ map[string]string) script.Value { return strconv.FormatUint(p.connection, 10) }},
		{"connectionID", func(p *parameters, _ map[string]string) script.Value { return float64(p.connection) }},
		{"searchTable", (*parameters).searchTable},
		{"argTable", func(p *parameters, _ map[string]string) script.Value { return tableOr(p.form.args) }},
		{"files", func(p *parameters, _ map[string]string) script.Value { return tableOr(p.form.files) }},
		{"json", (*parameters).json},
		{"fields", (*parameters).fields},
		{"allFiles", (*parameters).allFiles},
		{"fullRequest", func(p *parameters, _ map[string]string) script.Value { return p.request.fullRequest() }},
		{"cookies", func(_ *parameters, vars map[string]string) script.Value { return parseCookies(vars["HTTP_COOKIE"]) }},
		{"headers", func(_ *parameters, vars map[string]string) script.Value { return headerTable(vars) }},
		{"cgi", func(_ *parameters, vars map[string]string) script.Value { return variableTable(vars) }},
	}
	paramShape = script.NewShape(paramNames()...).Hide("json").Defer("json", "postArgs")
)

// paramTypes are the types of the tables of a request, for editors.
var paramTypes = map[string]string{
	"path":        "table<string, string>",
	"searchTable": "table<string, string>",
	"argTable":    "table<string, string>",
	"fields":      "table<string, string[]>",
	"json":        "any",
	"files":       "table<string, " + uploadType + ">",
	"allFiles":    "table<string, " + uploadType + "[]>",
	"cookies":     "table<string, string>",
	"headers":     "table<string, string>",
	"cgi":         "table<string, string>",
}

func paramNames() []string {
	var names []string
	for _, c := range paramCells {
		names = append(names, c.name)
	}
	return names
}

// Cell returns the value of cell i. A text that is absent is "".
func (p *parameters) Cell(i int) script.Value { return paramCells[i].value(p, p.request.Params) }

// newParameters returns the parameters of a request that asks for a target.
func newParameters(x *exchange, t Target, s *site.Snapshot, limits site.Limits) parameters {
	return parameters{
		request: x.request, body: x.body, spool: x.spool, target: t, connection: x.connectionID(),
		websiteDir: s.String(site.WebsiteFolderPath), program: s.String(site.ServerPath), bounds: formBoundsOf(limits),
	}
}

// table returns the parameter table, or an error for a form that cannot be read. The cells are
// made when they are read.
func (p *parameters) table() (*script.Table, error) {
	if err := httpform.CheckFields(p.request.Params["QUERY_STRING"], p.bounds.fields.Most); err != nil {
		return nil, formError(err, p.bounds)
	}
	switch {
	case p.spool != nil:
		p.form = multipartForm(p.spool.parts, p.spool, p.bounds, p.brief)
	case p.body != "":
		var err error
		if p.form, err = parseBody(p.request.Params["CONTENT_TYPE"], p.body, p.bounds); err != nil {
			return nil, err
		}
	}
	return script.NewRecord(paramShape, p), nil
}

// tableOr returns t, or an empty table if t is nil.
func tableOr(t *script.Table) *script.Table {
	if t == nil {
		return script.NewTable()
	}
	return t
}

// variable returns a function that returns the first of these variables that is not empty.
func variable(names ...string) func(*parameters, map[string]string) script.Value {
	return func(_ *parameters, vars map[string]string) script.Value {
		for _, name := range names {
			if v := vars[name]; v != "" {
				return v
			}
		}
		return ""
	}
}

// postArgs returns the body as a text.
func (p *parameters) postArgs(map[string]string) script.Value {
	switch {
	case p.spool == nil:
		return p.body
	case p.brief:
		return "" // what is recorded has the body beside it
	case p.spool.size > p.bounds.text.Most:
		return script.Deferred(func(func(int)) (script.Value, error) {
			return nil, p.bounds.text.Error("the body has %d bytes, and postArgs gives %d at most: params.files has its files",
				p.spool.size, p.bounds.text.Most)
		})
	}
	return p.spool.text(0, p.spool.size)
}

func (p *parameters) pathArgs(map[string]string) script.Value {
	return cmp.Or(p.target.PathArgs, p.target.Extra)
}

// route returns the name of the route that answers the request, or "".
func (p *parameters) route(map[string]string) script.Value {
	if p.target.Route == nil {
		return ""
	}
	return p.target.Route.Name
}

// user returns the name that the web server has checked, else the name that the visitor claims.
func (p *parameters) user(vars map[string]string) script.Value {
	claimed, _ := basicAuth(vars["HTTP_AUTHORIZATION"])
	return cmp.Or(p.request.checkedUser(), claimed)
}

func (p *parameters) password(vars map[string]string) script.Value {
	_, password := basicAuth(vars["HTTP_AUTHORIZATION"])
	return password
}

func (p *parameters) serverName(vars map[string]string) script.Value {
	// Behind lighttpd and Caddy only SERVER_ADDR is set if an old client names no host.
	return cmp.Or(vars["SERVER_NAME"], p.request.Host(), vars["SERVER_ADDR"])
}

func (p *parameters) websiteFolder(vars map[string]string) script.Value {
	return cmp.Or(vars["DOCUMENT_ROOT"], p.websiteDir)
}

func (p *parameters) appName(vars map[string]string) script.Value {
	if p.program != "" {
		return filepath.Base(p.program)
	}
	return vars["SERVER_SOFTWARE"]
}

// searchTable returns the fields of the query string, which table has checked.
func (p *parameters) searchTable(vars map[string]string) script.Value {
	t, err := lastFields(vars["QUERY_STRING"], p.bounds.fields, false)
	if err != nil {
		return script.NewTable()
	}
	return t
}

// fields returns a list of all values for each field, those of the query first. A
// visitor decides how often a field is sent. The type of a cell must not depend on
// that, so even one value is a list.
func (p *parameters) fields(vars map[string]string) script.Value {
	t := script.NewTable()
	add := func(name, value string) { addToList(t, name, value) }
	_ = httpform.EachField(vars["QUERY_STRING"], p.bounds.fields.Most, false, add) // table has checked it
	p.form.eachText(p.bounds.fields, add)
	return t
}

// allFiles returns a list of all files for each name.
func (p *parameters) allFiles(map[string]string) script.Value {
	t := script.NewTable()
	for _, part := range p.form.parts {
		if part.file != nil {
			addToList(t, part.name, part.file.table())
		}
	}
	return t
}

// isVisible reports whether scripts see a variable: all but HTTP_PROXY, because no header
// field must look like a proxy setting (httpoxy).
func isVisible(name string) bool { return name != "HTTP_PROXY" }

// headerTable returns the header fields of the request by their names in lower case.
func headerTable(p map[string]string) *script.Table {
	t := script.NewTable()
	for name, value := range p {
		if h, ok := strings.CutPrefix(name, "HTTP_"); ok && isVisible(name) {
			t.Set(fieldName(h), value)
		}
	}
	return t
}

// parseCookies reads a Cookie field: ";" separates cookies, the first "=" name and
// value, which stays as it was sent. Apache joins several fields with a comma, which a
// value may contain: it is left alone.
func parseCookies(field string) *script.Table {
	t := script.NewTable()
	for field != "" {
		var c string
		c, field, _ = strings.Cut(field, ";")
		name, value, _ := strings.Cut(strings.TrimSpace(c), "=")
		if name = strings.TrimSpace(name); name == "" || t.Get(name) != nil {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		t.Set(name, value)
	}
	return t
}

// variableTable returns all CGI variables under their own names.
func variableTable(p map[string]string) *script.Table {
	t := script.NewTable()
	for name, value := range p {
		if isVisible(name) {
			t.Set(name, value)
		}
	}
	return t
}

// fieldName returns user-agent for USER_AGENT.
func fieldName(v string) string {
	b := []byte(v)
	for i, c := range b {
		switch {
		case c == '_':
			b[i] = '-'
		case 'A' <= c && c <= 'Z':
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// basicAuth decodes an Authorization field (RFC 7617). Nobody has checked the name: REMOTE_USER
// is the one that the web server has checked.
func basicAuth(field string) (user, password string) {
	scheme, token, ok := strings.Cut(field, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return "", ""
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	if err != nil {
		return "", ""
	}
	user, password, _ = strings.Cut(string(text), ":")
	return user, password
}

// fullRequestLimit is the size in bytes to which WebSTAR cut the head of a request.
const fullRequestLimit = 4096

// fullRequest returns the head of the request as it probably was: the request line and the
// fields in the order of their names, cut to fullRequestLimit.
func (r *Request) fullRequest() string {
	p := r.Params
	uri := p["REQUEST_URI"]
	if uri == "" {
		uri = p["SCRIPT_NAME"] + p["PATH_INFO"]
		if q := p["QUERY_STRING"]; q != "" {
			uri += "?" + q
		}
	}
	proto := p["SERVER_PROTOCOL"]
	if proto == "" {
		proto = "HTTP/1.0"
	}
	var names []string
	for name := range p {
		if strings.HasPrefix(name, "HTTP_") && isVisible(name) &&
			name != "HTTP_CONTENT_TYPE" && name != "HTTP_CONTENT_LENGTH" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	b := make([]byte, 0, 1024)
	b = append(b, p["REQUEST_METHOD"]+" "+uri+" "+proto+"\r\n"...)
	field := func(name, value string) {
		b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
	}
	for _, name := range names {
		field(titleName(name[len("HTTP_"):]), p[name])
	}
	for _, f := range [][2]string{{"Content-Type", "CONTENT_TYPE"}, {"Content-Length", "CONTENT_LENGTH"}} {
		if v := p[f[1]]; v != "" {
			field(f[0], v)
		}
	}
	b = append(b, "\r\n"...)
	if len(b) > fullRequestLimit {
		b = b[:fullRequestLimit]
	}
	return string(b)
}

// titleName returns User-Agent for USER_AGENT.
func titleName(v string) string {
	b := []byte(strings.ToLower(v))
	up := true
	for i, c := range b {
		if up && 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		if up = c == '_'; up {
			b[i] = '-'
		}
	}
	return string(b)
}
