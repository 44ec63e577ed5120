package gateway

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// scripter runs the object that the last part of the path names: the
// SCRIPTER action (specification, 1.2.2 and 4.1).
func (c *attempt) scripter(params *script.Table) (script.Value, error) {
	n, a, err := c.scriptObject(tableText(params, "scriptName"))
	if err != nil {
		return nil, err
	}
	if err := c.require(a); err != nil {
		return nil, err
	}
	return c.serve(n, a, params)
}

// scriptObject finds the object that a path names, name by name. The address has the spelling of
// the objects.
func (c *attempt) scriptObject(p string) (*objectdb.Node, objectdb.Address, error) {
	names, err := namesOf(c.Tx, c.Site(), p)
	if err != nil {
		return nil, nil, &Error{Status: 404, Message: err.Error()}
	}
	if !c.Site().HasScriptsIn(p) {
		return nil, nil, &Error{Status: 404, Message: fmt.Sprintf(
			"scripts have no URLs in the folder %.200q: the setting scriptFolders names %q",
			path.Dir(site.CleanPath(p)), c.Site().String(site.ScriptFolders))}
	}
	return c.servable(names)
}

// servable finds the object that names lead to below suites.webserverScripts. The address has the
// spelling of the objects.
func (c *attempt) servable(names []string) (*objectdb.Node, objectdb.Address, error) {
	a := append(make(objectdb.Address, 0, len(site.Scripts)+len(names)), site.Scripts...)
	n, err := c.Tx.Find(a)
	for _, name := range names {
		a = append(a, name)
		if err != nil {
			continue
		}
		if n, err = c.Tx.Child(n, name); err == nil {
			a[len(a)-1] = n.Name()
		}
		if c.request.Trace != nil {
			c.request.trace("%s: %s", a, found(n, err))
		}
	}
	switch {
	case objectdb.IsMissing(err):
		return nil, a, &Error{Status: 404, Message: fmt.Sprintf("there is no %s", a)}
	case err != nil:
		return nil, a, err
	case !site.IsServable(n.Kind()):
		return nil, a, &Error{Status: 403, Message: fmt.Sprintf("%s is a %s, which cannot be served", a, n.Kind())}
	}
	return n, a, nil
}

// found says what was found, for a trace.
func found(n *objectdb.Node, err error) string {
	if err != nil {
		return err.Error()
	}
	return "a " + n.Kind().String()
}

// namesOf returns the names in the last segment of a path, without its extension. If
// an override forces the action, the part after the last dot may also be a name:
// "/forced/p.hello" is the script p.hello if that exists, "/forced/report.html" the
// script report.
func namesOf(tx *objectdb.Tx, s *site.Snapshot, p string) ([]string, error) {
	base := path.Base(p)
	ext := path.Ext(base)
	names, err := scriptNames(strings.TrimSuffix(base, ext))
	if ext == "" || boundAction(s, base) != "" {
		return names, err
	}
	whole, wholeErr := scriptNames(base)
	if wholeErr == nil && (err != nil || hasScript(tx, whole) || !hasScript(tx, names)) {
		return whole, nil
	}
	return names, err
}

// hasScript reports whether these names lead to an object that can answer a request.
func hasScript(tx *objectdb.Tx, names []string) bool {
	n, err := tx.Find(append(slices.Clone(site.Scripts), names...))
	return err == nil && site.IsServable(n.Kind())
}

// scriptNames splits a script's name at its dots. Each name has ASCII letters, digits,
// "_" and "-"; one that begins with "_" is private.
func scriptNames(dotted string) ([]string, error) {
	names := strings.Split(dotted, ".")
	for _, n := range names {
		switch {
		case n == "":
			return nil, fmt.Errorf("%q has an empty name", dotted)
		case n[0] == '_':
			return nil, fmt.Errorf("%q is private: its name begins with _", n)
		}
		for i := 0; i < len(n); i++ {
			if !isAlnum(n[i]) && n[i] != '_' && n[i] != '-' {
				return nil, fmt.Errorf("%q has a character that no script name has in a URL", n)
			}
		}
	}
	return names, nil
}

// serve returns the answer of an object: the result of a script, which is called with the
// parameters, a text with its markers expanded, or a binary.
func (c *attempt) serve(n *objectdb.Node, a objectdb.Address, params *script.Table) (script.Value, error) {
	switch n.Kind() {
	case objectdb.KindScript:
		return c.Thread.Run(a, params)
	case objectdb.KindString, objectdb.KindText, objectdb.KindOutline:
		return c.serveText(n, a)
	case objectdb.KindBinary:
		v, err := c.Tx.Value(n)
		if err != nil {
			return nil, err
		}
		b := v.(objectdb.Binary)
		return c.objectResponse(n, b)
	}
	return nil, &Error{Status: 403, Message: fmt.Sprintf("%s is a %s, which cannot be served", a, n.Kind())}
}

// serveText returns the answer of a text object, with the type that the mime table has for the
// URL's extension; without one it is HTML if it looks like HTML.
func (c *attempt) serveText(n *objectdb.Node, a objectdb.Address) (script.Value, error) {
	page, err := c.objectPage(n)
	if err != nil {
		return nil, err
	}
	kind := c.defaultType()
	text, err := c.expand(page, a.String(), nil)
	if err != nil {
		return nil, err
	}
	if isHTML := page.html || page.parts && looksLikeHTML(text); kind == htmlType && !isHTML {
		kind = "text/plain"
	}
	return c.serveTyped(kind, text)
}

// serveTyped returns a response with the text of an object. The gateway completes its type.
func (c *attempt) serveTyped(kind, text string) (script.Value, error) {
	c.ownType = c.ownType || c.acting == 1
	resp, err := c.typedResponse(kind, text)
	if err == nil {
		err = resp.Check()
	}
	return responseValue{resp: resp}, err
}

// answering returns the address of the object that answers for a target: the script of its
// action, or the object that its route or its path names, which may be missing. It returns nil if
// the path names no object.
func answering(tx *objectdb.Tx, s *site.Snapshot, t Target) objectdb.Address {
	if a, _ := s.Action(t.Action); a.Object != nil {
		return a.Object
	}
	switch {
	case t.Route != nil && t.Route.Object != nil:
		return t.Route.Object
	case strings.EqualFold(t.Action, routeAction):
		a, _ := s.Action(macroAction)
		return a.Object
	}
	names, err := namesOf(tx, s, t.Path)
	if err != nil {
		return nil
	}
	return append(slices.Clone(site.Scripts), names...)
}

// answering returns the address of the object that answers the request: see [answering].
func (c *attempt) answering() objectdb.Address { return answering(c.Tx, c.Site(), c.target) }
