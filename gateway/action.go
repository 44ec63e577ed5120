package gateway

import (
	"path"
	"strings"

	"scripter/site"
)

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

// chooseAction chooses the action of a path: the web server's word, then an
// override in the root, then the extension (specification, 2.1: Action
// Override forces any folder or file). A word that names no known action is
// the name of something else and is ignored. Many web servers name the action of
// every request. So a word that repeats the extension's own action is not an
// override and has no precedence over one in the root. HTTP_* variables are
// ignored: the client writes them.
func chooseAction(s *site.Snapshot, r *Request, p string) (a site.Action, rule string) {
	for _, v := range [...]string{"SCRIPTER_ACTION", "REDIRECT_SCRIPTER_ACTION", "REDIRECT_HANDLER"} {
		word := r.Params[v]
		if word == "" {
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
