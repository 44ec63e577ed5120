package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// A Meaning is what a dotted name means in a script, without the script's own variables.
type Meaning struct {
	Title   string           // how it is called: the usage of a verb, the address of an object
	Text    string           // help for people; of an object "", because its value may be secret
	Address objectdb.Address // of an object of the root, nil for everything else
	Node    *objectdb.Node   // the object at Address
	Kind    string           // of an object, or "function", "library", "parameter", "keyword"
}

// Find returns the meaning of a dotted name, or nil if it means nothing. It looks in the order in
// which a script does: Lua's libraries, the names of the request, the root and the tables of
// system.paths. It reads no value.
func Find(t *script.Thread, names ...string) (*Meaning, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if m, err := findOutside(t, names); m != nil || err != nil {
		return m, err
	}
	tables, err := t.Searched()
	if err != nil {
		return nil, err
	}
	if last := len(names) - 1; last > 0 {
		v, err := t.Lookup(names[:last]...)
		if err != nil || table(v) == nil {
			return nil, err
		}
		return cellOf(t, table(v), names[last])
	}
	for _, o := range tables {
		if m, err := cellOf(t, o, names[0]); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

// findOutside looks among what does not lie in the root.
func findOutside(t *script.Thread, names []string) (*Meaning, error) {
	first, whole := names[0], strings.Join(names, ".")
	switch {
	case lua.IsReserved(first):
		return &Meaning{Title: first, Text: "A word of Lua.", Kind: "keyword"}, nil
	case first == "odb" && len(names) == 1:
		return &Meaning{Title: first, Text: "The library for objects of the root by their addresses.",
			Kind: "library"}, nil
	case first == "require":
		return &Meaning{Title: "require (name)", Kind: "function",
			Text: "Runs a script of the root once, with its name as argument, and gives what it returned."}, nil
	case first == "odb":
		for _, v := range script.ODB() {
			if v.Name == whole {
				return verbMeaning(&v), nil
			}
		}
		return nil, nil
	case lua.IsLibrary(first) && len(names) == 1:
		return &Meaning{Title: first, Text: "A library of Lua.", Kind: "library"}, nil
	case slices.Contains(lua.GlobalNames(), first):
		v, err := t.Lookup(names...)
		if v == nil || err != nil {
			return nil, err
		}
		return &Meaning{Title: whole, Text: "A function or value of Lua 5.1.", Kind: "function"}, nil
	}
	if _, ok := t.Names().Lookup(first); !ok {
		return nil, nil
	}
	if len(names) > 1 {
		return nil, nil // a cell of it depends on the request
	}
	return &Meaning{Title: first, Text: "A parameter of the request.", Kind: "parameter"}, nil
}

// cellOf returns the meaning of a name in a table of the root, or nil.
func cellOf(t *script.Thread, o *script.Object, name string) (*Meaning, error) {
	if o.Node() != nil {
		n, err := t.Tx().Child(o.Node(), name)
		if err == nil {
			a := o.Address().Child(n.Name())
			return &Meaning{Title: a.String(), Address: a, Node: n, Kind: n.Kind().String()}, nil
		}
		if !errors.Is(err, objectdb.ErrNotFound) {
			return nil, err
		}
	}
	v, err := o.Cell(name)
	switch {
	case v == nil || err != nil:
		return nil, err
	case table(v) != nil:
		return &Meaning{Title: name, Text: "A group of verbs.", Kind: "library"}, nil
	}
	if verb := verbOf(t, v); verb != nil {
		return verbMeaning(verb), nil
	}
	return &Meaning{Title: name, Text: "A value that the program computes.", Kind: "parameter"}, nil
}

// verbOf returns the verb that a value is, or nil.
func verbOf(t *script.Thread, v script.Value) *script.Verb {
	name := t.VerbName(v)
	if name == "" {
		return nil
	}
	for _, verb := range t.Engine().Verbs() {
		if verb.Name == name {
			return &verb
		}
	}
	return &script.Verb{Name: name} // of a set that only tests have
}

// verbMeaning describes a verb.
func verbMeaning(v *script.Verb) *Meaning {
	var b strings.Builder
	b.WriteString(v.Doc)
	for _, p := range v.Params {
		if doc := describe(p); doc != "" {
			fmt.Fprintf(&b, "\n%s: %s", p.Name, doc)
		}
	}
	for _, p := range v.Results {
		fmt.Fprintf(&b, "\nReturns %s%s.", p.Type, after(": ", p.Doc))
	}
	if v.Errors != "" {
		fmt.Fprintf(&b, "\nFails for: %s.", v.Errors)
	}
	if v.Page {
		b.WriteString("\nMarkers in pages may call it.")
	}
	if v.Example != "" {
		fmt.Fprintf(&b, "\n\n%s\ngives %s", v.Example, strings.ReplaceAll(v.Gives, "\n", " "))
	}
	return &Meaning{Title: v.Usage(), Text: strings.TrimSpace(b.String()), Kind: "function"}
}

// after returns a text with a separator before it, or "".
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// A Candidate is a name that completes one that was typed.
type Candidate struct {
	Name   string
	Kind   string // see Meaning.Kind
	Detail string // the usage of a verb, or ""
}

// Complete returns names with which a dotted name that was typed in part may go on, at most
// most of them. A name stands for what follows the last dot of typed.
func Complete(t *script.Thread, typed string, most int) ([]Candidate, error) {
	dot := strings.LastIndexByte(typed, '.')
	c := completer{t: t, prefix: typed[dot+1:], most: most, seen: map[string]bool{}}
	if dot >= 0 {
		err := c.below(strings.Split(typed[:dot], "."))
		return c.found, err
	}
	err := c.bare()
	return c.found, err
}

// A completer collects candidates.
type completer struct {
	t      *script.Thread
	prefix string
	most   int
	found  []Candidate
	seen   map[string]bool // folded names
}

// below adds the names in what a dotted name means.
func (c *completer) below(names []string) error {
	if names[0] == "odb" {
		for _, v := range script.ODB() {
			if name, ok := strings.CutPrefix(v.Name, "odb."); ok {
				c.add(name, "function", v.Usage())
			}
		}
		return nil
	}
	v, err := c.t.Lookup(names...)
	switch v := v.(type) {
	case *script.Table:
		v.Each(func(key, _ script.Value) bool {
			if name, ok := key.(string); ok {
				c.add(name, "function", "")
			}
			return true
		})
		slices.SortFunc(c.found, func(a, b Candidate) int { return strings.Compare(a.Name, b.Name) })
	case *script.Object:
		if v.Kind() == objectdb.KindTable {
			return c.table(v)
		}
	}
	return err
}

// bare adds the names that stand alone.
func (c *completer) bare() error {
	if c.t.Names() != nil {
		c.t.Names().Each(func(key, _ script.Value) bool {
			if name, ok := key.(string); ok {
				c.add(name, "parameter", "")
			}
			return true
		})
	}
	tables, err := c.t.Searched()
	if err != nil {
		return err
	}
	for _, o := range tables {
		if err := c.table(o); err != nil {
			return err
		}
	}
	for _, name := range append(lua.GlobalNames(), "odb", "require") {
		kind := "function"
		if lua.IsLibrary(name) || name == "odb" {
			kind = "library"
		}
		c.add(name, kind, "")
	}
	for _, name := range lua.ReservedWords() {
		c.add(name, "keyword", "")
	}
	slices.SortStableFunc(c.found, func(a, b Candidate) int {
		return strings.Compare(objectdb.Fold(a.Name), objectdb.Fold(b.Name))
	})
	return nil
}

// table adds the names in a table of the root that can be written after a dot.
func (c *completer) table(o *script.Object) error {
	names, err := o.NamesWith(c.prefix, c.most)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !lua.IsName(name) || c.seen[objectdb.Fold(name)] {
			continue
		}
		m, err := cellOf(c.t, o, name)
		if err != nil {
			return err
		}
		detail := ""
		if m != nil && m.Node == nil && m.Kind == "function" {
			detail = m.Title
		}
		if m != nil {
			c.add(name, m.Kind, detail)
		}
	}
	return nil
}

// add adds a name if it begins with the prefix and there is none like it yet.
func (c *completer) add(name, kind, detail string) {
	fold := objectdb.Fold(name)
	if len(c.found) < c.most && !c.seen[fold] && strings.HasPrefix(fold, objectdb.Fold(c.prefix)) {
		c.seen[fold] = true
		c.found = append(c.found, Candidate{name, kind, detail})
	}
}
