package lint

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// typesFolder is where the descriptions lie, below the folder of an editor. Its
// name begins with a dot, so that an import of that folder passes them over.
const typesFolder = ".types"

// Types describes what scripts see for lua-language-server: the settings of an
// editor's folder, and files of "---@meta" with every verb, the library odb,
// the names of the request and the tables of the root as they are now. The
// result maps file names to contents. names has the types of the request's names
// that their values do not show, tests the verbs that only tests see.
func Types(t *script.Thread, names map[string]string, tests []script.Verb) (map[string]string, error) {
	w := &typeWriter{t: t, names: names, classes: map[string]string{}, taken: map[string]int{}}
	rootFile, err := w.root()
	if err != nil {
		return nil, fmt.Errorf("describe the root: %w", err)
	}
	files := map[string]string{
		".luarc.json":                languageServerSettings(),
		typesFolder + "/values.lua":  meta(valueTypes + fetchedType + databaseType),
		typesFolder + "/odb.lua":     meta(verbTypes("odb", "odb", true, script.ODB())),
		typesFolder + "/verbs.lua":   meta(w.verbs()),
		typesFolder + "/tests.lua":   meta(testTypes(tests)),
		typesFolder + "/request.lua": meta(w.request()),
		typesFolder + "/root.lua":    meta(rootFile),
	}
	return files, addRocks(t, files)
}

// addRocks adds the modules of the rocks, as files where an editor looks for what a script requires.
func addRocks(t *script.Thread, files map[string]string) error {
	if t.Tx() == nil {
		return nil
	}
	return script.EachRockModule(t.Tx(), func(name, source string) {
		file := strings.ReplaceAll(name, ".", "/") + ".lua"
		if fs.ValidPath(file) && !strings.ContainsAny(file, "\\:") {
			files[rocksFolder+"/"+file] = source
		}
	})
}

// rocksFolder is where the modules of rocks lie.
const rocksFolder = typesFolder + "/rocks"

// meta returns a file of descriptions, which is never run.
func meta(body string) string {
	return "---@meta _\n-- Written by \"scripter types\". Changes will be lost.\n\n" + body
}

// languageServerSettings returns the settings for a folder of scripts: the libraries
// that scripts have, and the folder of the descriptions.
func languageServerSettings() string {
	builtin := map[string]string{}
	for _, name := range strings.Fields("basic builtin coroutine math os string table") { // builtin has the types
		builtin[name] = "enable"
	}
	for _, name := range strings.Fields("bit bit32 debug ffi io jit jit.profile jit.util package string.buffer " +
		"table.clear table.new utf8") {
		builtin[name] = "disable"
	}
	b, _ := json.MarshalIndent(map[string]any{
		"runtime.version":           "Lua 5.1",
		"runtime.builtin":           builtin,
		"workspace.library":         []string{typesFolder, rocksFolder},
		"diagnostics.disable":       []string{"lowercase-global"},
		"workspace.checkThirdParty": false,
	}, "", "  ")
	return string(b) + "\n"
}

const valueTypes = `---A date, in UTC. tostring gives "2026-01-31 18:30:00".
---@class date
---@field year integer
---@field month integer
---@field day integer
---@field hour integer
---@field min integer
---@field sec integer
---@field nsec integer
---@field wday integer # 1 is Sunday
---@field yday integer
---@field unix number # seconds since 1970
---@operator add(number): date
---@operator sub(number): date
---@operator sub(date): number

---Bytes with a MIME type.
---@class binary
---@field type string
---@field data string

---The address of an object. Called, it gives what is there.
---@class address
---@field name string
---@field parent address
---@overload fun(): any
local address = {}

---What is there, else the default.
---@param default? any
---@return any
function address:get(default) end

---Runs a script of the root or a module of a rock once, with its name as argument, and gives what it returned.
---@param name string
---@return any
function require(name) end
`

// verbTypes describes a group of functions under a name.
func verbTypes(class, variable string, global bool, verbs []script.Verb) string {
	var b strings.Builder
	scope := "local "
	if global {
		scope = ""
	}
	fmt.Fprintf(&b, "---@class %s\n%s%s = {}\n", class, scope, variable)
	for _, v := range verbs {
		b.WriteString("\n" + verbType(&v, variable+"."+v.Name[strings.LastIndexByte(v.Name, '.')+1:]))
	}
	return b.String()
}

// verbType describes one function.
func verbType(v *script.Verb, name string) string {
	var b strings.Builder
	comment(&b, v.Doc)
	if v.Page {
		comment(&b, "Markers in pages may call it.")
	}
	if v.Errors != "" {
		comment(&b, "Fails for: "+v.Errors+".")
	}
	b.WriteString("---```lua\n")
	comment(&b, v.Example)
	fmt.Fprintf(&b, "---```\n---gives %s\n", strings.ReplaceAll(v.Gives, "\n", " "))
	var names []string
	for _, p := range v.Params {
		word, mark := luaName(p.Name), ""
		if p.Optional {
			mark = "?"
		}
		names = append(names, word)
		fmt.Fprintf(&b, "---@param %s%s %s%s\n", word, mark, p.Type, space(describe(p)))
	}
	for _, p := range v.Results {
		fmt.Fprintf(&b, "---@return %s%s\n", p.Type, hash(p.Doc))
	}
	fmt.Fprintf(&b, "function %s(%s) end\n", name, strings.Join(names, ", "))
	return b.String()
}

// describe returns what the name and type of a parameter do not say.
func describe(p script.Param) string {
	switch {
	case p.Default != "" && p.Doc != "":
		return p.Doc + "; " + p.Default + " when it is not given"
	case p.Default != "":
		return p.Default + " when it is not given"
	}
	return p.Doc
}

func space(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func hash(s string) string {
	if s == "" {
		return ""
	}
	return " # " + s
}

// comment writes text as lines of description.
func comment(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("---" + strings.TrimRight(line, "\r\n") + "\n")
	}
}

// luaName returns a parameter's name as a name of Lua.
func luaName(s string) string {
	if s == "…" {
		return "..."
	}
	if lua.IsReserved(s) {
		return s + "_"
	}
	return s
}

// A typeWriter describes what one thread sees.
type typeWriter struct {
	t       *script.Thread
	names   map[string]string // types of names of the request
	classes map[string]string // by address
	taken   map[string]int    // names of classes
	b       strings.Builder
}

// verbs describes the verbs, a class for each group. Their bare names follow
// in the description of the root.
func (w *typeWriter) verbs() string {
	groups := map[string][]script.Verb{}
	var order []string
	var b strings.Builder
	for _, v := range w.t.Engine().Verbs() {
		group := v.Name[:max(strings.LastIndexByte(v.Name, '.'), 0)]
		if group == "" {
			b.WriteString(verbType(&v, v.Name) + "\n")
			continue
		}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], v)
	}
	for _, g := range order {
		text := verbTypes(groupClass(g), "group", false, groups[g])
		class, functions, _ := strings.Cut(text, "\n")
		b.WriteString(class + "\n" + w.properties(g) + functions + "\n")
	}
	return scoped(b.String())
}

// testTypes describes the verbs of tests, which are bare names.
func testTypes(verbs []script.Verb) string {
	var b strings.Builder
	groups := map[string][]script.Verb{}
	for _, v := range verbs {
		group, _, ok := strings.Cut(v.Name, ".")
		if !ok {
			b.WriteString(answerType + verbType(&v, v.Name) + "\n")
			continue
		}
		groups[group] = append(groups[group], v)
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		b.WriteString(verbTypes(groupClass(group), group, true, groups[group]) + "\n")
	}
	return b.String()
}

// answerType describes what the verb request returns.
const answerType = `---The answer to a request of a test.
---@class answer
---@field status integer
---@field headers table<string, string|string[]> # by their names in lower case
---@field body string
---@field errors string[] # what the log of the server would say

`

// fetchedType describes what http.fetch returns.
const fetchedType = `
---The answer of another host.
---@class fetched
---@field status integer
---@field headers table<string, string|string[]> # by their names in lower case
---@field body string
---@field url string # the last one, after redirects
---@field json fun(): any # the decoded body
`

// databaseType describes what sql.open returns.
const databaseType = `
---A database that scripter.conf lists.
---@class database
---@field name string
local database = {}

---@param statement string
---@param ... any # for each ? in the statement
---@return table<string, any>[] rows
function database:query(statement, ...) end

---@param statement string
---@param ... any # for each ? in the statement
---@return table<string, any>|nil row # the first one
function database:row(statement, ...) end

---@param statement string
---@param ... any # for each ? in the statement
---@return integer changed # rows
---@return table<string, any>[]|integer|nil more # the rows of RETURNING, or the id of a new row
function database:exec(statement, ...) end
`

// properties returns the fields for the cells of a group of verbs that are values.
func (w *typeWriter) properties(group string) string {
	var b strings.Builder
	for _, name := range w.t.Engine().Properties(group) {
		fmt.Fprintf(&b, "---@field %s any\n", fieldName(name))
	}
	return b.String()
}

// scoped gives each "local group" a block of its own: Lua allows 200 locals.
func scoped(text string) string {
	parts := strings.Split(text, "---@class ")
	for i := 1; i < len(parts); i++ {
		parts[i] = "do\n---@class " + parts[i] + "end\n"
	}
	return strings.Join(parts, "")
}

// groupClass returns the class of a group of verbs.
func groupClass(group string) string { return "verbs." + group }

// request describes the names of the request: as fields of the parameter table,
// and as bare names.
func (w *typeWriter) request() string {
	var fields, globals strings.Builder
	fields.WriteString("---The parameters of a request: local params = ... ---@type params\n---@class params\n")
	if w.t.Names() != nil {
		w.t.Names().Each(func(k, v script.Value) bool {
			name, ok := k.(string)
			if ok {
				kind := w.names[name]
				if kind == "" {
					kind = "string"
					switch v.(type) {
					case *script.Table:
						kind = "table<string, any>"
					case float64, int, int64:
						kind = "number"
					}
				}
				fmt.Fprintf(&fields, "---@field %s %s\n", fieldName(name), kind)
				if lua.IsName(name) {
					fmt.Fprintf(&globals, "---@type %s\n%s = nil\n\n", kind, name)
				}
			}
			return true
		})
	}
	return fields.String() + "\n" + globals.String()
}

func fieldName(name string) string {
	if lua.IsName(name) {
		return name
	}
	return "[" + luaQuoted(name) + "]"
}

// luaQuoted returns a name as a string of Lua.
func luaQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// maxTypeFields bounds the cells of one table that are described, and maxTypeClasses
// the tables, because an editor reads all descriptions.
const (
	maxTypeFields  = 500
	maxTypeClasses = 5000
)

// root describes the tables of the root, and what bare names mean in it.
func (w *typeWriter) root() (string, error) {
	var globals strings.Builder
	seen := map[string]bool{}
	ofLua := append(lua.GlobalNames(), "odb")
	tables, err := w.t.Searched()
	if err != nil {
		return "", err
	}
	for _, o := range tables {
		names, err := o.Names()
		if err != nil {
			return "", err
		}
		for _, name := range names {
			fold := objectdb.Fold(name)
			if seen[fold] || !lua.IsName(name) || slices.Contains(ofLua, name) {
				continue
			}
			if _, ok := w.t.Names().Lookup(name); ok {
				continue
			}
			seen[fold] = true
			v, err := o.Cell(name)
			if err != nil {
				return "", err
			}
			kind, err := w.kind(v)
			if err != nil {
				return "", err
			}
			if w.t.VerbName(v) == "" { // verbs are described where verbs are
				fmt.Fprintf(&globals, "---@type %s\n%s = nil\n\n", kind, name)
			}
		}
	}
	return w.b.String() + globals.String(), nil
}

// kind returns the type of what Lua sees, and describes it if it is a table.
func (w *typeWriter) kind(v script.Value) (string, error) {
	if o := table(v); o != nil {
		return w.class(o)
	}
	switch v := v.(type) {
	case bool:
		return "boolean", nil
	case float64:
		return "number", nil
	case string:
		return "string", nil
	case *script.Table:
		return "any[]", nil
	case *script.Object, *script.Function:
		return "fun(...: any): any", nil
	case objectdb.Value:
		return v.Kind().String(), nil
	}
	return "any", nil
}

// class describes a table and all below it, and returns the name of its class.
func (w *typeWriter) class(o *script.Object) (string, error) {
	a := o.Address()
	if n := len(script.Builtins); o.Node() == nil && len(a) > n && a[:n].Equal(script.Builtins) {
		return groupClass(strings.Join(a[n:], ".")), nil
	}
	key := objectdb.Fold(a.String())
	switch {
	case w.classes[key] != "":
		return w.classes[key], nil
	case len(w.classes) >= maxTypeClasses:
		return "table", nil
	}
	name := w.className(a)
	w.classes[key] = name
	names, err := o.Names()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---@class %s%s\n", name, w.parent(a))
	for i, cell := range names {
		if i == maxTypeFields {
			fmt.Fprintf(&b, "---%d more cells are not described\n", len(names)-i)
			break
		}
		v, err := o.Cell(cell)
		if err != nil {
			return "", err
		}
		kind, err := w.kind(v)
		if err != nil {
			return "", err
		}
		if kind == "fun(...: any): any" && w.inherited(a, cell) {
			continue // the verb behind it is described better
		}
		fmt.Fprintf(&b, "---@field %s %s%s\n", fieldName(cell), kind, hash(w.summary(v)))
	}
	b.WriteString("---@field [string] any\n\n")
	w.b.WriteString(b.String())
	return name, nil
}

// className returns a name for the class of a table, which no other table has.
func (w *typeWriter) className(a objectdb.Address) string {
	var b strings.Builder
	b.WriteString("root")
	for _, n := range a {
		b.WriteByte('.')
		for i := 0; i < len(n); i++ {
			if c := n[i]; c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "_%02X", c)
			}
		}
	}
	name := b.String()
	w.taken[name]++
	if n := w.taken[name]; n > 1 {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

// parent returns the class that the class of a table extends: the objects of
// suites.webserver call the verbs of webserver.
func (w *typeWriter) parent(a objectdb.Address) string {
	if g := w.group(a); g != "" {
		return ": " + groupClass(g)
	}
	return ""
}

func (w *typeWriter) group(a objectdb.Address) string {
	if len(a) != 2 || !strings.EqualFold(a[0], "suites") {
		return ""
	}
	for _, v := range w.t.Engine().Verbs() {
		if g, _, ok := strings.Cut(v.Name, "."); ok && strings.EqualFold(g, a[1]) {
			return g
		}
	}
	return ""
}

// inherited reports whether a verb of its name describes a script.
func (w *typeWriter) inherited(a objectdb.Address, name string) bool {
	g := w.group(a)
	return g != "" && slices.ContainsFunc(w.t.Engine().Verbs(), func(v script.Verb) bool { return v.Name == g+"."+name })
}

// summary returns the comment in the first line of a script.
func (w *typeWriter) summary(v script.Value) string {
	o, ok := v.(*script.Object)
	if !ok || o.Kind() != objectdb.KindScript {
		return ""
	}
	source, err := w.t.Text(o)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(source, "\n")
	if text, ok := strings.CutPrefix(first, "--"); ok && !strings.HasPrefix(text, "[") {
		return strings.ToValidUTF8(strings.TrimSpace(text), "�")
	}
	return ""
}
