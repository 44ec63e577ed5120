package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"scripter/probe"
	"scripter/rootname"
	"scripter/site"
)

// checkRoot looks at which root the answers come from.
func (d *doctor) checkRoot() {
	switch {
	case d.reply.RootHash != probe.RootHash(d.root) && rootname.IsURL(d.root):
		d.warn("root", "the web server names this root by another URL than %s", d.root)
	case d.reply.RootHash != probe.RootHash(d.root):
		d.warn("root",
			"the web server reaches this root by another path than %s: a link, or a folder mounted twice", d.root)
	default:
		d.ok("root", "the answers come from %s", d.root)
	}
}

// checkRights looks at what the answering process may do with the root.
func (d *doctor) checkRights() {
	p := d.reply
	right := true
	for _, f := range p.Files {
		if f.Read && f.Write {
			continue
		}
		right = false
		d.add(Fault, "rights", fmt.Sprintf("the process that answers (user %s) may not write "+
			"the root's %s, which belongs to %s and has the mode %s",
			userName(p.UID), rootPart(f.Name), userName(f.UID), f.Mode), d.giveTo(p.UID)...)
	}
	switch {
	case right && p.UID == 0:
		d.add(Warning, "rights",
			"Scripter runs as the superuser: a fault in it would be a fault of the whole machine",
			"start it as the web server's user, such as www-data, and give that user the root's folder")
	case right && rootname.IsURL(d.root):
		d.ok("rights", "user %s may write the folder for the root's files on this host, %s",
			userName(p.UID), filepath.Dir(d.local))
	case right:
		d.ok("rights", "user %s may write the root's file and folder", userName(p.UID))
	}
}

// checkListed looks for settings that name folders and hosts that the root may not use.
func (d *doctor) checkListed() {
	for _, u := range d.reply.Unlisted {
		d.add(Fault, "listed", u.Error(), "scripter.conf of the program that answers: "+u.Line())
	}
	if len(d.reply.Unlisted) == 0 {
		d.ok("listed", "scripter.conf lists all folders and hosts that the settings name")
	}
}

// checkOutside asks whether the program that answers reaches the hosts and databases that scripts may use.
func (d *doctor) checkOutside(ctx context.Context) {
	if r := d.probe(ctx, question{path: d.works, kind: probe.Beyond}); r.Probe != nil {
		d.reply.Outside = r.Probe.Outside
		d.tellOutside()
	}
}

// tellOutside says what scripts may use, and what of it cannot be reached.
func (d *doctor) tellOutside() {
	var reached, untried []string
	for _, o := range d.reply.Outside {
		switch {
		case o.Failure != "":
			d.warn("outside", "scripts may use what the line %q of scripter.conf lists, but it cannot be reached: %s",
				o.Line, o.Failure)
		case o.Untried:
			untried = append(untried, quoted(o.Line))
		default:
			reached = append(reached, quoted(o.Line))
		}
	}
	if len(reached) > 0 {
		d.ok("outside", "scripts may use, and can reach: %s", strings.Join(reached, ", "))
	}
	if len(untried) > 0 {
		d.note("outside", "scripts may use these, which were not tried: %s", strings.Join(untried, ", "))
	}
}

// checkHistory looks for rules of user.webserver.history that have no effect.
func (d *doctor) checkHistory() {
	for _, r := range d.history {
		if r.Why != nil {
			d.warn("history", "%s: %v", site.HistoryRows.Child(r.Address), r.Why)
		}
	}
}

func rootPart(name string) string {
	if strings.HasPrefix(name, "-") {
		return "file " + name
	}
	return name
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// giveTo returns the command that gives the root's folder to a user.
func (d *doctor) giveTo(uid int) []string {
	folder := filepath.Dir(d.local)
	if abs, err := filepath.Abs(d.local); err == nil {
		folder = filepath.Dir(abs)
	}
	return []string{"sudo chown -R " + userName(uid) + ": " + folder}
}

// servers are the programs whose user reads the root.
var servers = []string{"scripter-fcgi", "fcgiwrap", "apache2", "httpd", "nginx", "lighttpd", "caddy"}

// serverUser finds the user of the web server in the list of processes. ok reports
// whether such a process was found.
func serverUser(kind string) (uid int, program string, ok bool) {
	names := servers
	switch kind {
	case "apache":
		names = []string{"apache2", "httpd"}
	case "nginx", "lighttpd", "caddy":
		names = []string{kind}
	}
	files, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is right
	for _, f := range files {
		comm, err := os.ReadFile(f)
		if err != nil || !slices.Contains(names, strings.TrimSpace(string(comm))) {
			continue
		}
		info, err := os.Stat(filepath.Dir(f))
		if err != nil {
			continue
		}
		if s, is := info.Sys().(*syscall.Stat_t); is && s.Uid != 0 {
			return int(s.Uid), strings.TrimSpace(string(comm)), true
		}
	}
	return 0, "", false
}

// checkUnopened reports why Scripter cannot open the root, as far as the doctor can
// see it.
func (d *doctor) checkUnopened() {
	uid, program, ok := serverUser(d.server)
	if !ok {
		d.fault("rights", "Scripter is reached and cannot open its root; the web server's error log says why")
		return
	}
	for _, p := range []string{d.local, filepath.Dir(d.local), d.local + "-wal", d.local + "-shm"} {
		info, err := os.Stat(p)
		if err != nil || mayWrite(info, uid) {
			continue
		}
		owner := "somebody else"
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			owner = userName(int(s.Uid))
		}
		d.add(Fault, "rights", fmt.Sprintf("Scripter is reached and cannot open its root: "+
			"user %s, as whom %s runs, "+
			"may not write %s, which belongs to %s and has the mode %s",
			userName(uid), program, p, owner, info.Mode()), d.giveTo(uid)...)
		return
	}
	d.fault("rights", "Scripter is reached and cannot open its root, although user %s may write %s; "+
		"the web server's error log says why (it may have another root)", userName(uid), d.root)
}

// mayWrite reports whether the mode of a file lets a user write it.
func mayWrite(info os.FileInfo, uid int) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || uid == 0 {
		return true
	}
	switch {
	case int(s.Uid) == uid:
		return s.Mode&0o200 != 0
	case inGroup(uid, int(s.Gid)):
		return s.Mode&0o020 != 0
	}
	return s.Mode&0o002 != 0
}

func inGroup(uid, gid int) bool {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return false
	}
	groups, err := u.GroupIds()
	return err == nil && slices.Contains(groups, strconv.Itoa(gid))
}

// handlerURLs are the URLs of the handler in the examples.
var handlerURLs = []string{"/cgi-bin/Scripter.acgi", "/cgi-bin/nph-Scripter.acgi"}

func (d *doctor) handlers() []string {
	list := slices.Clone(handlerURLs)
	if d.reply != nil && d.reply.Handler {
		if name := d.reply.Variables["SCRIPT_NAME"]; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// checkDirect calls the handler by its own URL, which would bypass the access rules of
// pages.
func (d *doctor) checkDirect(ctx context.Context) {
	origin := d.ask.origin()
	for _, h := range d.handlers() {
		r := origin.ask(ctx, question{path: h + scriptPath, probe: true})
		if r.Probe != nil && r.Probe.Refused == "" {
			d.fault("direct call",
				"%s%s is answered: whoever names the handler goes round the access rules of pages", h, scriptPath)
			return
		}
	}
	d.ok("direct call", "the handler's own URL is not answered")
}

var confLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^root:\s`)
})

// checkPublic looks for files that visitors must not read: the handler, its
// configuration, the root.
func (d *doctor) checkPublic(ctx context.Context) {
	origin := d.ask.origin()
	safe := true
	urls := d.handlers()
	conf := path.Dir(urls[len(urls)-1]) + "/scripter.conf"
	urls = append(urls, conf, conf+"/%E9", "/scripter.conf")
	for _, u := range urls {
		r := origin.ask(ctx, question{path: u})
		if r.Status == 200 && (bytes.HasPrefix(r.Body, []byte("#!")) ||
			bytes.HasPrefix(r.Body, []byte("\x7fELF")) || confLine().Match(r.Body)) {
			safe = false
			d.fault("public", "%s is sent to visitors as a file", u)
		}
	}
	if u, ok := d.rootURL(); ok {
		safe = false
		r := d.ask.ask(ctx, question{path: u})
		if bytes.HasPrefix(r.Body, []byte("SQLite format 3")) {
			d.fault("public", "the root itself, with all that is in it, is sent to visitors: %s", u)
		} else {
			d.warnOfPlace()
		}
	}
	if safe {
		d.ok("public", "neither the handler nor the root is sent to visitors")
	}
}

// checkPlace does the part of checkPublic for which no server is asked.
func (d *doctor) checkPlace() {
	if _, ok := d.rootURL(); ok {
		d.warnOfPlace()
	} else if folder := d.folder(); folder != "" {
		d.ok("public", "the root does not lie below the folder of the pages, %s", folder)
	}
}

func (d *doctor) warnOfPlace() {
	d.warn("public",
		"the root lies below the folder of the pages, %s; "+
			"a slip in the configuration would send it to visitors", d.folder())
}

// rootURL returns the path of the root below the document root, if it lies there.
func (d *doctor) rootURL() (string, bool) {
	folder := d.folder()
	if folder == "" {
		return "", false
	}
	file, err := filepath.Abs(d.local)
	if err != nil {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	rel, err := filepath.Rel(folder, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return "/" + filepath.ToSlash(rel), true
}
