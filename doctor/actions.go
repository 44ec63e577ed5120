package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// scriptPath is the path of a script that need not exist: the gateway answers a probe
// before it looks for the script.
const scriptPath = "/scripterDoctor.fcgi"

// probe sends a request with the token.
func (d *doctor) probe(ctx context.Context, q question) *answered {
	q.probe = true
	return d.ask.ask(ctx, q)
}

// reached notes that a path reaches Scripter.
func (d *doctor) reached(path string, r *answered) {
	if d.works != "" {
		return
	}
	d.works, d.reply = path, r.Probe
	if kind := serverKind(r.Probe.Variables["SERVER_SOFTWARE"]); kind != "" {
		d.server = kind // the server that calls us; another one may be in front
	}
	file := r.Probe.Variables["SCRIPT_FILENAME"]
	switch cgi := r.Probe.Transport == "CGI"; {
	case r.Probe.Form == "nph" && cgi:
		d.way = "nph"
	case d.server == "nginx" && cgi:
		d.way = "fcgiwrap"
	case cgi:
		d.way = "cgi"
	case d.server == "apache" && strings.HasPrefix(file, "proxy:"):
		d.way = "proxy-fcgi"
	case d.server == "apache":
		d.way = "fcgid"
	case d.server != "scripter":
		d.way = "fastcgi"
	}
	d.checkTold()
	if len(r.Extra) > 0 {
		d.fault("second answer",
			"behind the answer comes a second one, which the next request on that connection would get: %.60q", r.Extra)
	}
}

// checkScripter requests a script, with all forms of path that a script may have.
func (d *doctor) checkScripter(ctx context.Context) {
	r := d.probe(ctx, question{path: scriptPath + "?a=1&b=2"})
	if r.Probe == nil {
		d.unreached("SCRIPTER", scriptPath, r)
		return
	}
	d.reached(scriptPath, r)
	d.ok("SCRIPTER", "%s reaches Scripter by %s, answers in the %s form", scriptPath, r.Probe.Transport, r.Probe.Form)
	d.checkPath(r, scriptPath, "", "")
	if a := r.Probe.Action; r.Probe.Refused == "" && !strings.EqualFold(a, "SCRIPTER") {
		d.fault("action", "the action of %s is %q, by %s, not SCRIPTER", scriptPath, a, r.Probe.Rule)
	}
	for _, v := range []struct{ check, path, extra, args string }{
		{"extra path", "/extra/path", "/extra/path", ""},
		{"arguments", "$one$two", "", "one$two"},
	} {
		r := d.probe(ctx, question{path: scriptPath + v.path})
		if r.Probe == nil {
			d.fault(v.check, "%s%s does not reach Scripter: %s", scriptPath, v.path, r.outcome())
			continue
		}
		if d.checkPath(r, scriptPath, v.extra, v.args) {
			d.ok(v.check, "%s%s arrives whole", scriptPath, v.path)
		}
	}
	d.checkSpelling(ctx)
}

// checkSpelling looks at extensions that are nearly the right one.
func (d *doctor) checkSpelling(ctx context.Context) {
	upper := strings.TrimSuffix(scriptPath, ".fcgi") + ".FCGI"
	if r := d.probe(ctx, question{path: upper}); r.Probe == nil {
		d.warn("letters", "the extension in capitals, %s, does not reach Scripter: %s", upper, r.outcome())
	} else {
		d.ok("letters", "the extension may be written in capitals")
	}
	if r := d.probe(ctx, question{path: scriptPath + ".txt"}); r.Probe != nil && r.Probe.Action != "" {
		d.warn("extension",
			"%s.txt reaches Scripter too: a name with another last extension is taken for a script", scriptPath)
	}
}

// checkPath compares the path that the gateway sees with the path of the request.
func (d *doctor) checkPath(r *answered, want, extra, args string) bool {
	p := r.Probe
	want = d.ask.prefix() + want
	if p.Refused == "" && p.Path == want && p.Extra == extra && p.PathArgs == args {
		return true
	}
	made := fmt.Sprintf("the path %q, extra path %q, arguments %q instead of %q, %q, %q",
		p.Path, p.Extra, p.PathArgs, want, extra, args)
	if p.Refused != "" {
		made = "a request that is refused: " + p.Refused
	}
	d.fault("path", "SCRIPT_NAME %q and PATH_INFO %q make %s",
		p.Variables["SCRIPT_NAME"], p.Variables["PATH_INFO"], made)
	return false
}

// folder returns the folder of the web server's pages on this machine, or "" if it is
// not known.
func (d *doctor) folder() string {
	list := []string{d.setFolder}
	if d.reply != nil {
		list = []string{d.reply.Variables["DOCUMENT_ROOT"], d.setFolder}
	}
	for _, f := range list {
		if f != "" {
			f = filepath.Join(f, filepath.FromSlash(d.ask.base.Path))
		}
		if info, err := os.Stat(f); f != "" && err == nil && info.IsDir() {
			return f
		}
	}
	return ""
}

// Bounds of the search for a page.
const (
	searchDepth = 3
	searchFiles = 5000
)

// findPage returns the file nearest to the top for which fits returns true.
func findPage(folder string, fits func(dir string, e fs.DirEntry) bool) string {
	best, seen := "", 0
	depth := func(p string) int { return strings.Count(p, "/") }
	filepath.WalkDir(folder, func(p string, e fs.DirEntry, err error) error {
		if seen++; seen > searchFiles {
			return fs.SkipAll
		}
		rel, relErr := filepath.Rel(folder, p)
		if err != nil || relErr != nil {
			return nil
		}
		rel = "/" + filepath.ToSlash(rel)
		switch {
		case e.IsDir() && (depth(rel) > searchDepth || rel != "/." && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.Type().IsRegular() && !strings.ContainsAny(rel, " %?#$\"<>\\") && fits(filepath.Dir(p), e):
			if best == "" || depth(rel) < depth(best) {
				best = rel
			}
		}
		return nil
	})
	return best
}

// checkMacro asks for a page: that it reaches Scripter, and that its source
// does not leave.
func (d *doctor) checkMacro(ctx context.Context) {
	pages := []string{d.page}
	if folder := d.folder(); d.page == "" && folder != "" {
		pages = []string{
			findPage(folder, func(_ string, e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".mcro" }),
			findPage(folder, func(_ string, e fs.DirEntry) bool {
				ext := filepath.Ext(e.Name())
				return ext != ".mcro" && strings.EqualFold(ext, ".mcro")
			}),
		}
	}
	if strings.Join(pages, "") == "" {
		pages = []string{"/default.mcro"}
		if r := d.probe(ctx, question{path: pages[0]}); r.Probe == nil && !d.disclosed(r, pages[0]) {
			d.add(Warning, "MACRO", "no page with the extension .mcro is known to try; name one with --page")
			return
		}
	}
	for _, p := range pages {
		if p != "" {
			d.pages = append(d.pages, p)
			d.checkPage(ctx, "MACRO", p, p)
		}
	}
}

// checkPage asks for a URL whose page is at the path want.
func (d *doctor) checkPage(ctx context.Context, check, url, want string) {
	r := d.probe(ctx, question{path: url})
	switch {
	case r.Probe == nil && d.disclosed(r, want):
		d.fault("source", "%s is sent to visitors with its markers: everybody can read the source of pages", url)
	case r.Probe == nil:
		d.unreached(check, url, r)
	case !d.checkPath(r, want, "", ""):
		d.reached(url, r)
	case !strings.EqualFold(r.Probe.Action, "MACRO"):
		d.reached(url, r)
		d.fault("action", "the action of %s is %q, by %s, not MACRO", url, r.Probe.Action, r.Probe.Rule)
	case r.Probe.File == "":
		d.reached(url, r)
		d.fault("page file",
			"%s reaches Scripter, but its file does not: DOCUMENT_ROOT is %q, SCRIPT_FILENAME %q, PATH_TRANSLATED %q",
			url, r.Probe.Variables["DOCUMENT_ROOT"], r.Probe.Variables["SCRIPT_FILENAME"],
			r.Probe.Variables["PATH_TRANSLATED"])
	default:
		d.reached(url, r)
		d.ok(check, "%s reaches Scripter, with its file", url)
	}
}

// disclosed reports whether an answer is the source of the page at a path.
func (d *doctor) disclosed(r *answered, path string) bool {
	if r.Status != 200 || r.fromScripter() {
		return false
	}
	source, err := os.ReadFile(filepath.Join(d.folder(), filepath.FromSlash(path)))
	return bytes.Contains(r.Body, []byte("<!--#")) || err == nil && len(source) > 0 && bytes.Equal(r.Body, source)
}

// checkIndex asks for a folder whose index is a page.
func (d *doctor) checkIndex(ctx context.Context) {
	folder := d.folder()
	if folder == "" {
		return
	}
	p := findPage(folder, func(dir string, e fs.DirEntry) bool {
		_, err := os.Stat(filepath.Join(dir, "index.html"))
		return e.Name() == "default.mcro" && os.IsNotExist(err)
	})
	if p == "" {
		return
	}
	url := path.Dir(p)
	if url != "/" {
		url += "/"
	}
	r := d.probe(ctx, question{path: url})
	if r.Probe == nil && !d.disclosed(r, p) && (r.Status == 403 || r.Status == 404) {
		d.warn("index",
			"%s is answered %s, although %s is there: DirectoryIndex does not name default.mcro", url, r.status(), p)
		return
	}
	d.checkPage(ctx, "index", url, p)
}
