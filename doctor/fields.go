package doctor

import (
	"context"
	"encoding/base64"
	"strings"
)

// wanted lists the variables that requests need, and their values in the doctor's first
// request; "" = any.
var wanted = []struct {
	name    string
	value   func(d *doctor) string
	state   string
	without string // the consequence when it is missing
}{
	{"REQUEST_METHOD", func(*doctor) string { return "GET" }, Fault, "every request is refused"},
	{"QUERY_STRING", func(*doctor) string { return "a=1&b=2" }, Fault,
		"scripts do not get what stands behind the question mark"},
	{"REQUEST_URI", nil, Fault,
		"Scripter cannot recognize calls of the handler's own URL, which bypass the access rules of pages"},
	{"DOCUMENT_ROOT", nil, Fault, "pages are not found"},
	{"REMOTE_ADDR", nil, Fault, "scripts do not know the client's address"},
	{"HTTP_HOST", func(d *doctor) string { return d.ask.host() }, Warning, "absolute URLs come out wrong"},
	{"SERVER_NAME", nil, Warning, "virtual hosts cannot be told apart"},
	{"SERVER_PORT", nil, Warning, "absolute URLs come out wrong"},
	{"SERVER_PROTOCOL", nil, Warning, "scripts do not know the protocol"},
	{"GATEWAY_INTERFACE", nil, Warning, "a CGI program believes that it was started by hand"},
}

// checkVariables checks the CGI variables of a request.
func (d *doctor) checkVariables(ctx context.Context) {
	r := d.probe(ctx, question{path: d.works + "?a=1&b=2"})
	if r.Probe == nil {
		d.fault("query", "%s with a query does not reach Scripter: %s", d.works, r.outcome())
		return
	}
	d.reply = r.Probe
	v := r.Probe.Variables
	right := true
	for _, w := range wanted {
		want := ""
		if w.value != nil {
			want = w.value(d)
		}
		reason := ""
		switch got := v[w.name]; {
		case got == "":
			reason = w.name + " is missing: " + w.without
		case want != "" && got != want:
			reason = w.name + " is " + quoted(got) + ", not " + quoted(want) + ": " + w.without
		default:
			continue
		}
		right = false
		d.add(w.state, "variable", reason, d.changeVariable(w.name)...)
	}
	if right {
		d.ok("variables", "method, query, path, host and addresses arrive")
	}
	d.checkRoots()
	d.checkOverride()
}

// changeVariable returns the line that passes a variable on.
func (d *doctor) changeVariable(name string) []string {
	if d.server != "nginx" {
		return nil
	}
	value, ok := nginxVariables[name]
	if !ok {
		return nil
	}
	return []string{"fastcgi_param " + name + " " + value + ";"}
}

var nginxVariables = map[string]string{
	"REQUEST_METHOD": "$request_method", "QUERY_STRING": "$query_string", "REQUEST_URI": "$request_uri",
	"DOCUMENT_ROOT": "$document_root", "REMOTE_ADDR": "$remote_addr", "HTTP_HOST": "$http_host",
	"SERVER_NAME": "$server_name", "SERVER_PORT": "$server_port", "SERVER_PROTOCOL": "$server_protocol",
	"GATEWAY_INTERFACE": "CGI/1.1", "CONTENT_TYPE": "$content_type", "CONTENT_LENGTH": "$content_length",
}

// checkRoots finds a document root that is the handler's folder, as lighttpd
// has it when the handler lies in an alias.
func (d *doctor) checkRoots() {
	v := d.reply.Variables
	root := strings.TrimSuffix(v["DOCUMENT_ROOT"], "/")
	if file := v["SCRIPT_FILENAME"]; d.reply.Handler && root != "" &&
		strings.HasPrefix(file, root+"/") && !strings.Contains(file[len(root)+1:], "/") {
		d.fault("document root", "DOCUMENT_ROOT is the handler's own folder, %s: pages are not found", root)
	}
}

// checkOverride checks whether the web server passes the action on, which Action
// Override needs (specification, 2.1 and 4.4.3).
func (d *doctor) checkOverride() {
	p := d.reply
	word := p.Rule == "SCRIPTER_ACTION" || strings.HasPrefix(p.Rule, "REDIRECT_")
	switch {
	case p.Refused != "":
	case d.way == "nph" || d.server == "lighttpd" || d.server == "scripter" || d.server == "":
		// These pass the action on for overridden folders only.
	case !word:
		d.warn("override",
			"no REDIRECT_HANDLER arrives (the action was chosen by %s): the web server cannot override actions", p.Rule)
	default:
		d.ok("override", "the web server's word for the action arrives, in %s", p.Rule)
	}
}

// checkFields sends Authorization, which some web servers drop, and Proxy, which all
// should drop.
func (d *doctor) checkFields(ctx context.Context) {
	r := d.probe(ctx, question{path: d.works, fields: []string{"Proxy: http://scripter-probe.invalid/"}})
	switch {
	case r.Probe == nil:
		d.ok("proxy", "a request with a Proxy field is not passed on: %s", r.outcome())
	case r.Probe.Variables["HTTP_PROXY"] != "":
		d.fault("proxy",
			"a visitor's Proxy field arrives as HTTP_PROXY, which programs take for a setting "+
				"(the hole called httpoxy)")
	default:
		d.ok("proxy", "a visitor's Proxy field does not arrive")
	}
	d.checkUnderscores(ctx)
	var fields []string
	if d.ask.given("Authorization") == "" {
		fields = []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("scripter-doctor:none"))}
	}
	r = d.probe(ctx, question{path: d.works, fields: fields})
	switch {
	case r.Probe == nil && (r.Status == 401 || r.Status == 403):
		d.ok("authorization", "the web server checks names and passwords itself")
	case r.Probe == nil:
		d.fault("authorization", "a request with a name and a password does not reach Scripter: %s", r.outcome())
	case r.Probe.Variables["HTTP_AUTHORIZATION"] == "":
		d.fault("authorization", "the Authorization field is taken away: scripts see neither username nor password")
	default:
		d.ok("authorization", "name and password of HTTP Basic arrive")
	}
	if r.Probe != nil && fields != nil {
		d.checkUser(r.Probe.Variables)
	}
}

// checkUnderscores finds a web server that passes a visitor's X_Real_Ip on under the
// name of a proxy's X-Real-Ip. Which of the two wins depends on their order, and on
// chance with Caddy, so it sends several requests.
func (d *doctor) checkUnderscores(ctx context.Context) {
	const visitor = "192.0.2.66"
	for i := range 12 {
		fields := []string{"X_Real_Ip: " + visitor, "X-Real-Ip: 192.0.2.1"}
		if i%2 == 1 {
			fields[0], fields[1] = fields[1], fields[0]
		}
		r := d.probe(ctx, question{path: d.works, fields: fields})
		switch {
		case r.Probe == nil:
		case r.Probe.Refused == "" && strings.Contains(r.Probe.Variables["HTTP_X_REAL_IP"], visitor):
			d.fault("underscore", "a visitor's field X_Real_Ip arrives under the name of X-Real-Ip, "+
				"in which a proxy in front passes on addresses: scripts cannot tell them apart")
			return
		}
	}
	d.ok("underscore", "a field X_Real_Ip does not pass for X-Real-Ip")
}

// checkUser finds a web server that passes a name on as a user's that nobody has
// checked, as nginx has it in $remote_user.
func (d *doctor) checkUser(v map[string]string) {
	for _, name := range []string{"REMOTE_USER", "REDIRECT_REMOTE_USER"} {
		if v[name] != "" {
			d.fault("user",
				"a name that nobody has checked arrives in %s: "+
					"scripts take any visitor for the user that he says he is", name)
			return
		}
	}
	d.ok("user", "a name that nobody has checked does not arrive in REMOTE_USER")
}
