package gateway

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"scripter/runner"
	"scripter/site"
)

// Target is what a request asks for: the outcome of [dispatch].
type Target struct {
	// Path is the decoded URL path up to and with the extension that has an
	// action; it becomes the parameter scriptName.
	Path string
	// Extra is the path after that extension, "/extra/path".
	Extra string
	// PathArgs is the text after the first "$" of the path.
	PathArgs string
	// Action is the action's name as the action table spells it; "" when
	// nothing binds the path to an action.
	Action string
	// Rule says what chose the action: a variable, an override, an extension or a route.
	Rule string
	// Route is the route that answers, with the action ROUTE; nil: none does.
	Route *site.Route
	// ViaHandler is true if the web server has called the handler's own URL.
	ViaHandler bool
	// Admin is true if the path is that of the web page for people, or below it.
	Admin bool

	handler string // path of the action's handler
	allow   string // the methods of the path's routes, which answer OPTIONS
	moved   string // the path with or without a slash at the end, which has a route
}

// dispatch finds the path and the action of a request, by one rule for all web servers. The
// rows of its test have the names of the set-ups.
//
// Web servers disagree on SCRIPT_NAME and PATH_INFO: behind an action the first is the handler
// and the second the page; elsewhere both together are the page. REQUEST_URI serves only to
// refuse direct calls of the handler: after an internal redirect it is still the client's.
func dispatch(r *Request, s *site.Snapshot) (Target, error) {
	d, whole, err := bind(r, s)
	if err != nil {
		return d, err
	}
	if d.Action == "" {
		d.findRoute(r, s, whole)
	}
	if r.Trace != nil {
		r.trace("path %q, extra path %q, path arguments %q", d.Path, d.Extra, d.PathArgs)
		if d.Action != "" {
			r.trace("action %s, by %s", d.Action, d.Rule)
		}
	}
	return d, nil
}

// bind is dispatch without routes. If the path has path arguments, whole is the path with them.
func bind(r *Request, s *site.Snapshot) (d Target, whole string, err error) {
	p := r.Params
	name, info := p["SCRIPT_NAME"], p["PATH_INFO"]
	d.ViaHandler = r.isHandler(path.Base(name))
	if seg, rest := firstSegment(info); !d.ViaHandler && r.isHandler(seg) {
		// mod_proxy_fcgi without a file at the handler's place.
		name, info, d.ViaHandler = name+"/"+seg, rest, true
	}
	asked := name + info
	if d.ViaHandler {
		r.trace("%s is the handler: the page is PATH_INFO, %q", name, info)
		if directCall(p, name) {
			return d, "", &Error{Status: 404, warns: true, Message: fmt.Sprintf(
				"%s was called by its own URL, which would go round the web server's access rules", name)}
		}
		asked = info
	}
	bare, args := cutPathArgs(asked)
	if len(bare) < len(asked) {
		whole, d.PathArgs = asked, args
	}
	if err := CheckPath(bare); err != nil {
		return d, "", err
	}
	for seg := range strings.SplitSeq(bare, "/") {
		if site.IsHandler(seg) {
			return d, "", &Error{Status: 404, Message: fmt.Sprintf(
				"%s is the handler's own URL, which answers nothing itself", clip(bare, 200))}
		}
	}
	bare = cleanWithSlash(bare)
	d.Admin = isBelow(bare, s.String(site.AdminPath))
	d.Path, d.Extra = splitExtension(s, bare)
	if scriptBehindPage(s, d.Path, d.Extra) {
		return d, "", &Error{Status: 404, Message: fmt.Sprintf(
			"%s has a script's extension after that of another action: it names neither a script nor a file", clip(bare, 200))}
	}
	action, rule := chooseAction(s, r, d.Path)
	d.Action, d.handler, d.Rule = action.Name, action.Handler, rule
	return d, whole, nil
}

// cleanWithSlash returns the clean path, with a slash at the end if it had one.
func cleanWithSlash(p string) string {
	clean := site.CleanPath(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// isBelow reports whether a path is that of a folder, with or without the last slash, or below it.
// No path is below "".
func isBelow(path, folder string) bool {
	return folder != "" && (strings.HasPrefix(path, folder) || path+"/" == folder)
}

// newDispatched returns an attempt with the target of its request, for runs other than that of
// the request. If the request cannot be dispatched, the target is empty.
func (x *exchange) newDispatched(r *runner.Run) *attempt {
	c := x.newAttempt(r)
	c.target, _ = dispatch(x.request, c.Site())
	return c
}

// boundAction returns the action that the mime table names for the extension of a
// path, or "".
func boundAction(s *site.Snapshot, p string) string {
	ext := path.Ext(p)
	if ext == "" {
		return ""
	}
	t, _ := s.MimeType(ext)
	return t.Action
}

// scriptBehindPage reports whether the extension of a path belongs to another
// action and the extra path has a script's extension: "/page.mcro" and "/x.fcgi".
// Some web servers take such a URL for a script, others for a page.
func scriptBehindPage(s *site.Snapshot, p, extra string) bool {
	if extra == "" || strings.EqualFold(boundAction(s, p), scripterAction) {
		return false
	}
	for segment := range strings.SplitSeq(extra, "/") {
		if strings.EqualFold(boundAction(s, segment), scripterAction) {
			return true
		}
	}
	return false
}

// splitExtension cuts p after the first segment whose extension the mime
// table binds to an action; without one, all of p is the path.
func splitExtension(s *site.Snapshot, p string) (head, extra string) {
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if ext := path.Ext(p[:i]); ext != "" {
			if t, ok := s.MimeType(ext); ok && t.Action != "" {
				return p[:i], p[i:]
			}
		}
	}
	return p, ""
}

// chooseAction chooses the action of a path: the one that a variable of the web server names,
// else an override in the root, else the action of the extension (specification, 2.1: Action
// Override forces any folder or file). A variable that names no action is ignored. Many web
// servers name the action of every request. So a variable that only repeats the action of the
// extension is no override, and an override in the root has precedence over it. HTTP_*
// variables are ignored: the client writes them.
func chooseAction(s *site.Snapshot, r *Request, p string) (a site.Action, rule string) {
	for _, v := range [...]string{"SCRIPTER_ACTION", "REDIRECT_SCRIPTER_ACTION", "REDIRECT_HANDLER"} {
		word := r.Params[v]
		if word == "" || strings.EqualFold(word, routeAction) {
			continue
		}
		var ok bool
		if a, ok = s.Action(word); ok {
			rule = v
			break
		}
		r.trace("%s is %q, which is no action here", v, word)
	}
	if rule != "" && !strings.EqualFold(a.Name, boundAction(s, p)) {
		return a, rule
	}
	if word := s.Override(r.Host(), p); word != "" {
		if forced, ok := s.Action(word); ok {
			return forced, "user.webserver.overrides"
		}
		r.trace("user.webserver.overrides says %q, which is no action here", word)
	}
	if rule != "" {
		return a, rule
	}
	ext := path.Ext(p)
	t, ok := s.MimeType(ext)
	if !ok || t.Action == "" {
		r.trace("the extension %q has no action in user.webserver.mimeTable", ext)
		return site.Action{}, ""
	}
	if a, ok := s.Action(t.Action); ok {
		return a, "the extension " + t.Extension
	}
	r.trace("the extension %q is bound to %q, which is no action here", ext, t.Action)
	return site.Action{}, ""
}

func (r *Request) isHandler(file string) bool {
	return site.IsHandler(file) || isOneOf(file, r.HandlerNames)
}

func isOneOf(file string, names []string) bool {
	for _, n := range names {
		if strings.EqualFold(file, n) {
			return true
		}
	}
	return false
}

func firstSegment(p string) (seg, rest string) {
	s, ok := strings.CutPrefix(p, "/")
	if !ok {
		return "", p
	}
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// directCall reports whether the client itself has named the handler's URL. Such a request
// would reach every file below the document root past the rules of the web server. Without
// REQUEST_URI, REDIRECT_STATUS and REDIRECT_URL a call counts as direct.
func directCall(p map[string]string, handler string) bool {
	uri := p["REQUEST_URI"]
	if uri == "" {
		return p["REDIRECT_STATUS"] == "" && p["REDIRECT_URL"] == ""
	}
	asked := strings.ToLower(path.Clean("/" + requestPath(uri)))
	own := strings.ToLower(path.Clean("/" + handler))
	return asked == own || strings.HasPrefix(asked, own+"/")
}

// requestPath returns the decoded path of a REQUEST_URI.
func requestPath(uri string) string {
	uri, _, _ = strings.Cut(withoutOrigin(uri), "?")
	return DecodePath(uri)
}

// withoutOrigin returns the path and query of a REQUEST_URI. Apache passes the
// absolute form on if the client has sent it.
func withoutOrigin(uri string) string {
	if i := strings.Index(uri, "://"); i > 0 && !strings.ContainsAny(uri[:i], "/?#") {
		uri = uri[i+3:]
		if i := strings.IndexAny(uri, "/?"); i >= 0 {
			return uri[i:]
		}
		return "/"
	}
	return uri
}

// cutPathArgs cuts off the path arguments, which begin at the first "$". Some proxies write it
// as %24, and some web servers do not decode that.
func cutPathArgs(p string) (rest, args string) {
	rest, args, _ = strings.Cut(p, "$")
	if i := strings.Index(rest, "%24"); i >= 0 {
		if args == "" && len(rest) == len(p) {
			return rest[:i], rest[i+3:]
		}
		return rest[:i], rest[i+3:] + "$" + args
	}
	return rest, args
}

// CheckPath is [site.CheckPath] with the error for a visitor.
func CheckPath(p string) error {
	if err := site.CheckPath(p); err != nil {
		return &Error{Status: 400, Message: err.Error()}
	}
	return nil
}

// files returns where the file of the path may lie, best first. Only files with the name of
// the path count: if /sent.txt is a file, lighttpd cuts /sent.txt/x.mcro after it, and
// /sent.txt, which a visitor may have written, would be taken for the page.
func (d Target) files(p map[string]string) []string {
	var files []string
	add := func(f string) {
		if path.Base(f) == path.Base(d.Path) && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	if d.ViaHandler {
		// PATH_TRANSLATED honours Alias; it carries the rest of the path too.
		f, _ := cutPathArgs(p["PATH_TRANSLATED"])
		add(strings.TrimSuffix(f, d.Extra))
	} else {
		f, _ := cutPathArgs(scriptFilename(p["SCRIPT_FILENAME"]))
		// Without a split configured, the whole path stands in it.
		add(strings.TrimSuffix(f, d.Extra))
		if u, err := url.PathUnescape(f); err == nil {
			add(strings.TrimSuffix(u, d.Extra))
		}
	}
	if root := p["DOCUMENT_ROOT"]; root != "" {
		add(strings.TrimSuffix(root, "/") + d.Path)
	}
	return files
}

// scriptFilename returns the path in a SCRIPT_FILENAME without what mod_proxy_fcgi puts in front
// of it.
func scriptFilename(f string) string {
	rest, ok := strings.CutPrefix(f, "proxy:fcgi://")
	if !ok {
		return f
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return path.Clean(rest[i:])
	}
	return ""
}
