// Package rocks keeps libraries in Lua, packed as LuaRocks packs them, in the root.
//
// Open finds the rocks in a folder or an archive, and Add puts one into script.Rocks, where require finds
// its modules.
package rocks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// A Rock is a library: modules in Lua under the names by which they are required.
type Rock struct {
	Name    string
	Version string
	Licence string
	Summary string
	Needs   []string // the names of other rocks
	Modules map[string]string
	// Left tells for each module that was left out why: it is written in C, or does not compile.
	Left map[string]string
}

// Names returns the names of the modules in order.
func (r *Rock) Names() []string { return slices.Sorted(maps.Keys(r.Modules)) }

// check moves what is no Lua 5.1 out of the modules. It returns an error if nothing is left.
func (r *Rock) check() error {
	if len(r.Name) > 255 || r.Name == "" || strings.ContainsRune(r.Name, 0) {
		return fmt.Errorf("%.40q cannot be the name of a rock", r.Name)
	}
	for name, source := range r.Modules {
		if strings.HasPrefix(source, "#") { // the line for the shell, which Lua passes over in files
			source = "--" + source
			r.Modules[name] = source
		}
		_, err := lua.Compile(name, source)
		if len(name) > 255 || name == "" || strings.ContainsRune(name, 0) {
			err = errors.New("its name cannot be one in the root")
		}
		if err != nil {
			r.leave(name, err.Error())
			delete(r.Modules, name)
		}
	}
	if len(r.Modules) > 0 {
		return nil
	}
	why := "there are no files with Lua"
	for _, name := range slices.Sorted(maps.Keys(r.Left)) {
		why = name + ": " + r.Left[name]
	}
	return fmt.Errorf("%s has no module that can run: %s", r.Name, why)
}

func (r *Rock) leave(module, why string) {
	if r.Left == nil {
		r.Left = map[string]string{}
	}
	r.Left[module] = why
}

// Add puts a rock into the root, in the place of one of the same name.
func Add(tx *objectdb.Tx, r *Rock) error {
	others, err := List(tx)
	if err != nil {
		return err
	}
	own := map[string]string{}
	for _, name := range r.Names() {
		if other, taken := own[objectdb.Fold(name)]; taken {
			return fmt.Errorf("add the rock %s: its modules %s and %s differ only in case", r.Name, other, name)
		}
		own[objectdb.Fold(name)] = name
	}
	for _, o := range others {
		if objectdb.Fold(o.Name) == objectdb.Fold(r.Name) {
			continue
		}
		for name := range o.Modules {
			if _, taken := own[objectdb.Fold(name)]; taken {
				return fmt.Errorf("add the rock %s: its module %s is in the rock %s already", r.Name, name, o.Name)
			}
		}
	}
	a := script.Rocks.Child(r.Name)
	if err := tx.Delete(a); err != nil && !objectdb.IsMissing(err) {
		return err
	}
	for _, cell := range []struct{ name, text string }{
		{"version", r.Version}, {"licence", r.Licence}, {"summary", r.Summary},
	} {
		if cell.text == "" {
			continue
		}
		if err := tx.Put(a.Child(cell.name), objectdb.String(strings.ToValidUTF8(cell.text, "\uFFFD"))); err != nil {
			return err
		}
	}
	if len(r.Needs) > 0 {
		var needs objectdb.List
		for _, n := range r.Needs {
			needs = append(needs, objectdb.String(strings.ToValidUTF8(n, "\uFFFD")))
		}
		if err := tx.Put(a.Child("needs"), needs); err != nil {
			return err
		}
	}
	for _, name := range r.Names() {
		if err := tx.Put(a.Child("modules").Child(name), objectdb.Script(r.Modules[name])); err != nil {
			return err
		}
	}
	return nil
}

// ErrNone says that there is no rock of a name.
var ErrNone = errors.New("there is no rock of this name")

// Remove removes the rock of a name.
func Remove(tx *objectdb.Tx, name string) error {
	err := tx.Delete(script.Rocks.Child(name))
	if objectdb.IsMissing(err) {
		return fmt.Errorf("remove the rock %s: %w", name, ErrNone)
	}
	return err
}

// List returns the rocks in the root, in the order of their names. The sources of their modules are "".
func List(tx *objectdb.Tx) ([]Rock, error) {
	var list []Rock
	top, err := children(tx, script.Rocks)
	for _, n := range top {
		if n.Kind() != objectdb.KindTable {
			continue
		}
		r := Rock{Name: n.Name(), Modules: map[string]string{}}
		a := script.Rocks.Child(n.Name())
		for name, to := range map[string]*string{"version": &r.Version, "licence": &r.Licence, "summary": &r.Summary} {
			if v, err := tx.Get(a.Child(name)); err == nil {
				if s, ok := v.(objectdb.String); ok {
					*to = string(s)
				}
			} else if !objectdb.IsMissing(err) {
				return nil, err
			}
		}
		if v, err := tx.Get(a.Child("needs")); err == nil {
			needs, _ := v.(objectdb.List)
			for _, n := range needs {
				if s, ok := n.(objectdb.String); ok {
					r.Needs = append(r.Needs, string(s))
				}
			}
		} else if !objectdb.IsMissing(err) {
			return nil, err
		}
		modules, err := children(tx, a.Child("modules"))
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			if m.Kind() == objectdb.KindScript {
				r.Modules[m.Name()] = ""
			}
		}
		list = append(list, r)
	}
	return list, err
}

// children returns what is in a table, nothing if there is none.
func children(tx *objectdb.Tx, a objectdb.Address) ([]*objectdb.Node, error) {
	n, err := tx.Find(a)
	if objectdb.IsMissing(err) || err == nil && n.Kind() != objectdb.KindTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tx.Children(n)
}

// Missing returns the names of the rocks that r needs and that are not in the root.
func Missing(tx *objectdb.Tx, r *Rock) ([]string, error) {
	list, err := List(tx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, o := range list {
		there[strings.ToLower(o.Name)] = true
	}
	var missing []string
	for _, n := range r.Needs {
		if !there[strings.ToLower(n)] {
			missing = append(missing, n)
		}
	}
	return missing, nil
}
