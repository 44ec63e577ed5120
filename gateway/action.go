package gateway

import (
	"path"
	"strings"

	"scripter/objectdb"
)

// actionTables reads the tables of the specification's section 2.1 from the
// root: user.webserver.actionTable (action to handler) and
// user.webserver.mimeTable (extension to MIME type and action), and what
// Action Override (2.1, 4.4.3) says by path.
type actionTables struct {
	settings settings
}

// MimeEntry is one row of the mime extension table.
type MimeEntry struct {
	Extension, Type, Action string
}

// mime gives the row of an extension such as ".fcgi".
func (t actionTables) mime(ext string) (MimeEntry, bool) {
	if r := t.settings.known(); r != nil {
		e, ok := r.mime[objectdb.Fold(ext)]
		return e, ok
	}
	row := t.settings.table("mimeTable", ext)
	if row == nil {
		return MimeEntry{}, false
	}
	e := MimeEntry{
		Extension: row.Name(),
		Type:      t.settings.textAt(row, "type"),
		Action:    t.settings.textAt(row, "action"),
	}
	return e, true
}

// bound returns the action that the mime table names for the extension of a
// path, or "".
func (t actionTables) bound(p string) string {
	ext := path.Ext(p)
	if ext == "" {
		return ""
	}
	e, _ := t.mime(ext)
	return e.Action
}

// scriptBehindPage reports whether the extension of a path belongs to another
// action and the extra path has a script's extension: "/page.mcro" and "/x.fcgi".
// Some web servers take such a URL for a script, others for a page.
func (t actionTables) scriptBehindPage(p, extra string) bool {
	if extra == "" || strings.EqualFold(t.bound(p), scripterAction) {
		return false
	}
	for segment := range strings.SplitSeq(extra, "/") {
		if strings.EqualFold(t.bound(segment), scripterAction) {
			return true
		}
	}
	return false
}

// splitExtension cuts p after the first segment whose extension the mime
// table binds to an action; without one, all of p is the path.
func (t actionTables) splitExtension(p string) (head, extra string) {
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if ext := path.Ext(p[:i]); ext != "" {
			if e, ok := t.mime(ext); ok && e.Action != "" {
				return p[:i], p[i:]
			}
		}
	}
	return p, ""
}

// handler gives an action's name as its table spells it, and the path of
// its handler. Known are the rows of the action table and the scripts at
// user.webserver.actions.
func (t actionTables) handler(action string) (name, handler string, ok bool) {
	if action == "" {
		return "", "", false
	}
	if r := t.settings.known(); r != nil {
		row, ok := r.action(action)
		return row.name, row.handler, ok
	}
	if n := t.settings.node("actionTable", action); n != nil {
		return n.Name(), t.settings.text(n), true
	}
	if n := t.settings.node("actions", action); n != nil {
		return n.Name(), "", true
	}
	return "", "", false
}

// action chooses the action of a path: the web server's word, then an
// override in the root, then the extension (specification, 2.1: Action
// Override forces any folder or file). A word that names no known action is
// the name of something else and is ignored. Many web servers name the action of
// every request. So a word that repeats the extension's own action is not an
// override and has no precedence over one in the root. HTTP_* variables are
// ignored: the client writes them.
func (t actionTables) action(r *Request, p string) (name, handler, rule string) {
	for _, v := range [...]string{"SCRIPTER_ACTION", "REDIRECT_SCRIPTER_ACTION", "REDIRECT_HANDLER"} {
		word := r.Params[v]
		if word == "" {
			continue
		}
		var ok bool
		if name, handler, ok = t.handler(word); ok {
			rule = v
			break
		}
		r.trace("%s is %q, which is no action here", v, word)
	}
	if rule != "" && !strings.EqualFold(name, t.bound(p)) {
		return name, handler, rule
	}
	if word := t.override(r, p); word != "" {
		if name, handler, ok := t.handler(word); ok {
			return name, handler, "user.webserver.overrides"
		}
		r.trace("user.webserver.overrides says %q, which is no action here", word)
	}
	if rule != "" {
		return name, handler, rule
	}
	ext := path.Ext(p)
	e, ok := t.mime(ext)
	if !ok || e.Action == "" {
		r.trace("the extension %q has no action in user.webserver.mimeTable", ext)
		return "", "", ""
	}
	if name, handler, ok := t.handler(e.Action); ok {
		return name, handler, "the extension " + e.Extension
	}
	r.trace("the extension %q is bound to %q, which is no action here", ext, e.Action)
	return "", "", ""
}

// override gives the value of user.webserver.overrides for a path.
func (t actionTables) override(r *Request, p string) string {
	known := t.settings.known()
	if known == nil {
		return t.byPath("overrides", r.Host(), p)
	}
	if len(known.overrides) == 0 {
		return ""
	}
	for _, h := range [...]string{r.Host(), "*"} {
		best, value := -1, ""
		for _, row := range known.overrides[objectdb.Fold(h)] {
			if len(row.prefix) > best && hasPathPrefix(p, row.prefix) {
				best, value = len(row.prefix), row.value
			}
		}
		if best >= 0 {
			return value
		}
	}
	return ""
}

// byPath reads a table host -> path prefix -> value: the longest prefix
// wins, the host's own rows go before those of "*".
func (t actionTables) byPath(table, host, p string) string {
	for _, h := range []string{host, "*"} {
		if h == "" {
			continue
		}
		rows := t.settings.table(table, h)
		if rows == nil {
			continue
		}
		best, value := -1, ""
		children, err := t.settings.tx.Children(rows)
		if err != nil {
			continue
		}
		for _, n := range children {
			if len(n.Name()) > best && hasPathPrefix(p, n.Name()) && n.Kind() != objectdb.KindTable {
				best, value = len(n.Name()), t.settings.text(n)
			}
		}
		if best >= 0 {
			return value
		}
	}
	return ""
}

// hasPathPrefix tells whether p is prefix or lies below it.
func hasPathPrefix(p, prefix string) bool {
	if !strings.HasPrefix(p, prefix) {
		return false
	}
	return strings.HasSuffix(prefix, "/") || len(p) == len(prefix) || p[len(prefix)] == '/'
}
