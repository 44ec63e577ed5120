package gateway

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// rules are what the root says of every request: settings, tables of actions,
// trap. They are read and checked once, and again when one of these objects was
// written ([objectdb.Derived]); nobody changes them.
type rules struct {
	from      *objectdb.Derived[*rules]
	values    []objectdb.Value     // of the settings, by Setting.index
	limits    lua.Limits           // of a script that has none of its own
	limited   bool                 // some scripts have
	required  bool                 // user.webserver.requires has rows
	mime      map[string]MimeEntry // by the folded extension
	actions   map[string]actionRow // by the name, as it is spelled and folded
	overrides map[string][]pathRow // by the folded host
	callbacks bool                 // there are scripts in their tables
	folders   []string             // user.webserver.pageFolders
	trap      objectdb.Address     // nil: there is none
	plain     plainScripts
}

// actionRow is what the tables say of one action.
type actionRow struct {
	name, handler string
	object        bool // it has an object at user.webserver.actions
}

// pathRow is one row of a table host -> path prefix -> value.
type pathRow struct{ prefix, value string }

// readRules reads the rules. An error of the database is not taken for a
// missing object.
func (g *Gateway) readRules(tx *objectdb.Tx) (*rules, error) {
	var trouble error
	s := readSettings(tx)
	s.trouble = &trouble
	t := actionTables{s}
	r := &rules{
		from:   g.rules,
		values: make([]objectdb.Value, len(Settings)), limits: limits{settings: s}.read(), limited: len(s.children(LimitRows.Name())) > 0,
		mime: t.mimeRows(), actions: t.actionRows(), overrides: t.pathRows("overrides"),
		callbacks: s.hasCallbacks(), folders: s.pageFolders(), required: s.hasRequires(),
	}
	for i, set := range Settings {
		r.values[i] = s.value(set)
	}
	r.trap, _ = findTrap(tx, s)
	r.plain = g.plainScripts(tx, s, r.trap)
	return r, trouble
}

// rulesOf gives the rules as a transaction sees them that has written nothing
// yet; nil when they cannot be read.
func (g *Gateway) rulesOf(tx *objectdb.Tx) *rules {
	r, err := g.rules.Get(tx)
	if err != nil {
		return nil
	}
	return r
}

// settingsOf gives the settings for a request that begins.
func (g *Gateway) settingsOf(tx *objectdb.Tx) settings {
	s := settings{tx: tx}
	if g.rules != nil && !tx.Written() {
		s.rules = g.rulesOf(tx)
	}
	if s.rules == nil {
		return readSettings(tx)
	}
	return s
}

// known gives the rules while they hold: the transaction may write to its own
// settings. It gives nil when each is to be read by itself.
func (s settings) known() *rules {
	if s.rules == nil || s.tx.Written() && !s.rules.from.Holds(s.tx) {
		return nil
	}
	return s.rules
}

// mimeRows reads the mime extension table.
func (t actionTables) mimeRows() map[string]MimeEntry {
	rows := map[string]MimeEntry{}
	for _, n := range t.settings.children("mimeTable") {
		if e, ok := t.mime(n.Name()); ok {
			rows[objectdb.Fold(n.Name())] = e
		}
	}
	return rows
}

// actionRows reads the action table and the names of the scripts.
func (t actionTables) actionRows() map[string]actionRow {
	rows := map[string]actionRow{}
	for _, n := range t.settings.children("actions") {
		rows[objectdb.Fold(n.Name())] = actionRow{name: n.Name(), object: true}
	}
	for _, n := range t.settings.children("actionTable") {
		fold := objectdb.Fold(n.Name())
		rows[fold] = actionRow{n.Name(), t.settings.text(n), rows[fold].object}
	}
	for _, row := range slices.Collect(maps.Values(rows)) {
		rows[row.name] = row
	}
	return rows
}

// action gives the row of an action; names are the same whatever their case.
func (r *rules) action(name string) (actionRow, bool) {
	row, ok := r.actions[name]
	if !ok {
		row, ok = r.actions[objectdb.Fold(name)]
	}
	return row, ok
}

// hasCallbacks tells whether there is anything in the tables of callbacks.
func (s settings) hasCallbacks() bool {
	for _, n := range s.children("callbacks") {
		if len(s.children("callbacks", n.Name())) > 0 {
			return true
		}
	}
	return false
}

// hasRequires reports whether [RequireRows] has rows or is not a table.
func (s settings) hasRequires() bool {
	n := s.node(RequireRows.Name())
	return n != nil && (n.Kind() != objectdb.KindTable || len(s.children(RequireRows.Name())) > 0)
}

// pathRows reads a table host -> path prefix -> value.
func (t actionTables) pathRows(table string) map[string][]pathRow {
	hosts := map[string][]pathRow{}
	for _, h := range t.settings.children(table) {
		for _, n := range t.settings.children(table, h.Name()) {
			if n.Kind() != objectdb.KindTable {
				fold := objectdb.Fold(h.Name())
				hosts[fold] = append(hosts[fold], pathRow{n.Name(), t.settings.text(n)})
			}
		}
	}
	return hosts
}

// pageFolders lists the folders that pages come from beside the site's own.
func (s settings) pageFolders() []string {
	n := s.node("pageFolders")
	if n == nil || n.Kind() != objectdb.KindList {
		return nil
	}
	v, err := s.tx.Value(n)
	if err != nil {
		s.note(err)
		return nil
	}
	var folders []string
	for _, f := range v.(objectdb.List) {
		if text, ok := f.(objectdb.String); ok {
			folders = append(folders, string(text))
		}
	}
	return folders
}

// children lists what is in a table below user.webserver, in order.
func (s settings) children(names ...string) []*objectdb.Node {
	t := s.table(names...)
	if t == nil {
		return nil
	}
	nodes, err := s.tx.Children(t)
	s.note(err)
	return nodes
}

// note remembers an error that is more than a missing object, where somebody
// wants to know.
func (s settings) note(err error) {
	if s.trouble != nil && err != nil && !errors.Is(err, objectdb.ErrNotFound) && !errors.Is(err, objectdb.ErrNotTable) {
		*s.trouble = err
	}
}

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

func (g *Gateway) plainScripts(tx *objectdb.Tx, s settings, trap objectdb.Address) (p plainScripts) {
	t := g.runner.Engine().NewThread(tx.Context(), script.ThreadOptions{Tx: tx})
	defer t.Close()
	source := func(a objectdb.Address) string {
		n, err := tx.Find(a)
		if err != nil || n.Kind() != objectdb.KindScript {
			s.note(err)
			return ""
		}
		v, err := tx.Value(n)
		s.note(err)
		text, _ := v.(objectdb.Script)
		return withoutComments(string(text))
	}
	// is tells whether a script that calls name comes to the verb of that name.
	var is func(name ...string) bool
	is = func(name ...string) bool {
		v, err := t.Lookup(name...)
		s.note(err)
		o, ok := v.(*script.Object)
		if !ok || o.Kind() != objectdb.KindScript {
			return strings.HasSuffix(strings.Join(name, "."), t.VerbName(v)) && t.VerbName(v) != ""
		}
		verb := strings.TrimSuffix(strings.TrimPrefix(source(o.Address()), plainCall), plainArgs)
		return verb == strings.Join(name, ".") && is(append([]string{"system", "verbs", "builtins"}, name...)...)
	}
	header := is("webserver", "httpHeader")
	p.trap = trap != nil && source(trap) == plainTrap && is("webserver", "handler")
	p.header = header && source(httpheaderScript) == plainCall+"webserver.httpHeader"+plainArgs
	p.macro = header && source(objectdb.Address{"user", "webserver", "actions", macroAction}) == plainMacro && is("webserver", "expandPage")
	return p
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

// plain tells whether the supplied scripts still do what they did when the
// request began, and does when none of its scripts may have changed that.
func (c *attempt) plain() plainScripts {
	r := c.settings.known()
	if r == nil || !c.Thread.Untouched(plainNames...) {
		return plainScripts{}
	}
	return r.plain
}
