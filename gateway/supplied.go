package gateway

import (
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// Nearly every request runs two or three supplied scripts, which only call verbs.
// While they, and the names that they use, are as supplied, the gateway calls the verbs
// itself; otherwise it runs the scripts. Both ways give the same response. This file
// decides which one is taken. docs/performance.md says what it saves.

// suppliedScripts says which scripts are as supplied and call the supplied verbs.
type suppliedScripts struct {
	trap   bool // the trap calls webserver.handler
	header bool // suites.webserver.httpheader is the verb of that name
	macro  bool // user.webserver.actions.MACRO is a header and the expanded page
}

// The supplied scripts without their comments.
const (
	suppliedTrap  = "local params = ...\nreturn webserver.handler (params)"
	suppliedMacro = "local params = ...\nreturn webserver.httpHeader () .. webserver.expandPage (params)"
	suppliedCall  = "return system.verbs.builtins." // and the verb's name, and suppliedArgs
	suppliedArgs  = " (...)"
)

// suppliedNames are the bare names in the supplied scripts: see
// [script.Thread.Untouched].
var suppliedNames = []string{"webserver", "system"}

// readSupplied compares the scripts with the supplied ones.
func (g *Gateway) readSupplied(tx *objectdb.Tx) (p suppliedScripts, trouble error) {
	s, err := g.site.Snapshot(tx)
	if err != nil {
		return p, err
	}
	note := func(err error) {
		if err != nil && !objectdb.IsMissing(err) {
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
	// is reports whether a script that calls name calls the verb of that name.
	var is func(name ...string) bool
	is = func(name ...string) bool {
		v, err := t.Lookup(name...)
		note(err)
		o, ok := v.(*script.Object)
		if !ok || o.Kind() != objectdb.KindScript {
			return strings.HasSuffix(strings.Join(name, "."), t.VerbName(v)) && t.VerbName(v) != ""
		}
		verb := strings.TrimSuffix(strings.TrimPrefix(source(o.Address()), suppliedCall), suppliedArgs)
		return verb == strings.Join(name, ".") && is(append([]string{"system", "verbs", "builtins"}, name...)...)
	}
	header := is("webserver", "httpHeader")
	trap, ok := s.Trap()
	p.trap = ok && source(trap) == suppliedTrap && is("webserver", "handler")
	p.header = header && source(httpheaderScript) == suppliedCall+"webserver.httpHeader"+suppliedArgs
	p.macro = header && source(site.ActionObjects.Child(macroAction)) == suppliedMacro && is("webserver", "expandPage")
	return p, trouble
}

// withoutComments removes from a script the lines that are comments, and the blanks
// around the others. A line that begins a long comment stays: such a script is not as
// supplied.
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

// supplied returns which scripts are as supplied. It returns none of them if a script of this
// attempt has changed the meaning of their names, or if the root cannot be read: then the scripts
// are run, and they return the error.
func (c *attempt) supplied() suppliedScripts {
	if !c.Thread.Untouched(suppliedNames...) {
		return suppliedScripts{}
	}
	p, err := c.g.supplied.Get(c.Tx)
	if err != nil {
		return suppliedScripts{}
	}
	return p
}
