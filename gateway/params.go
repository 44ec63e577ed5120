package gateway

import (
	"encoding/base64"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"scripter/script"
)

// connections numbers requests for connectionID, from a start that differs
// between processes: milliseconds of a month, so that Lua prints all digits.
var connections atomic.Uint64

func init() { connections.Store(uint64(time.Now().UnixMilli()) & (1<<32 - 1)) }

// buildParams builds the parameter table of a request, with the field names of
// the CGI Framework (specification, 2.3: what is kept at
// scratchpad.cgiparams) and, beside them, searchTable, headers, cookies,
// files and cgi, which are ours. Texts are "" when absent.
func (c *call) buildParams() (*script.Table, error) {
	p := c.r.Params
	t := script.NewTable()
	if c.r.connection == 0 {
		c.r.connection = connections.Add(1)
	}
	id := strconv.FormatUint(c.r.connection, 10)
	user, password := basicAuth(p["HTTP_AUTHORIZATION"])
	for _, v := range []string{"REDIRECT_REMOTE_USER", "REMOTE_USER"} {
		if p[v] != "" {
			user = p[v]
		}
	}
	_, handler, _ := c.tables.handler(c.target.Action)
	folder := p["DOCUMENT_ROOT"]
	if folder == "" {
		folder = c.settings.string(websiteFolderPath)
	}
	program := c.settings.string(serverPath)
	app := p["SERVER_SOFTWARE"]
	if program != "" {
		app = filepath.Base(program)
	}
	host := p["SERVER_NAME"]
	if host == "" {
		host = c.r.host()
	}
	pathArgs := c.target.PathArgs
	if pathArgs == "" {
		pathArgs = c.target.Extra
	}
	client := p["REMOTE_HOST"]
	if client == "" {
		client = p["REMOTE_ADDR"]
	}
	for _, f := range [...]struct{ name, value string }{
		{"pathArgs", pathArgs},
		{"httpSearchArgs", p["QUERY_STRING"]},
		{"postArgs", c.r.body.text},
		{"method", p["REQUEST_METHOD"]},
		{"scriptName", c.target.Path},
		{"action", c.target.Action},
		{"actionPath", handler},
		{"contentType", p["CONTENT_TYPE"]},
		{"referer", p["HTTP_REFERER"]},
		{"userAgent", p["HTTP_USER_AGENT"]},
		{"username", user},
		{"password", password},
		{"fromUser", p["HTTP_FROM"]},
		{"clientAddress", client},
		{"clientIP", p["REMOTE_ADDR"]},
		{"serverName", host},
		{"serverPort", p["SERVER_PORT"]},
		{"websiteFolder", folder},
		{"serverPath", program},
		{"appName", app},
		{"appID", ""},
		{"binaryID", id},
	} {
		t.Set(f.name, f.value)
	}
	n, _ := strconv.ParseFloat(id, 64)
	t.Set("connectionID", n)

	max := int(c.settings.number(maxFields))
	search, err := parseForm(p["QUERY_STRING"], max, false)
	if err != nil {
		return nil, err
	}
	t.Set("searchTable", search)
	f, err := parseBody(p["CONTENT_TYPE"], c.r.body.text, max)
	if err != nil {
		return nil, err
	}
	t.Set("argTable", f.args)
	t.Set("files", f.files)
	t.SetLazy("fullRequest", func() script.Value { return c.r.fullRequest() })
	t.SetLazy("cookies", func() script.Value { return parseCookies(p["HTTP_COOKIE"]) })
	t.SetLazy("headers", func() script.Value { return headerTable(p) })
	t.SetLazy("cgi", func() script.Value { return variableTable(p) })
	return t, nil
}

// seen tells which variables scripts see: all but HTTP_PROXY, because no
// field may pass for a proxy setting (httpoxy).
func seen(name string) bool { return name != "HTTP_PROXY" }

// headerTable gives the fields of the request by their names in lower case.
func headerTable(p map[string]string) *script.Table {
	t := script.NewTable()
	for name, value := range p {
		if h, ok := strings.CutPrefix(name, "HTTP_"); ok && seen(name) {
			t.Set(fieldName(h), value)
		}
	}
	return t
}

// variableTable gives every CGI variable under its own name.
func variableTable(p map[string]string) *script.Table {
	t := script.NewTable()
	for name, value := range p {
		if seen(name) {
			t.Set(name, value)
		}
	}
	return t
}

// fieldName makes user-agent of USER_AGENT.
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

// basicAuth decodes an Authorization field of RFC 7617. Nobody has verified
// the name: REMOTE_USER is the web server's word, this is the visitor's.
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

// fullRequestLimit is what WebSTAR gave of a request's head, in bytes.
const fullRequestLimit = 4096

// fullRequest rebuilds the head of the request: request line and fields, in
// the order of their names, cut at fullRequestLimit.
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
		if strings.HasPrefix(name, "HTTP_") && name != "HTTP_PROXY" && name != "HTTP_CONTENT_TYPE" && name != "HTTP_CONTENT_LENGTH" {
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

// titleName makes User-Agent of USER_AGENT.
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
