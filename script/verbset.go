package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// A VerbSet is a set of verbs that only some threads of an engine have: see ThreadOptions.Verbs. It
// is safe for use by many goroutines.
type VerbSet struct {
	verbs []Verb
	tree  *verbTable
	byFn  map[*lua.LFunction]*Verb
}

// NewVerbSet returns a set. It panics if two verbs have the same name.
func NewVerbSet(verbs []Verb) *VerbSet {
	s := &VerbSet{verbs: verbs}
	s.tree, s.byFn = newVerbTree(nil, verbs, nil)
	return s
}

// Verbs returns the verbs of the set. A nil set is empty.
func (s *VerbSet) Verbs() []Verb {
	if s == nil {
		return nil
	}
	return s.verbs
}

// find returns what a bare name means in the set, or LNil if it means nothing.
func (s *VerbSet) find(t *Thread, name string) lua.LValue {
	if s == nil {
		return lua.LNil
	}
	return t.ofVerbs(s.tree, objectdb.Fold(name))
}

// nameOf returns the name of the verb that f is, or "" if f is not a verb.
func (t *Thread) nameOf(f *lua.LFunction) string {
	if v := t.engine.byFn[f]; v != nil {
		return v.Name
	}
	if s := t.opt.Verbs; s != nil && s.byFn[f] != nil {
		return s.byFn[f].Name
	}
	return ""
}
