package gateway

import (
	"errors"
	"strings"

	"scripter/objectdb"
	"scripter/script"
)

// plainScripts tells which supplied scripts are there as supplied and call what
// they always call. Then their work is done at once, without Lua.
type plainScripts struct {
	trap   bool // it hands its parameters to webserver.handler
	header bool // suites.webserver.httpheader is the verb of that name
	macro  bool // user.webserver.actions.MACRO is a header and the expanded page
}

// The supplied scripts without their comments.
const (
	plainTrap  = "local params = ...\nreturn webserver.handler (params)"
	plainMacro = "local params = ...\nreturn webserver.httpHeader () .. webserver.expandPage (params)"
	plainCall  = "return system.verbs.builtins." // and the verb's name, and plainArgs
	plainArgs  = " (...)"
)

// plainNames are the bare names in the supplied scripts: see
// [script.Thread.Untouched].
var plainNames = []string{"webserver", "system"}

func (g *Gateway) readPlainScripts(tx *objectdb.Tx) (p plainScripts, trouble error) {
	s, err := g.site.Snapshot(tx)
	if err != nil {
		return p, err
	}
	note := func(err error) {
		if err != nil && !errors.Is(err, objectdb.ErrNotFound) && !errors.Is(err, objectdb.ErrNotTable) {
			trouble = err
		}
	}
	t := g.runner.Engine().NewThread(tx.Context(), script.ThreadOptions{Tx: tx})
	defer t.Close()
	source := func(a objectdb.Address) string {
		n, err := tx.Find(a)
		if err != nil || n.Kind() != objectdb.KindScript {
			note(err)
			return ""
		}
		v, err := tx.Value(n)
		note(err)
		text, _ := v.(objectdb.Script)
		return withoutComments(string(text))
	}
	// is tells whether a script that calls name comes to the verb of that name.
	var is func(name ...string) bool
	is = func(name ...string) bool {
		v, err := t.Lookup(name...)
		note(err)
		o, ok := v.(*script.Object)
		if !ok || o.Kind() != objectdb.KindScript {
			return strings.HasSuffix(strings.Join(name, "."), t.VerbName(v)) && t.VerbName(v) != ""
		}
		verb := strings.TrimSuffix(strings.TrimPrefix(source(o.Address()), plainCall), plainArgs)
		return verb == strings.Join(name, ".") && is(append([]string{"system", "verbs", "builtins"}, name...)...)
	}
	header := is("webserver", "httpHeader")
	trap, ok := s.Trap()
	p.trap = ok && source(trap) == plainTrap && is("webserver", "handler")
	p.header = header && source(httpheaderScript) == plainCall+"webserver.httpHeader"+plainArgs
	p.macro = header && source(objectdb.Address{"user", "webserver", "actions", macroAction}) == plainMacro && is("webserver", "expandPage")
	return p, trouble
}

// withoutComments takes the lines off a script that are comments, and the blanks
// around the others. A script with long comments is not as supplied; it stays.
func withoutComments(source string) string {
	var lines []string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && (!strings.HasPrefix(line, "--") || strings.HasPrefix(line, "--[")) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// plain reports which supplied scripts still do what they did when the request began.
func (c *attempt) plain() plainScripts {
	if !c.Thread.Untouched(plainNames...) {
		return plainScripts{}
	}
	p, err := c.g.plain.Get(c.Tx)
	if err != nil {
		return plainScripts{}
	}
	return p
}
