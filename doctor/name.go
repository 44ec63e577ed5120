package doctor

import (
	"context"
	"regexp"
	"strings"
	"sync"
)

// statusName is the name in the page of /server-status.
var statusName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<dt>Server Version: ([^<]*)</dt>`)
})

// hiddenPath is a path that web servers refuse themselves, also those that pass on all URLs that are no
// files.
const hiddenPath = "/.scripterDoctor"

// shownName returns the name that a web server shows: on its /server-status display
// (specification, 2.2), and in the Server field of an answer that no script has made.
// Either is "" if the web server does not show it.
func shownName(ctx context.Context, a *asker) (status, field string, err error) {
	origin := a.origin()
	for _, path := range []string{"/server-status?auto", "/server-status", hiddenPath} {
		if path == hiddenPath && field != "" {
			break
		}
		r := origin.ask(ctx, question{path: path})
		if r.err != nil {
			return "", "", r.err
		}
		if r.fromScripter() {
			continue // a script has that path
		}
		field = strings.Join(r.Header.Values("Server"), ", ")
		if r.Status != 200 {
			continue
		}
		for line := range strings.Lines(string(r.Body)) {
			if name, ok := strings.CutPrefix(line, "ServerVersion:"); ok {
				return strings.TrimSpace(name), field, nil
			}
		}
		if m := statusName().FindSubmatch(r.Body); m != nil {
			return strings.TrimSpace(string(m[1])), field, nil
		}
	}
	return "", field, nil
}

// origin returns an asker for paths of the whole server, not below the URL's path.
func (a *asker) origin() *asker {
	b := *a
	u := *a.base
	u.Path, u.RawPath = "", ""
	b.base = &u
	return &b
}

// sameName reports whether a name is the one that the web server shows, which may lack the
// version.
func sameName(name, shown string) bool {
	return name == shown || strings.HasPrefix(name, shown+"/") && !strings.HasPrefix(shown, "Apache")
}

// serverKind returns the make of a web server with this name, or "".
func serverKind(name string) string {
	for _, kind := range []string{"apache", "nginx", "lighttpd", "caddy", "scripter"} {
		if strings.HasPrefix(strings.ToLower(name), kind) {
			return kind
		}
	}
	return ""
}

// checkName finds out which web server answers, and reports whether one does.
func (d *doctor) checkName(ctx context.Context) bool {
	status, field, err := shownName(ctx, d.ask)
	if err != nil {
		d.fault("reach", "the web server does not answer: %v", err)
		return false
	}
	d.fcgid = strings.Contains(status+field, "mod_fcgid")
	where := "/server-status"
	if d.shown = status; status == "" {
		d.shown, where = field, "the Server field"
	}
	d.server = serverKind(d.shown)
	switch {
	case d.shown == "":
		d.warn("name", "the web server does not tell its name, neither at /server-status nor in a Server field")
	case status == "" && d.server == "apache":
		d.warn("status",
			"Apache does not show /server-status to this machine; its full name is not known, "+
				"only the Server field, %q", field)
	case d.setName == "":
		d.ok("name", "%s shows %q", where, d.shown)
	case d.setName != d.shown:
		d.add(Fault, "name", "Set Server Name is "+quoted(d.setName)+", but "+where+" shows "+quoted(d.shown),
			"scripter settings serverName "+shellQuote(d.shown))
	default:
		d.ok("name", "Set Server Name is what %s shows, %q", where, d.shown)
	}
	return true
}

// checkTold compares SERVER_SOFTWARE with the name that the web server shows: while Set
// Server Name is empty, responses have it in their Server field.
func (d *doctor) checkTold() {
	told := d.reply.Variables["SERVER_SOFTWARE"]
	switch {
	case told == "":
		d.warn("software", "the web server does not tell its name in SERVER_SOFTWARE")
	case d.setName == "" && d.shown != "" && d.server == serverKind(told) && !sameName(told, d.shown):
		d.warn("software",
			"SERVER_SOFTWARE is %q, but the web server shows %q; "+
				"while Set Server Name is empty the two differ", told, d.shown)
	}
}
